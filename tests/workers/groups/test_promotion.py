"""Groups whose lead is gone: the first remaining member leads such a group, under its name."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Assignment, StoredGroups
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import promote
from support.signed_records import make_record
from workers.groups.test_follower import OTHER, TEXT, write
from workers.groups.test_service import groups, index, stored


def settle(engine: Engine) -> None:
    """Two groups of three documents."""
    texts = {"a": TEXT, "b": f"{TEXT} more", "c": f"{TEXT} again", "x": OTHER, "y": f"{OTHER} more", "z": f"{OTHER} on"}
    write(engine, **texts)
    Follower(engine).catch_up()


def test_the_first_member_leads_a_group_whose_lead_was_deleted_and_no_other_group_changes() -> None:
    with index() as engine:
        settle(engine)
        rest = [each for each in stored(engine) if each.name.id in "xyz"]
        engine.delete(["a"], 2)
        assert promote(engine.groups())
        assert groups(engine) == {"b": "b", "c": "b", "x": "x", "y": "x", "z": "x"}
        assert [each for each in stored(engine) if each.name.id in "xyz"] == rest


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
