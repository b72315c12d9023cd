"""A worker that is asked to end finishes the batch in hand, and the next one finds the others at once."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from kombu import Queue
from redis import Redis

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.brokers.lease import this_process
from ibidem_workers.celery_app import make_app
from ibidem_workers.runs import RunMonitor
from ibidem_workers.submit import Submission
from support.rabbitmq_queues import delete_queues

# A worker that holds the batch in hand until it is let go on.
SLOW = """
import pathlib, sys, time
from ibidem_workers import tasks, worker

sign, gate = tasks.records, pathlib.Path(sys.argv[1])

def waits(*given):
    (gate / "begun").touch()
    while not (gate / "on").exists():
        time.sleep(0.01)
    return sign(*given)

tasks.records = waits
sys.exit(worker.main(sys.argv[2]))
"""

BATCHES = 4
LONG = 3_600  # seconds of a lease that no test waits for


@pytest.fixture(
    params=[
        "file",
        pytest.param("rabbitmq", marks=pytest.mark.server("rabbitmq")),
        pytest.param("redis", marks=pytest.mark.server("redis")),
    ]
)
def queued(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """Settings with each of the queues, under a name that no other run uses."""
    kind = request.param
    broker = settings.broker if kind == "file" else request.getfixturevalue(kind)
    own_settings = settings.changed(broker=broker, index=f"stop-{uuid4().hex}", lease=LONG, concurrency=1)
    yield own_settings
    if kind == "redis":
        Redis.from_url(broker).delete(f"ibidem:{own_settings.queue}")
    elif kind == "rabbitmq":
        delete_queues(own_settings)


@pytest.fixture
def index(queued: Settings) -> Iterator[Engine]:
    engine = open_engine(queued.engine, queued.index)
    engine.create()
    yield engine
    engine.close()


def waiting(settings: Settings) -> int:
    with make_app(settings).connection_for_write() as connection:
        queue = Queue(settings.queue, channel=connection.default_channel)
        return int(queue.queue_declare(passive=True).message_count)


def submitted(engine: Engine, settings: Settings) -> str:
    """Submit documents that each fill a batch."""
    text = "some words that fill a batch of their own " * 30
    source = [Document(f"story-{number}", f"Number {number}: {text}") for number in range(BATCHES)]
    return Submission(engine, settings.changed(batch_characters=1_000)).send(source).run


def slow_worker(settings: Settings, gate: Path) -> subprocess.Popen[bytes]:
    """Start a worker and wait until it has a batch in hand."""
    starter = start_worker(settings, gate)
    come((gate / "begun").exists)
    return starter


def start_worker(settings: Settings, gate: Path) -> subprocess.Popen[bytes]:
    """Start the starter of workers, and have it fork one."""
    starter = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(gate), this_process()],
        env=settings.as_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert starter.stdin is not None
    starter.stdin.write(b"0 \n")
    starter.stdin.flush()
    return starter


def ended(output: bytes) -> bytes:
    """Return the exit code that a starter told of its worker."""
    (line,) = (line for line in output.splitlines() if line.startswith(b"ended 0 "))
    return line.removeprefix(b"ended 0 ")


def come(happens: Callable[[], bool]) -> None:
    """Wait for something that has to happen."""
    deadline = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_it_finishes_the_batch_in_hand_and_hands_back_the_rest_at_once(
    index: Engine, queued: Settings, tmp_path: Path
) -> None:
    run = submitted(index, queued)
    with slow_worker(queued, tmp_path) as worker:
        worker.send_signal(signal.SIGTERM)
        (tmp_path / "on").touch()
        worker.wait(60)  # not by the end of its input
        output, errors = worker.communicate()
    assert (ended(output), worker.returncode) == (b"0", 0), errors
    assert RunMonitor(index, run).look().batches_done == 1
    come(lambda: waiting(queued) == BATCHES - 1)

    with slow_worker(queued, tmp_path) as second:
        assert RunMonitor(index, run).wait().done == BATCHES
        second.terminate()
        second.wait(60)
        output, errors = second.communicate()
    assert (ended(output), second.returncode) == (b"0", 0), errors
    come(lambda: waiting(queued) == 0)
    assert index.info().documents == BATCHES


@pytest.mark.slow
def test_one_that_has_nothing_in_hand_ends_at_once(index: Engine, queued: Settings, tmp_path: Path) -> None:
    (tmp_path / "on").touch()
    with start_worker(queued, tmp_path) as worker:
        assert worker.stdout is not None
        events = {worker.stdout.readline().split()[0] for _ in range(2)}
        assert events == {b"pid", b"ready"}
        worker.terminate()
        worker.wait(60)
        output, errors = worker.communicate()
    assert (ended(output), worker.returncode) == (b"0", 0), errors
