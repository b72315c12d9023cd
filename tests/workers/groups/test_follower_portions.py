"""New documents are settled in portions, by the way that fits their number, and progress is noted as it goes on."""

from unittest.mock import patch

import pytest

from ibidem_core.errors import NoIndex, Unavailable
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import Conflict, GroupCheckpoint
from ibidem_engines.sqlite.engine import SqliteEngine
from ibidem_engines.stored_groups import StoredGroups
from ibidem_ingest.kernel import loops
from ibidem_workers.groups import follower as module
from ibidem_workers.groups.follower import Follower, decided_names, override_hashes, revisit
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


@pytest.mark.parametrize("many", [1, 10_000])
def test_what_is_found_while_another_took_the_lease_is_given_up(many: int) -> None:
    with index() as engine:
        write_many(engine)
        before, looked = stored(engine), list[int]()
        Follower(engine, looked.append, 2, stop=lambda: True, is_lost=lambda: True, min_new=many).step()
        assert (stored(engine), looked) == (before, [])


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


@pytest.mark.parametrize("error", [NoIndex("no index", ""), Unavailable("no answer", ""), Conflict()])
@pytest.mark.parametrize("changed", ["parts", "uuids", ""])
def test_a_step_that_failed_is_taken_again_only_where_an_index_or_the_checkpoint_has_changed(
    error: Exception, changed: str
) -> None:
    with index() as engine:
        write_many(engine)
        failed: list[str] = []
        stored_groups = SqliteEngine.groups

        def fail(*_: object) -> None:
            if not failed:
                failed.append("once")
                raise error

        def store_of(engine: SqliteEngine) -> StoredGroups:
            store = stored_groups(engine)
            if failed and changed:
                setattr(store, changed, object)
            return store

        class Places:
            def __init__(self, *_: object) -> None:
                """Place nothing."""

            add = place = fail

        with patch.object(module, "hook", lambda _: Places), patch.object(SqliteEngine, "groups", store_of):
            if changed or isinstance(error, Conflict):
                assert Follower(engine).step()
            else:
                with pytest.raises(type(error)):
                    Follower(engine).step()
        Follower(engine).catch_up()
        assert groups(engine) == plain(engine)


def test_documents_that_are_looked_at_again_are_new_leads_and_followers_leave_their_group_first() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again", x=OTHER)
        Follower(engine).catch_up()
        before = {each.name.id: each for each in stored(engine)}
        assert revisit(engine.groups(), [("news", name) for name in ("b", "a", "b", "gone")])
        after = {each.name.id: each for each in stored(engine)}
        assert (after["c"], after["x"]) == (before["c"], before["x"])
        assert (after["a"].group, after["a"].lead) == (before["a"].group, True)
        assert after["b"].lead
        assert after["b"].group != before["b"].group
        assert min(after["a"].name.order, after["b"].name.order) > before["x"].name.order
        assert revisit(engine.groups(), [("news", "gone")])
        assert revisit(engine.groups(), [])


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_document_that_changed_before_it_could_be_looked_at_again_is_told(name: str) -> None:
    with index() as engine:
        write(engine, a=TEXT, b=OTHER)
        store, read = engine.groups(), named(engine, "ab")
        write(engine, 2, **{name: f"{TEXT} more"})
        with patch.object(type(store), "read", lambda *_: read):
            assert not revisit(store, [("news", "a"), ("news", "b")])


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ('[["news","a"],["news","b"]]', [("news", "a"), ("news", "b")]),
        ('[["news",1],["news","b"]]', [("news", "1"), ("news", "b")]),
        ("[]", []),
        ("{", []),
        ("7", []),
        ('[["news"]]', []),
        ('[["news","a"],7]', []),
    ],
)
def test_the_documents_of_a_decision_are_read_from_its_key_and_none_from_a_damaged_one(
    key: str, names: list[tuple[str, str]]
) -> None:
    assert decided_names(key) == names


def test_each_change_of_a_decision_changes_its_hash_and_that_of_no_other() -> None:
    words = [Override(("news", "a"), ("news", name), "same") for name in "bc"]
    hashes = override_hashes(words)
    changed = override_hashes([words[0], Override(("news", "a"), ("news", "c"), "not")])
    assert hashes.keys() == changed.keys() == {word.key for word in words}
    assert [hashes[word.key] == changed[word.key] for word in words] == [True, False]


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
