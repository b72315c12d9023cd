"""Waiting for an engine that does not answer."""

import pytest

from ibidem_core.errors import Permanent, Unavailable
from ibidem_core.retry import retry_unavailable


class Busy:
    """Answers after some failures."""

    def __init__(self, failures: int, error: type[Exception] = Unavailable) -> None:
        self.calls, self._failures, self._error = 0, failures, error

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self._failures:
            raise self._error("busy")
        return "done"


def test_it_calls_again_until_there_is_an_answer() -> None:
    busy = Busy(5)
    assert retry_unavailable(busy, 600, pause=lambda _: None) == "done"
    assert busy.calls == 6


def test_it_waits_longer_each_time_and_no_longer_than_it_may() -> None:
    waits: list[float] = []
    with pytest.raises(Unavailable):
        retry_unavailable(Busy(10_000), 100, pause=waits.append)
    assert sum(waits) == pytest.approx(100)


def test_an_error_that_will_not_pass_is_raised_at_once() -> None:
    busy = Busy(5, Permanent)
    with pytest.raises(Permanent):
        retry_unavailable(busy, 600, pause=lambda _: None)
    assert busy.calls == 1


def test_waiting_is_given_up_when_the_worker_is_to_end() -> None:
    waits: list[float] = []
    with pytest.raises(Unavailable):
        retry_unavailable(Busy(10_000), 600, has_ended=lambda: len(waits) > 3, pause=waits.append)
    assert len(waits) == 4
