"""A worker that is asked to end finishes the batch in hand, and the next one finds the others at once."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis

from faults.environment import wait_for
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers import executors
from ibidem_workers.batches import TRIES
from ibidem_workers.celery_app import connect_broker, make_app
from ibidem_workers.executors import Supervisor, WorkerFailure
from ibidem_workers.ingest import RunMonitor, Submission, ToBroker
from servers.kinds import BROKERS
from support.rabbitmq_queues import delete_queues

# A worker that holds the batch in hand until it is let go on.
SLOW = """
import pathlib, sys, time
from ibidem_workers import batches, worker

sign, gate = batches.records, pathlib.Path(sys.argv[1])

def waits(*given):
    (gate / "begun").touch()
    while not (gate / "on").exists():
        time.sleep(0.01)
    return sign(*given)

batches.records = waits
sys.exit(worker.main(sys.argv[2]))
"""

BATCHES = 4
LONG = 3_600  # seconds of a lease that no test waits for


@pytest.fixture(params=BROKERS)
def queued(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """Settings with each of the queues, under a name that no other run uses."""
    changed = settings.changed(broker=request.getfixturevalue(request.param), lease=LONG, concurrency=1)
    with own_queue(changed, "stop") as own_settings:
        yield own_settings


@contextmanager
def own_queue(settings: Settings, name: str) -> Iterator[Settings]:
    """Give settings with an index that no other run uses, so a queue of its own, and remove the queue at the end."""
    own_settings = settings.changed(index=f"{name}-{uuid4().hex}")
    yield own_settings
    if settings.broker.startswith("amqp"):
        delete_queues(own_settings)
    else:
        client: Any = Redis.from_url(settings.broker)
        client.delete(*client.keys(f"ibidem:*{own_settings.queue}*"))


@pytest.fixture
def index(queued: Settings) -> Iterator[Engine]:
    engine = open_engine(queued.engine, queued.index)
    engine.create()
    connect_broker(queued)
    yield engine
    engine.close()


def waiting(settings: Settings) -> int:
    app = make_app(settings)
    with app.connection_for_write() as connection:
        return int(app.conf.task_queues[0](connection.default_channel).queue_declare().message_count)


def submitted(engine: Engine, settings: Settings) -> str:
    """Submit documents that each fill a batch."""
    text = "some words that fill a batch of their own " * 30
    source = [Document(f"story-{number}", f"Number {number}: {text}") for number in range(BATCHES)]
    small = settings.changed(batch_characters=1_000)
    return Submission(engine, small, ToBroker(small)).send(source).run


def worker(settings: Settings, gate: Path) -> Supervisor:
    return Supervisor(settings, [sys.executable, "-c", SLOW, str(gate)])


def come(happens: Callable[[], bool]) -> None:
    """Wait for something that has to happen."""
    assert wait_for(happens, 60)


@pytest.mark.slow
def test_it_finishes_the_batch_in_hand_and_hands_back_the_rest_at_once(
    index: Engine, queued: Settings, tmp_path: Path
) -> None:
    run = submitted(index, queued)
    with worker(queued, tmp_path) as first:
        come((tmp_path / "begun").exists)
        first.process.terminate()
        (tmp_path / "on").touch()
        assert first.process.wait(60) == 0
    done = RunMonitor(index, run).look().batches_done
    assert 1 <= done < BATCHES
    come(lambda: waiting(queued) == BATCHES - done)

    with worker(queued, tmp_path) as second:
        assert RunMonitor(index, run).wait().done == BATCHES
        come(lambda: waiting(queued) == 0)
        second.process.terminate()
        assert second.process.wait(60) == 0
    assert index.info().documents == BATCHES


@pytest.mark.slow
def test_one_that_waits_for_the_engine_hands_its_batch_back_after_the_grace_period(
    index: Engine, queued: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "GRACE", 1.0)
    submitted(index, queued)
    began = time.monotonic()
    with worker(queued, tmp_path):
        come((tmp_path / "begun").exists)
    assert time.monotonic() - began < 30
    come(lambda: waiting(queued) == BATCHES)


@pytest.mark.slow
def test_a_batch_that_takes_longer_than_a_lease_is_given_to_no_other(
    index: Engine, queued: Settings, tmp_path: Path
) -> None:
    run = submitted(index, queued)
    with worker(queued.changed(lease=2, concurrency=2), tmp_path):
        come((tmp_path / "begun").exists)
        time.sleep(6)
        (tmp_path / "on").touch()
        assert RunMonitor(index, run).wait().done == BATCHES
    assert not [key for key, _ in index.get_records("runs", run) if key.endswith(TRIES)]


@pytest.mark.slow
def test_a_worker_that_is_killed_is_started_again_and_one_that_ends_is_an_error(
    index: Engine, queued: Settings, tmp_path: Path
) -> None:
    run = submitted(index, queued)
    with worker(queued.changed(lease=2), tmp_path) as one:
        come((tmp_path / "begun").exists)
        (tmp_path / "on").touch()
        first = one.process
        first.kill()
        first.wait()
        one.check()
        assert one.process.pid != first.pid
        assert RunMonitor(index, run).wait().done == BATCHES
        one.process.terminate()
        one.process.wait(60)
        with pytest.raises(WorkerFailure, match="code 0"):
            one.check()
