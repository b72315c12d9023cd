"""A deletion is taken back on every engine, with the version that the document had."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ibidem.index.deletion import clear_tombstones, delete, kept_documents, undo
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine, WriteStatus
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.batches import records
from support.signed_records import make_record as record


@pytest.fixture
def settings(tables_folder: Path) -> Settings:
    return Settings(tables=tables_folder)


def test_a_deletion_is_taken_back_and_older_versions_still_stay_away(engine: Engine, settings: Settings) -> None:
    three = record("a", "grain prices rose in chicago", version=3, title="Grain", meta={"court": "9th Cir."})
    engine.write([three])
    engine.refresh()
    delete(engine, ["a"])
    assert [each["title"] for each in kept_documents(engine, 30)] == ["Grain"]
    undo(engine, ["a"], settings)
    (stored,) = engine.fetch([(engine.index, "a")])
    assert (stored.document, stored.version) == (three.document, 3)
    assert kept_documents(engine, 30) == []
    outcomes = engine.write([record("a", "grain prices fell", version=2)])
    outcomes += engine.write([record("a", "grain prices stood", version=4)])
    assert [each.status for each in outcomes] == [WriteStatus.STALE, WriteStatus.INDEXED]


def test_with_another_table_nothing_is_taken_back(engine: Engine, tables_folder: Path, tmp_path: Path) -> None:
    documents = [Document(id_, "grain prices rose in the harbour", language="en") for id_ in "ab"]
    engine.write(list(records(documents, Tables(tables_folder))))
    engine.refresh()
    delete(engine, ["a"])
    tables = Tables(shutil.copytree(tables_folder, tmp_path / "tables"))
    tables.use(Table.build("en", 9_000, {"tenant": 10.0, "landlord": 9.0}, "another"))
    with pytest.raises(UsageError, match="ibidem idf use"):
        undo(engine, ["a"], Settings(tables=tables.folder))
    assert [each["id"] for each in kept_documents(engine, 30)] == ["a"]


def test_a_document_that_has_come_again_is_not_replaced(engine: Engine, settings: Settings) -> None:
    engine.write([record("a", "grain prices rose", version=3)])
    delete(engine, ["a"])
    engine.write([record("a", "grain prices fell", version=4 * 10**15)])
    engine.refresh()
    assert kept_documents(engine, 30) == []
    with pytest.raises(UsageError, match=r"no deleted document 'a'|in index 'news' again"):
        undo(engine, ["a"], settings)
    (stored,) = engine.fetch([(engine.index, "a")])
    assert stored.document.text == "grain prices fell"


def test_a_stale_deletion_is_an_error_keeps_nothing_and_the_others_are_carried_out(engine: Engine) -> None:
    engine.write([record("a", "grain prices rose", version=7)])
    why = r"1 of 2 documents are not deleted: 'a': version 5 is older than the one in the index.*leave the version out"
    with pytest.raises(UsageError, match=why):
        delete(engine, ["a", "b"], version=5)
    assert engine.get_record("deleted", "a") is None
    engine.refresh()
    assert [key for key, _ in engine.get_records("tombstones")] == ["b"]


def test_a_tombstone_is_taken_away_after_its_days(engine: Engine) -> None:
    delete(engine, ["a"])
    engine.refresh()
    assert clear_tombstones(engine, datetime.now(UTC) - timedelta(days=1)) == 0
    assert clear_tombstones(engine, datetime.now(UTC) + timedelta(days=1)) == 1
    assert engine.write([record("a", version=1)])[0].status is WriteStatus.INDEXED
