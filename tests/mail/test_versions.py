"""The versions of the documents of an index, counted, with what changed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ibidem.index.documents import TEXTS_AT_ONCE
from ibidem_engines.connect import open_engine
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_mail.command import differences, index_versions
from support.general_tables import general_tables

TEXT = "The rent of {} marks for the house at the harbour is due on the first of May, and the roof is the landlord's."


def test_each_document_counts_once_and_what_changed_is_told(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "leases")
    engine.create()
    leases = [Document(f"l{at}", TEXT.format(30 * at), title=f"Lease v{at}") for at in (1, 2, 3)]
    note = Document("note", "Another text altogether, about ships.", title="Note")
    engine.write(list(records([*leases, note], general_tables())))
    engine.refresh()
    seen: list[int] = []
    found = index_versions(engine, seen.append)
    report = found.as_json()
    assert (report["documents"], report["works"], report["current"], report["replaced"]) == (4, 2, 2, 2)
    assert (report["by"], report["largest"]) == ({"name": 2}, [{"work": "l1", "current": "l3", "size": 3}])
    assert seen == [4]
    changed = {
        row.id: [piece.words for piece in pieces if piece.kind in ("lead", "duplicate")]
        for row, pieces in differences(engine, found.rows)
    }
    assert changed["l2"] == [("30",), ("60",)]
    assert changed["l1"] == changed["note"] == []


def test_few_texts_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "leases")
    engine.create()
    leases = [Document(f"l{at:02}", TEXT.format(30 * at), title=f"Lease v{at}") for at in range(1, 51)]
    engine.write(list(records(leases, general_tables())))
    engine.refresh()
    sizes: list[int] = []
    fetch = type(engine).fetch

    def counted(self: Any, ids: Any, query: Any = None) -> Any:
        sizes.append(len(ids))
        return fetch(self, ids, query)

    monkeypatch.setattr(type(engine), "fetch", counted)
    found = index_versions(engine)
    assert sizes == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 10]
    monkeypatch.setattr(type(engine), "scan", None)
    assert sum(1 for _ in differences(engine, found.rows)) == len(leases)
    assert max(sizes) <= 2 * TEXTS_AT_ONCE


def test_an_id_that_two_indexes_hold_has_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "leases")
    engine.create()
    leases = [Document(f"l{at}", TEXT.format(30 * at), title=f"Lease v{at}") for at in (1, 2, 3)]
    engine.write(list(records(leases, general_tables())))
    engine.refresh()
    found = index_versions(engine)
    fetch = type(engine).fetch

    def fetch_both(self: Any, ids: Any, query: Any = None) -> Any:
        """Return documents as an alias does, behind which a second index holds the second lease."""
        stored = fetch(self, ids, query)
        return stored + [replace(each, index="other") for each in stored if each.document.id == "l2"]

    monkeypatch.setattr(type(engine), "fetch", fetch_both)
    assert [bool(pieces) for _, pieces in differences(engine, found.rows)] == [False, False, False]
