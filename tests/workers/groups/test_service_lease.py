"""Settling by one process at a time: who holds the lease goes on, the others wait."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_workers.groups import follower
from ibidem_workers.groups.follower import Follower, SettlingLease, settle, settle_all
from workers.groups.test_service import groups, index, plain, signed


def test_who_waits_for_another_settles_nothing() -> None:
    with index() as engine:
        engine.write(signed(1))
        other = SettlingLease(engine)
        assert other.take()
        settle(engine, 1.0)
        assert GroupCheckpoint.read(engine).done == {}
        other.give_back()
        settle(engine, 10.0)
        assert groups(engine) == plain(engine)


def test_who_waits_goes_on_where_another_left_off() -> None:
    with index() as engine, ThreadPoolExecutor() as threads:
        engine.write(signed(2))
        other = SettlingLease(engine)
        assert other.take()
        waiting = threads.submit(settle_all, engine)
        Follower(engine, size=5, stop=lambda: bool(GroupCheckpoint.read(engine).done)).step()
        other.give_back()
        waiting.result()
        assert groups(engine) == plain(engine)


def taken_by_another(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> SettlingLease:
    """Another process takes the lease that it saw free a moment before."""
    other = SettlingLease(engine)
    with monkeypatch.context() as patch:
        patch.setattr(SettlingLease, "is_taken", lambda _: False)
        assert other.take()
    return other


def test_of_several_that_see_the_lease_free_at_once_one_settles() -> None:
    with index() as engine:
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


def test_a_process_whose_lease_another_took_stops_before_its_next_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with index() as engine:
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


def test_a_manual_decision_is_followed_where_nothing_was_written_since() -> None:
    with index() as engine:
        engine.write(signed(3))
        settle_all(engine)
        leads = sorted(set(groups(engine).values()))
        a, b = leads[:2]
        entry = {"a": ["news", a], "b": ["news", b], "verdict": "same"}
        engine.put_records("overrides", {f'[["news","{a}"],["news","{b}"]]': entry})
        settle_all(engine)
        assert groups(engine)[a] == groups(engine)[b]
