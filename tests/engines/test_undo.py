"""A deletion is taken back on every engine, with the version that the document had."""

import shutil
from pathlib import Path

import pytest

from ibidem.index.deletion import delete, kept_documents, undo
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


def test_a_document_that_was_not_deleted_is_not_kept(engine: Engine) -> None:
    engine.write([record("a", "grain prices rose", version=7)])
    with pytest.raises(UsageError, match="older than the one in the index"):
        delete(engine, ["a"], version=5)
    assert engine.get_record("deleted", "a") is None
