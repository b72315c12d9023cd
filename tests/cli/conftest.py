"""Fixtures of these tests."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from servers.indices import remove_indices
from support.command_line import Run, answer, filled_folder, run

__all__ = ["answer", "filled_folder", "run"]


@pytest.fixture
def on_opensearch(run: Run, opensearch: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of an index in OpenSearch with the same documents, which commands use from now on."""
    index = f"leases-{uuid4().hex}"
    monkeypatch.setenv("IBIDEM_ENGINE", opensearch)
    monkeypatch.setenv("IBIDEM_INDEX", index)
    run("ingest", "docs.jsonl")
    yield index
    for suffix in ("", "-2", "-3", "-plain"):
        remove_indices(opensearch, f"{index}{suffix}")
