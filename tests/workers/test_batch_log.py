"""The log events of a batch."""

import logging

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import Batch
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write

GOOD: dict[str, object] = {"id": "good", "text": "four score and seven years ago", "version": 1}
BAD: dict[str, object] = {"id": "bad", "text": 7, "version": 1}


def take(engine: Engine, settings: Settings, *records: dict[str, object], tries: int = 0) -> None:
    context = WorkerContext(engine, Tables(settings.tables), settings)
    sign_and_write(context, Delivery("run", Batch(3, list(records)), tries), lambda _: None)


def test_a_batch_is_one_line_with_its_account_and_the_time_of_each_stage(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ibidem_workers")
    take(engine, settings, GOOD)
    (line,) = (vars(each) for each in caplog.records)
    assert (line["message"], line["documents"], line["indexed"], line["refused"]) == ("batch done", 1, 1, 0)
    stages = [name for name in line if name.endswith("_ms")]
    assert stages == ["read_ms", "sign_ms", "write_ms", "note_ms", "all_ms"]
    assert sum(line[name] for name in stages[:-1]) <= line["all_ms"] + 0.5


def test_a_refused_document_is_named_with_the_reason(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ibidem_workers")
    take(engine, settings, GOOD, BAD)
    (line,) = (vars(each) for each in caplog.records if each.message == "document refused")
    assert (line["document"], line["field"]) == ("bad", "text")


def test_a_worker_that_is_fine_says_nothing_at_the_level_of_warnings(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "ibidem_workers")
    take(engine, settings, GOOD)
    assert not caplog.records


def test_a_batch_that_ended_its_workers_is_a_warning(
    engine: Engine, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "ibidem_workers")
    take(engine, settings, GOOD, BAD, tries=settings.tries)
    (line,) = (vars(each) for each in caplog.records)
    assert (line["levelname"], line["tries"], line["documents"]) == ("WARNING", settings.tries, 2)
