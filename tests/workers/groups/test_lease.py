"""A lease on settling is held by the process that took it last, for as long as it renews it; the others wait."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_workers.executors import this_process
from ibidem_workers.groups import follower
from ibidem_workers.groups.follower import KEY, SECONDS, Follower, SettlingLease, settle
from workers.groups.test_service import signed

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
    monkeypatch.setattr(follower, "time", clock)
    monkeypatch.setattr(follower, "RACE_SECONDS", 0.05)
    return clock


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
    engine: Engine, clock: Clock, entry: Mapping[str, object], is_taken: bool
) -> None:
    lease = SettlingLease(engine, "mine")
    assert not lease.is_taken()
    engine.put_records("runs", {KEY: entry})
    assert lease.is_taken() is is_taken
    assert lease.take() is not is_taken
    assert clock.passed == (0 if is_taken else follower.RACE_SECONDS)


def test_a_lease_that_another_took_is_lost_though_that_one_gives_it_back(engine: Engine, clock: Clock) -> None:
    lease, other = SettlingLease(engine, "mine"), {"name": "other", "process": ELSEWHERE}
    assert lease.take()
    engine.put_records("runs", {KEY: other | {"until": NOW + SECONDS}})
    clock.passed = SECONDS / 2
    assert lease.cannot_renew()
    lease.give_back()
    assert engine.get_record("runs", KEY)["until"] == NOW + SECONDS
    engine.put_records("runs", {KEY: other | {"until": NOW - 1}})
    assert lease.cannot_renew()
    assert lease.is_lost


def taken_by_another(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> SettlingLease:
    """Another process takes the lease that it saw free a moment before."""
    other = SettlingLease(engine)
    with monkeypatch.context() as patch:
        patch.setattr(SettlingLease, "is_taken", lambda _: False)
        assert other.take()
    return other


def test_of_several_that_see_the_lease_free_at_once_one_settles(engine: Engine) -> None:
    leases = [SettlingLease(engine) for _ in range(4)]
    free = Barrier(len(leases))
    before = SettlingLease.is_taken

    def take(lease: SettlingLease) -> bool:
        success = before(lease)
        if not lease._renewal:
            free.wait()
        return success

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor() as threads:
        patch.setattr(follower, "RACE_SECONDS", 0.05)
        patch.setattr(SettlingLease, "is_taken", take)
        assert sum(threads.map(SettlingLease.take, leases)) == 1


def test_a_process_whose_lease_another_took_stops_before_its_next_portion(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.write(signed(2, families=10))
    counts = []

    def looked(documents: int) -> None:
        counts.append(documents)
        if len(counts) == 2:
            taken_by_another(engine, monkeypatch)

    monkeypatch.setattr(follower, "Follower", partial(Follower, size=5))
    settle(engine, 60.0, looked)
    assert counts == [5, 5]


def test_of_two_that_took_the_lease_in_the_same_moment_the_first_settles_no_portion(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.write(signed(4))
    take = SettlingLease.take

    def overtaken(lease: SettlingLease) -> bool:
        success = take(lease)
        monkeypatch.setattr(SettlingLease, "take", take)
        taken_by_another(engine, monkeypatch)
        return success

    monkeypatch.setattr(SettlingLease, "take", overtaken)
    settle(engine, 60.0)
    assert GroupCheckpoint.read(engine).done == {}
