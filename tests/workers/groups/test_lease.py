"""A lease on settling is held by the process that took it last, for as long as it renews it."""

from collections.abc import Mapping

import pytest

from ibidem_engines.engine import Engine
from ibidem_workers.executors import this_process
from ibidem_workers.groups import follower as module
from ibidem_workers.groups.follower import KEY, SECONDS, SettlingLease
from workers.groups.test_service import index

NOW = 1_000_000.0
ELSEWHERE = "elsewhere~1~1"


class Clock:
    """Time that passes only as it is told."""

    def __init__(self) -> None:
        self.passed = 0.0

    def time(self) -> float:
        return NOW + self.passed

    def monotonic(self) -> float:
        return 7.0 + self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "RACE_SECONDS", 0.05)
    return clock


def note(engine: Engine, seconds: float, *, name: str = "other") -> None:
    """Another process takes the lease."""
    engine.put_records("runs", {KEY: {"name": name, "process": ELSEWHERE, "until": NOW + seconds}})


def noted(engine: Engine) -> Mapping[str, object]:
    entry: Mapping[str, object] = engine.get_record("runs", KEY)
    return entry


EXITED = this_process().rpartition("~")[0] + "~another start"


@pytest.mark.parametrize(
    ("entry", "is_taken"),
    [
        ({"name": "other", "process": ELSEWHERE, "until": NOW + 1}, True),
        ({"name": "other", "process": this_process(), "until": NOW + 1}, True),
        ({"name": "other", "process": EXITED, "until": NOW + 1}, False),
        ({"name": "mine", "process": ELSEWHERE, "until": NOW + 1}, False),
        ({"name": "other", "until": NOW + 1}, True),
        ({"name": "other", "process": ELSEWHERE, "until": NOW + 0.5}, True),
        ({"name": "other", "process": ELSEWHERE, "until": NOW}, False),
        ({"name": "other", "process": ELSEWHERE, "until": NOW - 1}, False),
        ({"name": "other", "process": ELSEWHERE, "until": NOW + 2 * SECONDS - 1}, True),
        ({"name": "other", "process": ELSEWHERE, "until": NOW + 2 * SECONDS}, False),
        ({"name": "other", "process": ELSEWHERE, "until": "for ever"}, False),
        ({"name": "other", "process": ELSEWHERE}, False),
        ({"process": ELSEWHERE, "until": NOW + 1}, False),
        ({}, False),
    ],
)
def test_a_lease_is_taken_while_another_process_that_may_be_alive_holds_it(
    clock: Clock, entry: Mapping[str, object], is_taken: bool
) -> None:
    with index() as engine:
        lease = SettlingLease(engine, "mine")
        assert not lease.is_taken()
        engine.put_records("runs", {KEY: entry})
        assert lease.is_taken() is is_taken
        assert lease.take() is not is_taken
        assert clock.passed == (0 if is_taken else module.RACE_SECONDS)


def test_who_took_it_a_moment_before_another_has_lost_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
        lease = SettlingLease(engine, "mine")
        monkeypatch.setattr(clock, "sleep", lambda _: note(engine, SECONDS))
        assert not lease.take()
        assert lease.is_lost
        assert not lease.renew()
        assert noted(engine)["name"] == "other"


@pytest.mark.parametrize(
    ("seconds", "until"),
    [(1.0, SECONDS), (SECONDS / 4, SECONDS), (SECONDS / 4 + 1, SECONDS / 4 + 1 + SECONDS), (100.0, 100 + SECONDS)],
)
def test_a_lease_is_renewed_once_a_quarter_of_its_time_has_passed(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, seconds: float, until: float
) -> None:
    monkeypatch.setattr(module, "RACE_SECONDS", 0.0)
    with index() as engine:
        lease = SettlingLease(engine, "mine")
        assert lease.take()
        clock.passed = seconds
        assert lease.renew()
        assert noted(engine)["until"] == NOW + until


def test_a_lease_that_another_took_is_lost_though_that_one_gives_it_back(clock: Clock) -> None:
    with index() as engine:
        lease = SettlingLease(engine, "mine")
        assert lease.take()
        note(engine, SECONDS)
        clock.passed = SECONDS / 2
        assert not lease.renew()
        lease.give_back()
        assert noted(engine)["name"] == "other"
        note(engine, -1)
        assert not lease.renew()
        assert (lease.is_lost, noted(engine)["name"]) == (True, "other")
