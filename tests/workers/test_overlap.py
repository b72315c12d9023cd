"""Calls go on side by side, never more than allowed, and their results come in order."""

import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_workers.overlap import overlap


@given(st.lists(st.integers(), max_size=12), st.integers(1, 5))
def test_results_come_in_the_order_of_the_calls(values: list[int], limit: int) -> None:
    assert list(overlap((lambda value=value: value for value in values), limit)) == values


def test_the_next_call_is_made_ready_while_another_goes_on() -> None:
    ready = threading.Event()

    def calls() -> Iterator[Callable[[], bool]]:
        yield lambda: ready.wait(5)
        ready.set()
        yield lambda: True

    assert list(overlap(calls(), 2)) == [True, True]


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


def test_one_at_a_time_is_this_thread() -> None:
    assert set(overlap([threading.get_ident] * 3, 1)) == {threading.get_ident()}


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
