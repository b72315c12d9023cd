"""Who goes on after a process that ended or stands still: nothing of that process can come later."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_engines.stored_groups import Assignment, StoredGroups
from ibidem_ingest.kernel import loops
from ibidem_workers.groups import follower as module
from ibidem_workers.groups.follower import Follower, begin_again, is_settled, settle_all
from workers.groups.test_service import OTHER, TEXT, check, groups, index, named, plain, regroup, stored, write

Happen = Callable[[], object]


@contextmanager
def before_a_write(engine: Engine, happen: Happen, *, position: int = 1) -> Iterator[None]:
    """Let something happen while a process stands still before it writes groups for the first or a later time."""
    kind = type(engine.groups())
    assign, calls = kind.assign, []

    def late(self: object, changes: Sequence[Assignment]) -> object:
        calls.append(changes)
        if len(calls) == position:
            happen()
        return assign(self, changes)  # type: ignore[arg-type] # handed on as it came

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "assign", late)
        yield
    assert len(calls) >= position


def joined(engine: Engine) -> int:
    return sum(GroupCheckpoint.read(engine).joined.values())


def followers(engine: Engine) -> int:
    return sum(not each.lead for each in stored(engine))


def test_a_join_that_comes_after_others_have_followed_the_deletion_of_its_lead_is_not_written(engine: Engine) -> None:
    write(engine, a=TEXT)
    Follower(engine).catch_up()
    write(engine, b=f"{TEXT} more", c=f"{TEXT} again")

    def others_go_on() -> None:
        engine.delete(["a"], 2)
        Follower(engine).catch_up()

    with before_a_write(engine, others_go_on):
        Follower(engine).catch_up()
    check(engine)
    assert joined(engine) == followers(engine) == 1


@pytest.mark.parametrize(
    ("text", "before", "after"), [(OTHER, None, "same"), (TEXT, None, "not"), (OTHER, "not", "same")]
)
def test_a_decision_that_comes_while_groups_are_settled_is_followed_then_or_by_the_next_settling(
    engine: Engine, text: str, before: Verdict | None, after: Verdict
) -> None:
    write(engine, a=TEXT, b=text)
    Follower(engine).catch_up()
    if before:
        decide(engine, before)
    write(engine, c=" ".join(f"third{at}" for at in range(90)))
    kind = type(engine.groups())
    count, decided = kind.deletions, []

    def decided_meanwhile(store: StoredGroups) -> int:
        if not decided:
            decided.append(after)
            decide(engine, after)
        return count(store)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "deletions", decided_meanwhile)
        Follower(engine).catch_up()
    settle_all(engine)
    assert decided
    assert is_settled(engine)
    check(engine)


def decide(engine: Engine, verdict: Verdict) -> None:
    word = Override(("news", "a"), ("news", "b"), verdict)
    engine.put_records("overrides", {word.key: word.as_record()})


def test_everything_that_another_settles_again_meanwhile_comes_from_one_of_them_alone(engine: Engine) -> None:
    write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again")
    settle_all(engine)
    lead, *others = stored(engine)
    engine.groups().assign([Assignment(each, f"own {each.name.id}", lead=True) for each in others])
    assert begin_again(engine, everything=True, policy=None)

    def others_go_on() -> None:
        engine.delete([lead.name.id], 2)
        Follower(engine).catch_up()

    with before_a_write(engine, others_go_on):
        Follower(engine).catch_up()
    check(engine)
    assert joined(engine) == followers(engine) == 1


def test_the_checkpoint_is_begun_again_only_by_who_has_read_the_last_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = GroupCheckpoint.read

    def overtaken(engine: Engine) -> GroupCheckpoint:
        checkpoint = read(engine)
        read(engine).save(engine)
        other = read(engine)
        other.joined = {"near": 1}
        other.save(engine)
        return checkpoint

    monkeypatch.setattr(GroupCheckpoint, "read", overtaken)
    assert not begin_again(engine, everything=True, policy=None)
    monkeypatch.undo()
    assert joined(engine) == 1
    assert begin_again(engine, everything=True, policy=None)
    assert (joined(engine), GroupCheckpoint.read(engine).everything) == (0, True)


def write_many(engine: Engine, count: int = 7) -> None:
    """Texts of which each third one is much like the first."""
    others = {at: " ".join(f"text{at}word{word}" for word in range(90)) for at in range(count) if at % 3}
    write(engine, **{f"d{at}": f"{others.get(at, TEXT)} {at}" for at in range(count)})


@pytest.mark.parametrize("many", [1, 10_000])
def test_groups_are_the_same_without_compiled_loops(engine: Engine, many: int) -> None:
    with patch.object(loops, "IN_USE", None):
        write_many(engine)
        Follower(engine, size=2, min_new=many).catch_up()
        assert groups(engine) == plain(engine)
        regroup(engine, everything=True)
        assert groups(engine) == plain(engine)


def test_a_follower_stops_before_the_next_portion_and_another_goes_on_from_there(engine: Engine) -> None:
    write_many(engine)
    looked = list[int]()
    Follower(engine, looked.append, 2, stop=lambda: len(looked) == 2).catch_up()
    checkpoint = GroupCheckpoint.read(engine)
    assert (looked, checkpoint.done, checkpoint.seen) == ([2, 2], {"news/0": 4}, {})
    Follower(engine, looked.append, 2).catch_up()
    assert (looked, GroupCheckpoint.read(engine).seen) == ([2, 2, 2, 1], {"news/0": 7})
    assert groups(engine) == plain(engine)


@pytest.mark.parametrize("calls", [1, 2])
def test_what_is_read_is_given_up_whenever_another_takes_the_lease(engine: Engine, calls: int) -> None:
    write_many(engine)
    before, asked, looked = stored(engine), list[bool](), list[int]()

    def is_lost() -> bool:
        asked.append(len(asked) + 1 >= calls)
        return asked[-1]

    Follower(engine, looked.append, 2, is_lost=is_lost, min_new=1).step()
    assert (stored(engine), looked) == (before, [])
    assert GroupCheckpoint.read(engine).done == {}


def test_a_writer_that_never_stops_does_not_keep_a_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDS", 3)
    with index() as engine:
        write(engine, a=TEXT)
        looked = list[int]()

        def report(documents: int) -> None:
            looked.append(documents)
            write(engine, **{f"d{len(looked)}": f"{OTHER} {len(looked)}"})

        checkpoint = Follower(engine, report).catch_up()
        assert (looked, checkpoint.done) == ([1, 1, 1], {"news/0": 3})


def test_documents_of_an_index_that_was_made_again_under_its_name_are_all_settled(engine: Engine) -> None:
    write_many(engine)
    checkpoint = GroupCheckpoint.read(engine)
    checkpoint.done = checkpoint.seen = {"news/0": 8}
    checkpoint.save(engine)
    looked = list[int]()
    assert Follower(engine, looked.append).catch_up().done == {"news/0": 7}
    write(engine, new=OTHER)
    Follower(engine, looked.append).catch_up()
    assert looked == [7, 1]


def test_a_decision_that_could_not_be_followed_at_once_is_followed_by_the_next_step(engine: Engine) -> None:
    write(engine, a=TEXT, b=OTHER)
    Follower(engine).catch_up()
    decide(engine, "same")
    kind, read = type(engine.groups()), named(engine, "ab")
    write(engine, 2, b=f"{OTHER} more")
    with patch.object(kind, "read", lambda *_: read):
        Follower(engine).step()
    assert GroupCheckpoint.read(engine).overrides == {}
    Follower(engine).catch_up()
    assert len(set(groups(engine).values())) == len(GroupCheckpoint.read(engine).overrides) == 1


def test_what_another_had_in_hand_stays_so_until_it_could_be_written_again(engine: Engine) -> None:
    write(engine, a=TEXT, b=OTHER)
    Follower(engine).catch_up()
    checkpoint, read = GroupCheckpoint.read(engine), named(engine, "b")
    checkpoint.in_hand = [("news", "b")]
    checkpoint.save(engine)
    write(engine, 2, b=f"{TEXT} more")
    with patch.object(type(engine.groups()), "read", lambda *_: read):
        assert Follower(engine).step()
    assert GroupCheckpoint.read(engine).in_hand == [("news", "b")]
    assert Follower(engine).catch_up().in_hand == []
    assert groups(engine) == plain(engine) == {"a": "a", "b": "a"}
