"""A few documents are signed by the process that sends them, through the queue."""

from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers import ingest as ingest_module
from ibidem_workers.batches import Batch
from ibidem_workers.celery_app import connect_broker, make_app, send
from ibidem_workers.ingest import ingest
from ibidem_workers.inline_worker import MAX_DOCUMENTS, work_inline
from ibidem_workers.runs import summary
from ibidem_workers.submit import IngestRequest


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(engine=f"sqlite:///{tmp_path}/index.sqlite", broker=f"filesystem:///{tmp_path}/queue")


@pytest.fixture(autouse=True)
def queue(settings: Settings) -> None:
    """The queue is there before anything is sent."""
    connect_broker(settings)


def batch(number: int) -> Batch:
    return Batch(number, [Document(str(number), "We the People").as_record() | {"version": 1}])


def test_what_waits_in_the_queue_is_signed_and_written(settings: Settings, engine: Engine) -> None:
    for number in range(3):
        send(make_app(settings), "20260101-000000-0000", batch(number))
    assert work_inline(engine, settings)
    engine.refresh()
    assert engine.info().documents == 3
    assert work_inline(engine, settings)


def test_a_message_that_ended_a_worker_is_left_to_another(settings: Settings, engine: Engine) -> None:
    send(make_app(settings), "20260101-000000-0000", batch(0), 1)
    assert not work_inline(engine, settings)
    assert not work_inline(engine, settings)


@pytest.mark.slow
def test_a_run_of_a_few_files_starts_no_worker(
    settings: Settings, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "Pool", None)
    (tmp_path / "a.txt").write_text("We the People")
    run = ingest(IngestRequest([str(tmp_path / "a.txt")]), settings)
    assert summary(engine, run)["indexed"] == 1
    lines = "\n".join(f'{{"id": "{number}", "text": "x"}}' for number in range(MAX_DOCUMENTS + 1))
    (tmp_path / "many.jsonl").write_text(lines)
    with pytest.raises(TypeError, match="NoneType"):
        ingest(IngestRequest([str(tmp_path / "many.jsonl")]), settings)
