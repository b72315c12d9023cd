"""Calls go on side by side, never more than allowed, and their results come in order."""

import threading

import pytest

from ibidem_workers.batches import overlap


def test_never_more_calls_go_on_than_allowed() -> None:
    lock, going, limit = threading.Lock(), [0], [0]
    together = threading.Barrier(3)

    def call() -> None:
        with lock:
            going[0] += 1
            limit[0] = max(limit[0], going[0])
        together.wait(5)
        with lock:
            going[0] -= 1

    list(overlap([call] * 9, 3))
    assert limit == [3]


def test_an_error_is_raised_once_what_is_under_way_has_ended() -> None:
    ends: list[int] = []
    begin_event = threading.Event()

    def fail() -> None:
        begin_event.wait(5)
        raise ValueError("no")

    def last() -> None:
        begin_event.set()
        threading.Event().wait(0.05)
        ends.append(1)

    with pytest.raises(ValueError, match="no"):
        list(overlap([fail, last], 2))
    assert ends == [1]
