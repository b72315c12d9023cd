"""The file queue: a message whose taker is gone comes again at once."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from ibidem_workers.brokers.files import FileQueue, SpoolDirectory


def test_what_a_dead_worker_held_comes_with_the_number_of_tries(tmp_path: Path) -> None:
    folder = SpoolDirectory(tmp_path / "news", 60)
    queue = FileQueue(folder, 1_000)
    queue.put(b"hello")
    folder.take(folder.names()[0], "nobody~1~gone")
    message = queue.get()
    assert message is not None
    assert (message.message, message.tries) == (b"hello", 1)
    queue.ack(message)
    queue.close()
    assert (folder.count_waiting(), folder.count_taken(), folder.workers()) == (0, 0, 0)


def lay_fifo(path: Path) -> None:
    os.mkfifo(path)


def lay_folder(path: Path) -> None:
    (path / "below").mkdir(parents=True)


def lay_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def lay_loop(path: Path) -> None:
    path.symlink_to(path)


def lay_link_to_a_message(path: Path) -> None:
    secret = path.parents[2] / "secret"
    secret.write_bytes(b"hello")
    path.symlink_to(secret)


def lay_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.bind(os.path.relpath(path))  # absolute paths of sockets may be too long


def lay_large_file(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize(
    "lay",
    [lay_fifo, lay_folder, lay_dangling_link, lay_loop, lay_link_to_a_message, lay_socket, lay_large_file],
    ids=lambda lay: lay.__name__,
)
def test_what_has_a_message_s_name_and_is_none_is_set_aside_and_the_next_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lay: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = SpoolDirectory(tmp_path / "news", 60)
    for number in range(2):  # the second finds the first one's name taken
        lay(tmp_path / "news" / "ready" / f"{number:020d}-ab.0")
    queue = FileQueue(folder, 1_000)
    queue.put(b"hello")
    message = queue.get()
    assert message is not None
    assert message.message == b"hello"
    queue.ack(message)
    queue.close()
    assert (folder.count_waiting(), folder.count_taken(), len(list(folder.given_up.iterdir()))) == (0, 0, 2)


def test_no_name_of_a_file_stops_the_queue(tmp_path: Path) -> None:
    folder = SpoolDirectory(tmp_path / "news", 60)
    for name in (f"1-{'a' * 200}.0", "other~~1-a.0", "1-a.9999999999", "1-a.-1", "x"):
        (tmp_path / "news" / "ready" / name).write_bytes(b"not ours")
    for place, name in (("workers", "a~1~b"), ("workers", "c~2~d"), ("taken", "a~1~b~~1-a.0"), ("taken", "..~~2-b.0")):
        (tmp_path / "news" / place / name).mkdir()
    os.mkfifo(tmp_path / "news" / "workers" / "e~3~f")
    queue = FileQueue(folder, 1_000)
    queue.put(b"hello")
    message = queue.get()
    assert message is not None
    assert message.message == b"hello"
    queue.ack(message)
    assert (folder.purge(), folder.count_waiting()) == (2, 0)  # the two folders, which nobody held any more
    queue.close()
