"""Columns of stored documents: the same in memory and in files, and no row is mixed up with another."""

import resource
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.stored_groups import GroupedDocument, Name
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_workers.groups.settle import ROW_BYTES, StoredColumns
from support.signed_records import make_record


def grouped(names: str, first: int = 1, index: str = "news") -> list[GroupedDocument]:
    """Documents named by letters, each with a text of its own."""
    return [
        GroupedDocument(Name(index, name, at), make_record(name, f"said {name} once more").packed, name, True, (at, 0))
        for at, name in enumerate(names, first)
    ]


def arrays(columns: PackedColumns) -> dict[str, list[object]]:
    return {
        each.name: np.asarray(getattr(columns, each.name)).tolist() for each in fields(columns) if each.name != "values"
    }


@pytest.mark.parametrize("max_bytes", [0, 1 << 20], ids=["in files", "in memory"])
def test_columns_are_those_of_the_packed_values_wherever_they_are_kept(max_bytes: int) -> None:
    documents = grouped("abcdef")
    with StoredColumns(6, max_bytes) as stored:
        stored.add(documents[:4])
        stored.add(documents[4:])
        assert arrays(stored.columns()) == arrays(PackedColumns.decode([each.packed for each in documents]))


def test_files_end_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with StoredColumns(10, 0):
        assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 10 * ROW_BYTES
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_named_before_a_row_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, limits[1]))
    try:
        with pytest.raises(Permanent, match="no room for the columns"):
            StoredColumns(1_000, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
