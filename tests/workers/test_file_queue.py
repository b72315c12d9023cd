"""The file queue: a message whose taker is gone comes again at once."""

from pathlib import Path

from ibidem_workers.file_queue import FileQueue
from ibidem_workers.queue_folder import Folder


def test_what_a_dead_worker_held_comes_with_the_number_of_tries(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "news", 60)
    queue = FileQueue(folder)
    queue.put(b"hello")
    folder.take(folder.names()[0], "nobody~1~gone")
    taken = queue.take()
    assert taken is not None
    assert (taken.message, taken.tries) == (b"hello", 1)
    queue.done(taken)
    queue.end()
    assert (folder.waiting(), folder.held(), folder.workers()) == (0, 0, 0)
