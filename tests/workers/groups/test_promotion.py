"""Groups whose lead is gone: the first remaining member leads such a group, under its name."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Assignment, StoredGroups
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import promote, promote_in
from support.signed_records import make_record
from workers.groups.test_service import groups, index, stored

TEXT = " ".join(f"word{at}" for at in range(90))
OTHER = " ".join(f"other{at}" for at in range(90))


def settle(engine: Engine) -> None:
    """Two groups of three documents."""
    texts = {"a": TEXT, "b": f"{TEXT} more", "c": f"{TEXT} again", "x": OTHER, "y": f"{OTHER} more", "z": f"{OTHER} on"}
    engine.write([make_record(name, text, 1) for name, text in texts.items()])
    Follower(engine).catch_up()


def test_the_first_member_leads_a_group_whose_lead_was_deleted_and_no_other_group_changes() -> None:
    with index() as engine:
        settle(engine)
        rest = [each for each in stored(engine) if each.name.id in "xyz"]
        engine.delete(["a"], 2)
        assert promote(engine.groups())
        assert groups(engine) == {"b": "b", "c": "b", "x": "x", "y": "x", "z": "x"}
        assert [each for each in stored(engine) if each.name.id in "xyz"] == rest


def test_of_some_groups_those_without_a_lead_get_one_and_the_rest_of_the_index_is_left() -> None:
    with index() as engine:
        settle(engine)
        names = {each.name.id: each.group for each in stored(engine)}
        engine.delete(["a", "x"], 2)
        assert promote_in(engine.groups(), [names["a"], "no group"])
        assert [each.name.id for each in stored(engine) if each.lead] == ["b"]


def test_an_heir_that_is_written_meanwhile_is_told_and_looked_for_again() -> None:
    with index() as engine:
        settle(engine)
        engine.delete(["a"], 2)
        store = engine.groups()
        promoted = [each for each in stored(engine) if each.name.id == "b"]
        engine.write([make_record("b", OTHER, 3)])
        store.members = lambda *_, lead=None: iter([] if lead else [promoted])  # type: ignore[method-assign]
        assert not promote_in(store, [promoted[0].group])
        assert promote(engine.groups())
        assert groups(engine)["c"] == "c"


@pytest.mark.parametrize("position", [1, 2])
def test_an_heir_that_could_not_be_written_is_told_wherever_it_is_among_the_groups(
    position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with index() as engine:
        settle(engine)
        engine.delete(["a", "x"], 2)
        kind = type(engine.groups())
        assign, sizes, calls = kind.assign, kind.sizes, list[str]()

        def late(self: StoredGroups, changes: Sequence[Assignment]) -> list[bool]:
            calls.extend(each.document.name.id for each in changes)
            if len(calls) == position:
                engine.write([make_record(calls[-1], OTHER, 3)])
            return assign(self, changes)  # type: ignore[arg-type] # handed on as it came

        def one_by_one(self: StoredGroups) -> Iterator[Mapping[str, int]]:
            return sizes(self, 1)  # type: ignore[arg-type] # handed on as it came

        monkeypatch.setattr(kind, "assign", late)
        monkeypatch.setattr(kind, "sizes", one_by_one)
        assert not promote(engine.groups())
        assert sorted(calls) == ["b", "y"]
        assert promote(engine.groups())
