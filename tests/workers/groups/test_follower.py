"""Who goes on after a process that ended or stands still: nothing of that process can come later."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import KEY, Conflict, GroupCheckpoint
from ibidem_engines.stored_groups import Assignment, StoredGroups
from ibidem_workers.groups.follower import Follower, begin_again, is_settled, settle_all
from support.signed_records import make_record
from workers.groups.test_service import check, groups, index, plain, stored

TEXT = " ".join(f"word{at}" for at in range(90))
OTHER = " ".join(f"other{at}" for at in range(90))

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


def write(engine: Engine, version: int = 1, **texts: str) -> None:
    engine.write([make_record(name, text, version) for name, text in texts.items()])


def joined(engine: Engine) -> int:
    return sum(GroupCheckpoint.read(engine).joined.values())


def followers(engine: Engine) -> int:
    return sum(not each.lead for each in stored(engine))


def test_a_join_that_comes_after_others_have_followed_the_deletion_of_its_lead_is_not_written() -> None:
    with index() as engine:
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
    text: str, before: Verdict | None, after: Verdict
) -> None:
    with index() as engine:
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


def test_a_join_that_was_written_before_its_process_ended_is_settled_again_and_counted_once() -> None:
    with index() as engine:
        write(engine, a=TEXT)
        Follower(engine).catch_up()
        write(engine, b=f"{TEXT} more")
        store, checkpoint = engine.groups(), GroupCheckpoint.read(engine)
        lead, new = stored(engine)
        checkpoint.plan([("news", "b")])
        checkpoint.save(engine)
        assert not is_settled(engine)
        store.assign([Assignment(new, lead.group, lead=False)])
        engine.delete(["a"], 2)
        checkpoint.deletions = store.deletions()  # another process has followed the deletion before the join came
        checkpoint.save(engine)
        settle_all(engine)
        assert groups(engine) == {"b": "b"}
        write(engine, c=f"{TEXT} again")
        settle_all(engine)
        assert (groups(engine), joined(engine)) == ({"b": "b", "c": "b"}, 1)


def test_a_process_that_finds_that_another_has_settled_goes_on_from_there() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", x=OTHER)
        reports: list[int] = []

        def report(documents: int) -> None:
            if not reports:
                reports.append(documents)
                Follower(engine).catch_up()
                write(engine, y=f"{OTHER} more")

        Follower(engine, report, size=1).catch_up()
        assert groups(engine) == plain(engine) == {"a": "a", "b": "a", "x": "x", "y": "x"}
        assert joined(engine) == 2


def test_a_join_is_not_counted_by_who_stood_still_after_it_once_another_has_taken_over() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        stood_still: list[str] = []
        replace = type(engine).replace_record

        def late(self: Engine, *record: object) -> object:
            if len(stood_still) == 1:  # the join is written, and is about to be counted
                stood_still.append("for longer than its lease")
                Follower(engine).catch_up()
            elif not stood_still:
                stood_still.append("not yet")
            return replace(self, *record)  # type: ignore[arg-type] # handed on as it came

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(engine), "replace_record", late)
            Follower(engine).catch_up()
        assert len(stood_still) == 2
        assert groups(engine) == {"a": "a", "b": "a"}
        assert joined(engine) == followers(engine) == 1


def test_everything_that_another_settles_again_meanwhile_comes_from_one_of_them_alone() -> None:
    with index() as engine:
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


def test_the_checkpoint_is_begun_again_only_by_who_has_read_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with index() as engine:
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


def test_a_checkpoint_is_written_in_place_of_the_one_that_was_read() -> None:
    with index() as engine:
        one, other = GroupCheckpoint.read(engine), GroupCheckpoint.read(engine)
        other.joined = {"near": 3}
        other.save(engine)
        other.save(engine)
        with pytest.raises(Conflict):
            one.save(engine)
        assert joined(engine) == 3
        assert set(engine.get_record("groups", KEY)) >= {"done", "joined", "policy"}
        assert "state" not in engine.get_record("groups", KEY)
