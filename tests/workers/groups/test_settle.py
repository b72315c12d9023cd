"""One portion: what changes between reading and writing is settled as it is then, and counted once."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from unittest.mock import patch

import pytest

from ibidem_dedupe.overrides import DocumentRef, Overrides
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import POLICY
from ibidem_engines.sqlite.engine import SqliteGroups
from ibidem_engines.stored_groups import Assignment, GroupedDocument, Marks, Name, ShardRef
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import Join, Row, Rules, Settler, split_group
from simulation.memory_cluster import MemoryCluster
from simulation.memory_engine import opened
from workers.groups.test_follower import OTHER, TEXT, before_a_write, followers, joined, write
from workers.groups.test_service import check, groups, index, plain, stored


def test_a_document_that_changes_between_reading_and_writing_joins_and_counts_once() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        with before_a_write(engine, lambda: write(engine, 2, b=f"{TEXT} again")):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a"}
        assert joined(engine) == followers(engine) == 1


def test_a_document_that_leaves_the_text_that_it_was_to_join_for_is_not_counted() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        with before_a_write(engine, lambda: write(engine, 2, b=OTHER)):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "b"}
        assert joined(engine) == 0


def test_of_several_joins_those_that_could_be_written_are_counted() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again")
        with before_a_write(engine, lambda: write(engine, 2, c=OTHER)):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a", "c": "c"}
        assert joined(engine) == followers(engine) == 1


def test_a_join_that_is_written_twice_since_its_answer_was_lost_counts_once() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more")
        kind = type(engine.groups())
        assign = kind.assign
        with patch.object(kind, "assign", lambda self, changes: [assign(self, changes) for _ in range(2)][1]):
            Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a"}
        assert joined(engine) == 1


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a cluster, no write counts as a deletion, after which groups without a lead are looked for."""
    monkeypatch.setattr(SqliteGroups, "deletions", lambda _: 0)


@pytest.mark.usefixtures("uncounted")
def test_where_the_next_lead_changes_while_a_group_is_split_the_rest_of_it_gets_a_lead() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again", d=f"{TEXT} on")
        Follower(engine).catch_up()
        write(engine, 2, a=OTHER)  # its followers keep the group's name under the first of them
        with before_a_write(engine, lambda: write(engine, 3, b=OTHER)):
            Follower(engine).catch_up()
        check(engine)
        assert groups(engine) == {"a": "b", "b": "b", "c": "c", "d": "c"}


