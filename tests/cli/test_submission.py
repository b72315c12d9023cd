"""Documents are submitted from a program as they are from the command line."""

from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_workers.ingest import submit
from support.leases import LEASE


@pytest.mark.slow
def test_documents_go_through_the_queue_and_are_accounted_for(tmp_path: Path, tables_folder: Path) -> None:
    settings = Settings(
        engine=f"sqlite:////{tmp_path}/index.sqlite",
        broker=f"filesystem:////{tmp_path}/queue",
        tables=tables_folder,
        concurrency=1,
    )
    refusal = Refusal("by hand", "c", "text", "it is missing")
    summary = submit([Document("a", LEASE), Document("b", LEASE), refusal], settings)
    assert (summary["indexed"], summary["refused"]) == (2, 1)
    assert summary["duplicates"] == {"identical": 1, "near": 0}
