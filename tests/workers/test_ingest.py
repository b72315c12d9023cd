"""A whole run: read, sent, signed, written, accounted for."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from uuid import uuid4

import pytest
from redis import Redis

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.readers import Tally, read
from ibidem_workers import ingest as ingest_module
from ibidem_workers import tasks
from ibidem_workers.executors import Supervisor
from ibidem_workers.ingest import Interruption, Progress, ingest_documents, retry, summary
from workers.conftest import OTHER, fill


@pytest.mark.slow
def test_every_document_of_a_file_is_accounted_for(engine: Engine, settings: Settings, tmp_path: Path) -> None:
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
    tally = Tally()
    source = read([path], tally=tally)
    run = ingest_documents(source, settings, report=looks.append, tally=tally, paths=[path])
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


@pytest.mark.slow
def test_a_run_that_is_stopped_says_how_to_go_on(engine: Engine, settings: Settings) -> None:
    def source() -> Iterator[Document | Refusal]:
        yield Document("a", "x " * 900)
        yield Document("b", "x " * 900)
        raise KeyboardInterrupt

    with pytest.raises(Interruption, match=r"the same command again.*ibidem status \d{8}-"):
        ingest_documents(source(), settings.changed(batch_characters=2_000, concurrency=1))
    assert summary(engine)["state"] == "interrupted"


@pytest.mark.slow
def test_a_submission_pauses_while_too_many_batches_are_under_way(engine: Engine, settings: Settings) -> None:
    ahead: list[int] = []

    def source() -> Iterator[Document | Refusal]:
        for number in range(20):
            ahead.append(number - engine.info().documents)
            yield Document(str(number), "x " * 900)

    fill([Document("first", "in an index that is not new")], settings)
    run = ingest_documents(source(), settings.changed(batch_characters=2_000, concurrency=1))
    assert max(ahead) <= ingest_module.IN_HAND + 2
    assert summary(engine, run)["indexed"] == 20


@pytest.mark.server("redis")
def test_what_a_broker_has_lost_is_sent_again(
    redis: str, engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "STALL_LEASES", 0.5)
    lossy = settings.changed(broker=redis, index=f"lossy-{uuid4().hex}", lease=2)
    lost: list[int] = []

    def lose(_: Progress) -> None:
        if not lost:
            lost.append(int(Redis.from_url(redis).delete(f"ibidem:{lossy.queue}")))  # type: ignore[arg-type]

    with closing(open_engine(lossy.engine, lossy.index)) as own:
        own.create()
        with ThreadPoolExecutor(1) as other, ExitStack() as stack:
            run = other.submit(ingest_documents, [Document("a", "some words")], lossy, report=lose)
            while not lost:
                time.sleep(0.01)
            stack.enter_context(Supervisor(lossy))
            counts = summary(own, run.result(60))
    assert (lost, counts["indexed"], counts["pending"]) == ([1], 1, 0)


@pytest.mark.slow
def test_dead_letters_are_tried_again_as_a_run_of_their_own(engine: Engine, settings: Settings) -> None:
    mended = {"id": "a", "text": "mended", "version": 3}
    tasks.add_dead_letters(engine, [tasks.DeadLetter("old", Refusal("message", "a", "", "a fault"), 4, 1.0, mended)])
    run = retry([], settings)
    assert (summary(engine, run)["indexed"], tasks.letters(engine)) == (1, [])


def test_a_path_that_is_not_there_is_an_error_before_anything_starts(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.jsonl"):
        ingest_documents(read([tmp_path / "missing.jsonl"]), settings)
    assert not (tmp_path / "index.sqlite").exists()


@pytest.mark.server("redis")
def test_a_run_that_no_worker_takes_says_how_to_start_one_for_its_index(
    redis: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def end_when_warned(_: Progress) -> None:
        if caplog.messages:
            raise KeyboardInterrupt

    caplog.set_level("WARNING", logger="ibidem_workers")  # whatever an earlier test has set
    monkeypatch.setattr(ingest_module, "WARNS_AFTER", 0.0)
    lonely = settings.changed(broker=redis, index=f"lonely-{uuid4().hex}")
    with pytest.raises(Interruption):
        ingest_documents([Document("a", "some words")], lonely, report=end_when_warned)
    (message,) = caplog.messages
    assert f"IBIDEM_INDEX={lonely.index} ibidem worker" in message
    Redis.from_url(redis).delete(f"ibidem:{lonely.queue}")


@pytest.mark.slow
def test_an_index_of_another_table_takes_no_more_and_the_command_that_mends_it_is_named(
    settings: Settings, own_tables: Tables
) -> None:
    settings = settings.changed(tables=own_tables.folder)
    fill([Document("a", "We the People of the United States")], settings)
    own_tables.use(OTHER)
    with pytest.raises(UsageError, match=r"1 documents signed with .* backfill --into NAME") as error:
        ingest_documents([Document("b", "in Order to form a more perfect Union")], settings)
    assert OTHER.name in str(error.value)


@pytest.mark.slow
def test_the_first_table_back_in_use_or_one_of_another_language_is_no_reason(
    engine: Engine, settings: Settings, own_tables: Tables
) -> None:
    settings = settings.changed(tables=own_tables.folder)
    first = own_tables.of("en")
    assert first is not None
    fill([Document("a", "We the People of the United States")], settings)
    own_tables.use(OTHER)
    own_tables.use(first)
    own_tables.use(Table.build("la", 9_000, {"populus": 10.0}, "Latin"))
    run = fill([Document("b", "populus romanus", language="la")], settings)
    assert summary(engine, run)["indexed"] == 1
