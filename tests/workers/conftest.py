"""Fixtures of these tests."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.ingest import ingest_documents
from support.worker_settings import absent, settings

__all__ = ["absent", "settings"]

# A table of English that is not the one in use.
OTHER = Table.build("en", 9_000, {"people": 10.0, "union": 9.0}, "another")


@pytest.fixture
def own_tables(tables_folder: Path, tmp_path: Path) -> Tables:
    """The tables of these tests, as a copy that a test may change."""
    return Tables(shutil.copytree(tables_folder, tmp_path / "tables"))


def fill(documents: Iterable[Document], settings: Settings) -> str:
    """Ingest few documents as those of a file, which no other process is started for; returns the run."""
    return ingest_documents(documents, settings, paths=["made.jsonl"])
