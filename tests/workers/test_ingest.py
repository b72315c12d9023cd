"""A whole run: read, sent, signed, written, accounted for."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_workers import dead_letters
from ibidem_workers import ingest as ingest_module
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.ingest import Interruption, ingest, ingest_documents, retry
from ibidem_workers.runs import Progress, summary
from ibidem_workers.submit import IngestRequest


def queue(settings: Settings) -> SpoolDirectory:
    assert settings.queue_folder is not None
    return SpoolDirectory(settings.queue_folder / settings.queue, settings.lease)


@pytest.mark.slow
def test_a_file_goes_through_the_queue_and_every_document_is_accounted_for(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    lines = [
        '{"id": "a", "text": "We the People of the United States, in Order to form a more perfect Union"}',
        '{"id": "b", "text": "We the people of the United States, in order to form a more perfect union"}',
        '{"id": "c", "text": "…", "court": "9th Cir."}',
        '{"id": "d"}',
        "not JSON",
        '{"id": "a", "text": "We the People, and others"}',
    ]
    path = tmp_path / "law.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    looks: list[Progress] = []
    run = ingest(IngestRequest([path]), settings, report=looks.append)
    counts = summary(engine, run)
    names = ("read", "indexed", "stale", "refused", "unsigned", "repeated", "meta_fields", "pending", "state")
    assert {name: counts[name] for name in names} == {
        "read": 6,
        "indexed": 3,
        "stale": 1,
        "refused": 2,
        "unsigned": 1,
        "repeated": 1,
        "meta_fields": ["court"],
        "pending": 0,
        "state": "done",
    }
    assert looks[-1].has_ended
    assert (queue(settings).count_waiting(), queue(settings).count_taken(), queue(settings).workers()) == (0, 0, 0)


def test_without_waiting_the_batches_lie_in_the_queue_for_other_workers(engine: Engine, settings: Settings) -> None:
    run = ingest_documents([Document("a", "some words"), Document("b", "other words")], settings, wait=False)
    counts = summary(engine, run)
    assert (counts["read"], counts["state"], counts["pending"], queue(settings).count_waiting()) == (0, "waiting", 2, 1)


@pytest.mark.slow
def test_a_run_that_is_stopped_says_how_to_go_on(engine: Engine, settings: Settings) -> None:
    def source() -> Iterator[Document | Refusal]:
        yield Document("a", "x " * 900)
        yield Document("b", "x " * 900)
        raise KeyboardInterrupt

    with pytest.raises(Interruption, match=r"the same command again.*ibidem status \d{8}-"):
        ingest_documents(source(), settings.changed(batch_characters=2_000, concurrency=1))
    assert summary(engine)["state"] == "interrupted"
    assert queue(settings).workers() == 0


@pytest.mark.slow
def test_a_full_queue_pauses_the_submission(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ibidem_workers.ingest.IN_FLIGHT", 3)
    waiting: list[int] = []

    def source() -> Iterator[Document | Refusal]:
        for number in range(12):
            waiting.append(queue(settings).count_waiting())
            yield Document(str(number), "x " * 900)

    run = ingest_documents(source(), settings.changed(batch_characters=2_000, concurrency=1))
    assert max(waiting) <= 3
    assert summary(engine, run)["indexed"] == 12


@pytest.mark.slow
def test_dead_letters_are_tried_again_as_a_run_of_their_own(engine: Engine, settings: Settings) -> None:
    mended = {"id": "a", "text": "mended", "version": 3}
    dead_letters.add_dead_letters(
        engine, [dead_letters.DeadLetter("old", Refusal("message", "a", "", "a fault"), 4, 1.0, mended)]
    )
    run = retry([], settings.changed(concurrency=1))
    assert (summary(engine, run)["indexed"], dead_letters.letters(engine)) == (1, [])


def test_a_path_that_is_not_there_is_an_error_before_anything_starts(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.jsonl"):
        ingest(IngestRequest([tmp_path / "missing.jsonl"]), settings)
    assert not (tmp_path / "index.sqlite").exists()


@pytest.mark.server("redis")
def test_a_run_that_no_worker_takes_says_how_to_start_one_for_its_index(
    redis: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def end_when_warned(_: Progress) -> None:
        if caplog.messages:
            raise KeyboardInterrupt

    monkeypatch.setattr(ingest_module, "WARNS_AFTER", 0.0)
    lonely = settings.changed(broker=redis, index=f"lonely-{uuid4().hex}")
    with pytest.raises(Interruption):
        ingest_documents([Document("a", "some words")], lonely, report=end_when_warned)
    (message,) = caplog.messages
    assert f"IBIDEM_INDEX={lonely.index} ibidem worker" in message
    Redis.from_url(redis).delete(f"ibidem:{lonely.queue}")
