"""Groups count as settled once each write, deletion and manual decision is followed, and who waits for that is told."""

import time
from collections.abc import Callable, Iterator
from math import inf
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from ibidem_core.errors import Unavailable
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import POLICY, GroupCheckpoint
from ibidem_workers.groups import follower
from ibidem_workers.groups.follower import PAUSE, Follower, SettlingLease, follow_decisions, is_settled, regroup, settle
from workers.groups.test_follower import decide
from workers.groups.test_lease import taken_by_another
from workers.groups.test_service import OTHER, TEXT, check, groups, index, write


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An index whose groups are settled."""
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", x=OTHER)
        Follower(engine).catch_up()
        yield engine


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """What happens in each pause of who waits; when nothing is left to happen, it waits in vain."""
    happenings: list[Callable[[], object]] = []
    clock = SimpleNamespace(passed=0.0)

    def sleep(seconds: float) -> None:
        if seconds:  # none where a lease is taken
            assert seconds == PAUSE
            clock.passed += seconds
            happenings.pop(0)()

    monkeypatch.setattr(follower, "time", SimpleNamespace(sleep=sleep, time=time.time, monotonic=lambda: clock.passed))
    return happenings


def note(engine: Engine, **fields: object) -> None:
    checkpoint = GroupCheckpoint.read(engine)
    for name, value in fields.items():
        setattr(checkpoint, name, value)
    checkpoint.save(engine)


CHANGES: dict[str, Callable[[Engine], object]] = {
    "a write": lambda engine: write(engine, c=OTHER),
    "a deletion": lambda engine: engine.delete(["a"], 2),
    "a deletion that is not followed": lambda engine: note(engine, deletions=-1),
    "a decision": lambda engine: decide(engine, "not"),
    "documents in hand": lambda engine: note(engine, in_hand=[("news", "a")]),
    "an index that was made again": lambda engine: note(engine, uuids={"news": "another"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_followed_yet_is_not_settled_until_groups_are_settled_again(engine: Engine, change: str) -> None:
    assert is_settled(engine)
    CHANGES[change](engine)
    assert not is_settled(engine)
    settle(engine, inf)
    assert is_settled(engine)
    check(engine)


def test_a_settling_that_fails_gives_its_lease_back(engine: Engine) -> None:
    write(engine, c=f"{OTHER} more")

    def fail(_: int) -> None:
        raise InterruptedError

    for start in (lambda: settle(engine, inf, fail), lambda: regroup(engine, report=fail)):
        with pytest.raises(InterruptedError):
            start()
        assert not SettlingLease(engine).is_taken()


def test_a_decision_is_followed_at_once_where_groups_are_stored(engine: Engine) -> None:
    assert follow_decisions(engine)
    decide(engine, "not")
    assert follow_decisions(engine)
    assert groups(engine)["b"] == "b"
    assert is_settled(engine)
    with index() as empty:
        decide(empty, "not")
        assert follow_decisions(empty)
        assert GroupCheckpoint.read(empty).overrides == {}


def test_a_decision_that_cannot_be_followed_in_time_is_left_to_the_next_settling(
    engine: Engine, pauses: list[Callable[[], object]]
) -> None:
    decide(engine, "not")
    other = SettlingLease(engine)
    assert other.take()
    pauses.extend([bool] * 6)
    with patch.object(follower, "settle", wraps=settle) as settling:
        assert not follow_decisions(engine, 5 * PAUSE)
    assert pauses == []
    assert [call.args[1] for call in settling.call_args_list] == pytest.approx([at * PAUSE for at in range(5, -1, -1)])
    pauses[:] = [other.give_back]
    assert follow_decisions(engine, 5 * PAUSE)
    assert (pauses, groups(engine)["b"]) == ([], "b")


def test_a_decision_of_someone_who_may_not_write_documents_is_left_to_the_next_settling(engine: Engine) -> None:
    decide(engine, "not")
    with patch.object(type(engine), "replace_record", side_effect=Unavailable("no rights", "")):
        assert not follow_decisions(engine)
    assert follow_decisions(engine)


@pytest.mark.parametrize("everything", [False, True])
def test_regrouping_waits_for_a_lease_and_takes_turns_with_who_takes_it_meanwhile(
    engine: Engine, everything: bool, pauses: list[Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    leases, looked = [SettlingLease(engine)], list[int]()
    assert leases[0].take()

    def report(documents: int) -> None:
        looked.append(documents)
        if len(looked) == 1:
            leases.append(taken_by_another(engine, monkeypatch))

    pauses.extend([bool, leases[0].give_back, lambda: leases.pop().give_back()])
    assert regroup(engine, everything=everything, report=report).seen == {"news/0": 3}
    assert (pauses, len(leases)) == ([], 1)
    check(engine)


def test_a_policy_that_groups_are_settled_again_by_is_kept_until_another_is_given(engine: Engine) -> None:
    for policy, lead in ((POLICY.at("identical"), "b"), (None, "b"), (POLICY, "a")):
        regroup(engine, everything=True, policy=policy)
        assert groups(engine)["b"] == lead


@pytest.mark.parametrize("seconds", [inf, 60.0, -1.0])
def test_settling_ends_before_a_portion_that_begins_too_late_and_gives_its_lease_back(
    engine: Engine, seconds: float
) -> None:
    write(engine, c=f"{OTHER} more")
    looked: list[int] = []
    settle(engine, seconds, looked.append)
    assert looked == ([1] if seconds > 0 else [])
    assert is_settled(engine) == (seconds > 0)
    assert not SettlingLease(engine).is_taken()


def test_regrouping_new_documents_alone_gives_groups_whose_lead_is_gone_one_first(engine: Engine) -> None:
    engine.delete(["a"], 2)
    note(engine, deletions=GroupCheckpoint.read(engine).deletions)
    with patch.object(follower, "begin_again", side_effect=InterruptedError), pytest.raises(InterruptedError):
        regroup(engine)
    assert groups(engine) == {"b": "b", "x": "x"}
