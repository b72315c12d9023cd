"""Settling by one process at a time: who holds the lease goes on, the others wait."""

from functools import partial

import pytest

from ibidem_engines.engine import Engine
from ibidem_workers.groups import service
from ibidem_workers.groups.checkpoint import Checkpoint
from ibidem_workers.groups.follow import Follower
from ibidem_workers.groups.service import Lease, settle, settle_all
from workers.groups.test_follow import groups, index, plain, signed


def test_who_waits_for_another_settles_nothing() -> None:
    with index() as engine:
        engine.write(signed(1))
        other = Lease(engine)
        assert other.take()
        settle(engine, 1.0)
        assert Checkpoint.read(engine).done == {}
        other.give_back()
        settle(engine, 10.0)
        assert groups(engine) == plain(engine)


def taken_by_another(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Lease:
    """Another process takes the lease that it saw free a moment before."""
    other = Lease(engine)
    with monkeypatch.context() as patch:
        patch.setattr(Lease, "taken", lambda _: False)
        assert other.take()
    return other


def test_of_two_that_take_the_lease_in_the_same_moment_the_first_leaves_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
        one = Lease(engine)
        assert one.take()
        other = taken_by_another(engine, monkeypatch)
        one.renew()
        other.renew()
        assert (one.lost, other.lost) == (True, False)
        one.give_back()
        assert Lease(engine).taken()
        other.give_back()
        assert not Lease(engine).taken()


def test_a_process_whose_lease_another_took_stops_after_its_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
        engine.write(signed(2, families=10))
        seen = []

        def looked(documents: int) -> None:
            seen.append(documents)
            if len(seen) == 2:
                taken_by_another(engine, monkeypatch)

        monkeypatch.setattr(service, "Follower", partial(Follower, size=5))
        settle(engine, 60.0, looked)
        assert seen == [5, 5, 5]


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