@pytest.mark.usefixtures("uncounted")
def test_where_the_next_lead_changes_while_a_lead_joins_another_the_rest_of_its_group_gets_a_lead() -> None:
    with index() as engine:
        write(engine, x=OTHER, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again")
        Follower(engine).catch_up()
        write(engine, 2, a=f"{OTHER} more")
        with before_a_write(engine, lambda: write(engine, 3, b=" ".join(f"third{at}" for at in range(90)))):
            Follower(engine).catch_up()
        check(engine)
        assert groups(engine) == {"x": "x", "a": "x", "b": "b", "c": "c"}


@pytest.mark.usefixtures("uncounted")
def test_the_followers_of_each_rewritten_lead_of_a_portion_are_looked_at() -> None:
    third, fourth = (" ".join(f"{stem}{at}" for at in range(90)) for stem in ("third", "fourth"))
    with index() as engine:
        write(engine, p=third, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again", x=OTHER, y=f"{OTHER} more", z=f"{OTHER} on")
        Follower(engine).catch_up()
        for name, text in (("p", f"{third} more"), ("a", third), ("x", fourth)):  # alone, joins it, stays a lead
            write(engine, 2, **{name: text})
        Follower(engine).catch_up()
        check(engine)
        assert groups(engine) == {"p": "p", "a": "p", "b": "b", "c": "b", "x": "x", "y": "y", "z": "y"}


def part_of_words(start: int) -> str:
    """A text whose like begins 22 words later, and not 44."""
    return " ".join(f"word{at}" for at in range(start, start + 90))


@pytest.mark.parametrize("order", ["abc", "abac", "abcd", "bac"])
def test_a_document_that_joined_is_no_lead_though_searches_show_it_as_one(order: str) -> None:
    texts = {"a": part_of_words(0), "b": part_of_words(22), "c": part_of_words(44), "d": f"{part_of_words(44)} more"}
    engine = opened(MemoryCluster(), "news")  # its searches show what was written when they were last refreshed
    engine.create()
    for number, name in enumerate(order):
        write(engine, **{f"{number}{name}": texts[name]})
    Follower(engine, size=1).catch_up()
    assert groups(engine) == plain(engine)


def test_a_lead_that_was_given_a_group_of_its_own_is_joined_only_once_searches_show_it() -> None:
    engine = opened(MemoryCluster(), "news")
    engine.create()
    write(engine, a=OTHER, b=TEXT)
    engine.groups().assign([Assignment(each, "a group", lead=True) for each in named(engine, "ab")])
    write(engine, c=f"{TEXT} more")
    Follower(engine, size=1).catch_up()
    check(engine)
    assert groups(engine) == {"a": "a", "b": "c", "c": "c"}


def settler_of(engine: Engine) -> Settler:
    return Settler(engine.groups(), Rules(POLICY, Overrides()))


def marks_of(engine: Engine) -> Marks:
    return engine.groups().newest()


def named(engine: Engine, names: str) -> list[GroupedDocument]:
    found = {each.name.id: each for each in stored(engine)}
    return [found[name] for name in names]


@pytest.mark.parametrize("change", ["none", "joins another", "is deleted"])
def test_what_was_found_to_join_a_lead_joins_it_only_while_it_leads(change: str) -> None:
    with index() as engine:
        write(engine, x=OTHER, a=TEXT, b=f"{TEXT} more")
        other, lead, document = named(engine, "xab")
        if change == "joins another":
            engine.groups().assign([Assignment(lead, other.group, lead=False)])
        elif change == "is deleted":
            engine.delete(["a"], 2)
        marks, join = marks_of(engine), Join(("news", "b"), ("news", "a"), "near")
        joins = settler_of(engine).settle([document], marks, lambda _: None, lambda *_: [join])
        (after,) = named(engine, "b")
        assert (after.lead, joins) == ((False, {"near": 1}) if change == "none" else (True, {}))
        assert after.group == (lead.group if change == "none" else document.group)


@pytest.mark.parametrize(
    ("leads", "portion", "moved"),
    [
        ("aG bG", "ab", "b"),
        ("bG aG", "ba", "a"),
        ("aG bG", "b", "b"),
        ("bG aG", "b", ""),
        ("bG aG", "a", "a"),
        ("aG bG", "a", ""),
        ("a", "a", "a"),
        ("aG bH", "ab", ""),
        ("aG bG cG", "abc", "bc"),
        ("aG cH bG", "acb", "b"),
        ("aG b cG", "abc", "bc"),
    ],
)
def test_of_several_leads_of_a_group_the_first_keeps_it_and_each_other_starts_one_of_its_own(
    leads: str, portion: str, moved: str
) -> None:
    names = {"G": "a group", "H": "another", "": ""}
    with index() as engine:
        write(engine, a=TEXT, b=OTHER, c=" ".join(f"third{at}" for at in range(90)))
        for name, group in ((each[0], each[1:]) for each in leads.split()):
            engine.groups().assign([Assignment(*named(engine, name), names[group], lead=True)])
        before = {each.name.id: each for each in stored(engine)}
        matched: list[str] = []
        planned: list[DocumentRef] = []

        def match(rows: Sequence[Row], _: Marks) -> list[Join]:
            matched.extend(row.name[1] for row in rows)
            return []

        joins = settler_of(engine).settle([before[name] for name in portion], {}, planned.extend, match)
        assert (joins, [name for _, name in planned]) == (Counter(), list(moved))
        assert matched == [name for name in portion if name not in moved]
        after = {each.name.id: each for each in stored(engine)}
        assert all(each.lead for each in after.values())
        assert all((after[name].group == each.group) == (name not in moved) for name, each in before.items())
        assert len({after[name].group for name in moved}) == len(moved)


def test_of_leads_of_a_group_in_several_indexes_that_of_the_earliest_index_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [("z", "b", 8), ("z", "a", 9), ("a", "a", 1), ("made since", "a", 0)]
    leads = [GroupedDocument(Name(*name), b"", "a group", lead=True, state=(1, 0)) for name in names]
    with index() as engine:
        monkeypatch.setattr(SqliteGroups, "parts", lambda _: [ShardRef("z"), ShardRef("z", 1), ShardRef("a")])
        settler = settler_of(engine)
        for (at, one), (place, other) in permutations(enumerate(leads), 2):
            assert settler._displaced_leads([one], {"a group": [other]}) == ([one] if place < at else [])


def test_when_a_group_parts_its_name_stays_with_the_larger_part_and_each_part_has_one_lead() -> None:
    group = "a group"
    for stay, leave in ((stay, leave) for stay in range(4) for leave in range(7)):
        stayers, leavers = [f"s{at}" for at in range(stay)], [f"l{at}" for at in range(leave)]
        documents = {
            name: GroupedDocument(Name("news", name, at), b"", group, name == "lead", (at, 0))
            for at, name in enumerate(["lead", *stayers, *leavers])
        }
        changes = split_group(
            documents["lead"], [documents[name] for name in stayers], [documents[name] for name in leavers]
        )
        after = {name: (each.group, each.lead) for name, each in documents.items()}
        after |= {each.document.name.id: (each.group, each.lead) for each in changes}
        if leave <= stay + 1:
            assert all(after[name] == (group, name == "lead") for name in ["lead", *stayers])
            assert all(after[name][1] for name in leavers)
            assert len({group, *(after[name][0] for name in leavers)}) == leave + 1
        else:
            own = after["lead"][0]
            assert own != group
            assert all(after[name] == (own, name == "lead") for name in ["lead", *stayers])
            assert all(after[name] == (group, name == "l0") for name in leavers)
        settled = {each.document.name.id for each in changes}
        assert settled.isdisjoint(stayers if leave <= stay + 1 else leavers[1:])
