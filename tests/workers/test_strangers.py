"""Messages that no submitter of ours sent: nothing in them is run or read, and what comes after them is done."""

import pickle
import time
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.app import TASK, make_app
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.pool import Pool
from ibidem_workers.queue_folder import Folder
from ibidem_workers.runs import Watch
from ibidem_workers.settings import Settings

PATIENCE = 30.0


class Opened:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.write_text, (self.path, "caught"))


def lay(settings: Settings, name: str, arguments: Sequence[object]) -> None:
    """Lay a message with a task's name into the queue."""
    make_app(settings).send_task(name, args=list(arguments))


def lay_pickled(settings: Settings, value: object) -> None:
    """Lay a message into the queue that holds a pickle and says so, as somebody does who can write into its folder."""
    lay(settings, TASK, [])
    assert settings.queue_folder is not None
    (path,) = (each for each in (settings.queue_folder / settings.queue).rglob("*") if each.is_file())
    message = orjson.loads(path.read_bytes())
    message |= {"body": pickle.dumps(value, protocol=0).decode(), "content-type": "application/x-python-serialize"}
    path.write_bytes(orjson.dumps(message))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run", 0, "no list", None],
        ["run", "no number", [{"id": "a", "text": "x"}], None],
        ["run", 0, ["no record"], None],
        ["run", 0, [{"id": "a", "path": "/etc/passwd", "text": None}], None],
        [{"run": 1}, 0, [{"id": "a", "text": "x"}], None],
    ],
    ids=["nothing", "no list", "no number", "no record", "a path", "no run"],
)
def test_a_message_of_another_shape_stops_no_worker(
    engine: Engine, settings: Settings, arguments: list[object]
) -> None:
    lay(settings, TASK, arguments)
    assert indexed_after(engine, settings) == 1


def test_a_pickle_is_never_opened_and_an_unknown_task_never_run(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    caught = tmp_path / "caught"
    lay_pickled(settings, Opened(caught))
    lay(settings, "os.system", [f"touch {caught}"])
    assert indexed_after(engine, settings) == 1
    assert not caught.exists()


def indexed_after(engine: Engine, settings: Settings) -> int:
    """Send a document behind what lies in the queue, let one worker work, and return how many were indexed."""
    settings = settings.changed(concurrency=1)
    run = ingest_documents([Document("good", "We the People")], settings, wait=False)
    until = time.monotonic() + PATIENCE
    assert settings.queue_folder is not None
    with Pool(settings, quiet=True) as pool:
        watch = Watch(engine, run)
        while not watch.look().ended and time.monotonic() < until:
            pool.check()
            Folder(settings.queue_folder / settings.queue, settings.lease).recover()
            time.sleep(0.05)
    return watch.look().done
