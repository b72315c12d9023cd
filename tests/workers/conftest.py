"""Fixtures of these tests."""

from collections.abc import Iterable

from ibidem_core.settings import Settings
from ibidem_ingest.document import Document
from ibidem_workers.ingest import ingest_documents
from support.worker_settings import absent, settings

__all__ = ["absent", "settings"]


def fill(documents: Iterable[Document], settings: Settings) -> str:
    """Ingest few documents as those of a file, which no other process is started for; returns the run."""
    return ingest_documents(documents, settings, paths=["made.jsonl"])
