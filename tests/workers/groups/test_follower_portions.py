"""New documents are settled in portions, by the way that fits their number, and progress is noted as it goes on."""

from unittest.mock import patch

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_ingest.kernel import loops
from ibidem_workers.groups import follower as module
from ibidem_workers.groups.follower import Follower
from workers.groups.test_follower import OTHER, TEXT, decide, write
from workers.groups.test_service import groups, index, plain, regroup, stored
from workers.groups.test_settle import named


def write_many(engine: Engine, count: int = 7) -> None:
    """Texts of which each third one is much like the first."""
    others = {at: " ".join(f"text{at}word{word}" for word in range(90)) for at in range(count) if at % 3}
    write(engine, **{f"d{at}": f"{others.get(at, TEXT)} {at}" for at in range(count)})


@pytest.mark.parametrize("many", [1, 10_000])
def test_groups_are_the_same_without_compiled_loops(many: int) -> None:
    with index() as engine, patch.object(loops, "IN_USE", None):
        write_many(engine)
        Follower(engine, size=2, min_new=many).catch_up()
        assert groups(engine) == plain(engine)
        regroup(engine, everything=True)
        assert groups(engine) == plain(engine)


def test_a_follower_stops_before_the_next_portion_and_another_goes_on_from_there() -> None:
    with index() as engine:
        write_many(engine)
        looked = list[int]()
        Follower(engine, looked.append, 2, stop=lambda: len(looked) == 2).catch_up()
        checkpoint = GroupCheckpoint.read(engine)
        assert (looked, checkpoint.done, checkpoint.seen) == ([2, 2], {"news/0": 4}, {})
        Follower(engine, looked.append, 2).catch_up()
        assert (looked, GroupCheckpoint.read(engine).seen) == ([2, 2, 2, 1], {"news/0": 7})
        assert groups(engine) == plain(engine)


@pytest.mark.parametrize("calls", [1, 2])
def test_what_is_read_is_given_up_whenever_another_takes_the_lease(calls: int) -> None:
    with index() as engine:
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


def test_documents_of_an_index_that_was_made_again_under_its_name_are_all_settled() -> None:
    with index() as engine:
        write_many(engine)
        checkpoint = GroupCheckpoint.read(engine)
        checkpoint.done = checkpoint.seen = {"news/0": 8}
        checkpoint.save(engine)
        looked = list[int]()
        assert Follower(engine, looked.append).catch_up().done == {"news/0": 7}
        write(engine, new=OTHER)
        Follower(engine, looked.append).catch_up()
        assert looked == [7, 1]


def test_a_decision_that_could_not_be_followed_at_once_is_followed_by_the_next_step() -> None:
    with index() as engine:
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


def test_what_another_had_in_hand_stays_so_until_it_could_be_written_again() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=OTHER)
        Follower(engine).catch_up()
        checkpoint, read = GroupCheckpoint.read(engine), named(engine, "b")
        checkpoint.plan([("news", "b")])
        checkpoint.save(engine)
        write(engine, 2, b=f"{TEXT} more")
        with patch.object(type(engine.groups()), "read", lambda *_: read):
            assert Follower(engine).step()
        assert GroupCheckpoint.read(engine).in_hand == [("news", "b")]
        assert Follower(engine).catch_up().in_hand == []
        assert groups(engine) == plain(engine) == {"a": "a", "b": "a"}


def test_progress_is_noted_after_some_portions_though_none_of_them_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFRESH", 2)
    with index() as engine:
        write_many(engine)
        noted: list[int] = []

        def stop() -> bool:
            noted.append(GroupCheckpoint.read(engine).done.get("news/0", 0))
            return False

        Follower(engine, size=1, stop=stop).step()
        assert noted[:7] == [0, 0, 2, 2, 4, 4, 6]
