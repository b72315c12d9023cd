"""Deleting documents."""

from datetime import UTC, datetime, timedelta

import pytest

from ibidem.index.deletion import clear_tombstones, delete
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine, WriteStatus
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records


def write(engine: Engine, settings: Settings, version: int) -> WriteStatus:
    (outcome,) = engine.write(list(records([Document("a", "some words", version=version)], Tables(settings.tables))))
    return outcome.status


def test_a_deleted_document_stays_away_and_a_later_one_comes(engine: Engine, settings: Settings) -> None:
    write(engine, settings, 1)
    assert [outcome.status for outcome in delete(engine, ["a", "b"])] == [WriteStatus.DELETED, WriteStatus.MISSING]
    assert write(engine, settings, 2) is WriteStatus.STALE
    assert write(engine, settings, 2 * 10**15) is WriteStatus.INDEXED


def test_a_stale_deletion_is_an_error_and_the_others_are_carried_out(engine: Engine, settings: Settings) -> None:
    write(engine, settings, 7)
    with pytest.raises(UsageError, match=r"1 of 2 documents are not deleted: 'a': version 5.*leave the version out"):
        delete(engine, ["a", "b"], version=5)
    assert [key for key, _ in engine.get_records("tombstones")] == ["b"]


def test_a_tombstone_is_taken_away_after_its_days(engine: Engine, settings: Settings) -> None:
    delete(engine, ["a"])
    assert clear_tombstones(engine, datetime.now(UTC) - timedelta(days=1)) == 0
    assert clear_tombstones(engine, datetime.now(UTC) + timedelta(days=1)) == 1
    assert write(engine, settings, 1) is WriteStatus.INDEXED
