"""Messages that no submitter of ours sent: nothing in them is run or read, they are kept, and what follows is done."""

import bz2
import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from redis import Redis

from faults.environment import wait_for
from faults.kill import children
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers import tasks
from ibidem_workers.batches import compress
from ibidem_workers.celery_app import count_rejected, make_app
from ibidem_workers.executors import Supervisor
from ibidem_workers.ingest import RunMonitor, ingest_documents
from servers.kinds import BROKERS
from workers.test_messages import BODIES, GOOD, HEADERS, RUN, body, headers_with
from workers.test_stop import own_queue, waiting

PATIENCE = 60.0


class Opened:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.write_text, (self.path, "caught"))


# Headers that pass and are Celery's to refuse: no task of ours, or no id.
NOT_OURS: Sequence[Mapping[str, object]] = (
    {"task": None},
    {"task": "os.system"},
    {"task": "celery.backend_cleanup"},
    {"id": None},
)

# Records in JSON that Python reads and that is written by no engine.
UNWRITABLE = (
    '{"id":"bad0","text":"x","meta":{"a":' + "[" * 400 + "]" * 400 + "}}",
    '{"id":"bad1","text":"x","meta":{"a":1' + "0" * 30 + "}}",
    '{"id":"bad2","text":"x","meta":{"a":"\\ud800"}}',
    '{"id":"bad3","text":"\\udfff"}',
    '{"id":"bad4","text":1' + "0" * 30 + "}",
)

BOMB = 400_000_000  # bytes; a worker that works takes half of that


@pytest.fixture(params=BROKERS)
def settings(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Settings]:
    """An index of its own, so a queue of its own, on each broker."""
    changed = settings.changed(broker=request.getfixturevalue(request.param), max_text=100_000)
    with own_queue(changed, "strangers") as own_settings:
        yield own_settings


def lay(
    settings: Settings, headers: Mapping[str, object], content: str | bytes, kind: str = "application/json"
) -> None:
    """Put a message of our task into the queue, with some changes."""
    app = make_app(settings)
    with app.connection_for_write() as connection:
        foreign_headers = {
            name: value for name, value in headers_with(headers).items() if name not in headers or value is not None
        }
        connection.Producer().publish(
            content,
            headers=foreign_headers,
            content_type=kind,
            content_encoding="utf-8",
            routing_key=settings.queue,
            declare=[app.conf.task_queues[0]],
        )


def given_up(settings: Settings) -> int:
    """Count the messages that are kept because they could not be carried out."""
    return count_rejected(settings)[0]


@pytest.mark.slow
def test_a_message_of_another_shape_is_kept_and_stops_no_worker(engine: Engine, settings: Settings) -> None:
    for header in (*HEADERS, *NOT_OURS):
        lay(settings, header, GOOD)
    for content, _ in BODIES:
        lay(settings, {}, content)
    unknown_terms = len(HEADERS) + len(NOT_OURS) + len(BODIES)
    if settings.broker.startswith("redis"):  # what is no message at all is not kept
        for raw in (b"", b"\xff", b"[]", b"{}", b'{"headers": {}, "properties": {}}'):
            Redis.from_url(settings.broker).lpush(f"ibidem:{settings.queue}", raw)
    assert indexed_after(engine, settings) == (1, 1)
    assert wait_for(lambda: given_up(settings) == unknown_terms, PATIENCE), given_up(settings)


@pytest.mark.slow
def test_a_document_that_cannot_be_written_is_a_dead_letter_and_what_is_behind_it_is_reached(
    engine: Engine, settings: Settings
) -> None:
    for number, record in enumerate(UNWRITABLE):
        lay(
            settings,
            {},
            body(RUN, number, [{"id": "fine", "text": "We"}]).replace('{"id":"fine"', f'{record},{{"id":"fine"'),
        )
    assert indexed_after(engine, settings) == (1, 2)
    letters = tasks.letters(engine)
    assert sorted(letter.refusal.id for letter in letters) == [f"bad{number}" for number in range(len(UNWRITABLE))]
    assert all("unwritable" in letter.record for letter in letters)


@pytest.mark.slow
@pytest.mark.parametrize("packed", ["bz2", "zstd"])
def test_a_small_message_never_fills_the_memory(engine: Engine, settings: Settings, packed: str) -> None:
    kind, pack = {"bz2": ("application/x-bz2", bz2.compress), "zstd": ("application/zstd", compress)}[packed]
    text = b" " * BOMB
    lay(settings, {"compression": kind}, pack(text))
    with Supervisor(settings) as worker:
        ingest_documents([Document("good", "We the People")], settings)
        assert wait_for(lambda: given_up(settings) == 1, PATIENCE)
        most = [peak(pid) for pid in (worker.process.pid, *children(worker.process.pid))]
    assert engine.info().documents == 1
    assert max(most) < BOMB


def peak(pid: int) -> int:
    """Return the most memory that a process has taken."""
    line = next(each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@pytest.mark.slow
def test_a_pickle_is_never_opened(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    caught = tmp_path / "caught"
    pickled = pickle.dumps(Opened(caught), protocol=0).decode()
    for kind in ("application/x-python-serialize", "application/data", "application/x-yaml"):
        lay(settings, {}, pickled, kind)
    assert indexed_after(engine, settings) == (1, 1)
    assert not caught.exists()


@pytest.mark.slow
def test_a_path_in_a_message_is_read_by_no_worker(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("We the People")
    records = [
        {"id": str(secret), "text": None, "path": str(secret)},
        {"id": "b", "text": "x", "url": f"file://{secret}"},
    ]
    lay(settings, {}, body(RUN, 0, records))
    assert indexed_after(engine, settings) == (1, 2)
    assert engine.fetch([(settings.index, "b")])[0].document.text == "x"


def indexed_after(engine: Engine, settings: Settings) -> tuple[int, int]:
    """Send a document behind what lies in the queue and let one worker work."""
    with Supervisor(settings) as worker:
        run = ingest_documents([Document("good", "We the People")], settings)
        processes = children(worker.process.pid)
        assert wait_for(lambda: not waiting(settings), PATIENCE)
        assert (worker.process.poll(), children(worker.process.pid)) == (None, processes), "a message ended its worker"
    return RunMonitor(engine, run).look().done, engine.info().documents
