"""The folders of a queue: a message is seen whole, taken once, and put back when its taker is gone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ibidem_workers.brokers.files import SpoolDirectory, tries


@pytest.fixture
def folder(tmp_path: Path) -> SpoolDirectory:
    return SpoolDirectory(tmp_path / "news", 60)


def test_messages_come_out_in_the_order_they_went_in(folder: SpoolDirectory) -> None:
    for message in (b"one", b"two", b"three"):
        folder.put(message)
    messages = [folder.take(name, "me") for name in folder.names()]
    assert [path.read_bytes() for path in messages if path] == [b"one", b"two", b"three"]
    assert (folder.count_waiting(), folder.count_taken()) == (0, 3)


def test_a_message_is_taken_by_one_of_many(folder: SpoolDirectory) -> None:
    for number in range(50):
        folder.put(str(number).encode())
    names = folder.names() * 8
    with ThreadPoolExecutor(8) as threads:
        paths = [path for path in threads.map(lambda name: folder.take(name, "me"), names) if path]
    assert sorted(int(path.read_bytes()) for path in paths) == list(range(50))


def test_a_message_whose_taker_is_gone_goes_back_with_one_more_try(folder: SpoolDirectory) -> None:
    folder.put(b"poison")
    for attempt in range(3):
        (name,) = folder.names()
        assert tries(name) == attempt
        folder.take(name, "nobody~1~gone")
        assert folder.recover() == 1
    assert tries(folder.names()[0]) == 3


def test_a_message_whose_taker_lives_stays_with_it(folder: SpoolDirectory) -> None:
    folder.put(b"slow")
    lease = folder.take_lease()
    folder.take(folder.names()[0], lease.name)
    assert (folder.recover(), folder.count_taken(), folder.workers()) == (0, 1, 1)
    lease.end()
    assert (folder.recover(), folder.count_waiting(), folder.workers()) == (1, 1, 0)


def test_a_message_that_is_handed_back_counts_no_try(folder: SpoolDirectory) -> None:
    folder.put(b"later")
    message = folder.take(folder.names()[0], "me")
    assert message is not None
    assert folder.put_back(message, counts_try=False)
    assert not folder.put_back(message, counts_try=False)
    assert tries(folder.names()[0]) == 0


def test_a_message_that_was_put_back_is_behind_the_others(folder: SpoolDirectory) -> None:
    folder.put(b"first")
    folder.put(b"second")
    folder.take(folder.names()[0], "nobody~1~gone")
    folder.recover()
    messages = [folder.take(name, "me") for name in folder.names()]
    assert [path.read_bytes() for path in messages if path] == [b"second", b"first"]


def test_what_waits_can_be_purged(folder: SpoolDirectory) -> None:
    folder.put(b"one")
    assert (folder.purge(), folder.count_waiting()) == (1, 0)


def test_what_somebody_else_laid_into_the_folders_is_left_alone(folder: SpoolDirectory, tmp_path: Path) -> None:
    for place in ("ready", "taken"):
        (tmp_path / "news" / place / ".nfs0001").write_bytes(b"")
    folder.put(b"one")
    assert (folder.count_waiting(), folder.count_taken(), folder.recover()) == (1, 0, 0)
    assert folder.purge() == 1
    assert (tmp_path / "news" / "ready" / ".nfs0001").exists()
