"""One portion: what changes between reading and writing is settled as it is then, and counted once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from unittest.mock import patch

import pytest

from ibidem_dedupe.overrides import DocumentRef, Override, Overrides
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import POLICY
from ibidem_engines.sqlite.engine import SqliteGroups
from ibidem_engines.stored_groups import Assignment, GroupedDocument, Marks, Name, ShardRef, StoredGroups
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import Join, Row, Rules, Settler, make_row, promote
from simulation.memory_cluster import MemoryCluster
from simulation.memory_engine import opened
from support.signed_records import make_record
from workers.groups.test_follower import OTHER, TEXT, before_a_write, followers, joined, write
from workers.groups.test_service import check, groups, index, named, plain, stored


@pytest.mark.parametrize(
    ("more", "meanwhile", "expected"),
    [
        ({}, {"b": f"{TEXT} again"}, {"a": "a", "b": "a"}),
        ({}, {"b": OTHER}, {"a": "a", "b": "b"}),
        ({"c": f"{TEXT} again"}, {"c": OTHER}, {"a": "a", "b": "a", "c": "c"}),
    ],
)
def test_a_document_that_changes_between_reading_and_writing_joins_and_counts_once(
    engine: Engine, more: dict[str, str], meanwhile: dict[str, str], expected: dict[str, str]
) -> None:
    write(engine, a=TEXT, b=f"{TEXT} more", **more)
    with before_a_write(engine, lambda: write(engine, 2, **meanwhile)):
        Follower(engine).catch_up()
    assert groups(engine) == expected
    assert joined(engine) == followers(engine)


def test_a_join_that_is_written_twice_since_its_answer_was_lost_counts_once(engine: Engine) -> None:
    write(engine, a=TEXT, b=f"{TEXT} more")
    kind = type(engine.groups())
    assign = kind.assign
    with patch.object(kind, "assign", lambda self, changes: [assign(self, changes) for _ in range(2)][1]):
        Follower(engine).catch_up()
    assert groups(engine) == {"a": "a", "b": "a"}
    assert joined(engine) == 1


DISTANT = " ".join(f"distant{at}" for at in range(90))


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a cluster, no write counts as a deletion, after which groups without a lead are looked for."""
    monkeypatch.setattr(SqliteGroups, "deletions", lambda _: 0)


@pytest.mark.usefixtures("uncounted")
@pytest.mark.parametrize(
    ("lead", "heir", "expected"),
    [
        (OTHER, OTHER, {"a": "b", "b": "b", "c": "c", "d": "c"}),  # its group is split: the first follower has its name
        (f"{DISTANT} more", OTHER, {"x": "x", "a": "x", "b": "b", "c": "c"}),  # it joins another
    ],
)
def test_where_the_next_lead_changes_while_the_lead_leaves_its_group_the_rest_of_it_gets_a_lead(
    engine: Engine, lead: str, heir: str, expected: dict[str, str]
) -> None:
    texts = {"x": DISTANT, "a": TEXT, "b": f"{TEXT} more", "c": f"{TEXT} again", "d": f"{TEXT} on"}
    write(engine, **{name: texts[name] for name in "xabcd" if name in expected})
    Follower(engine).catch_up()
    write(engine, 2, a=lead)
    with before_a_write(engine, lambda: write(engine, 3, b=heir)):
        Follower(engine).catch_up()
    check(engine)
    assert groups(engine) == expected


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


@pytest.mark.parametrize("change", ["none", "joins another", "is deleted"])
def test_what_was_found_to_join_a_lead_joins_it_only_while_it_leads(engine: Engine, change: str) -> None:
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


def settle(engine: Engine) -> None:
    """Two groups of three documents."""
    texts = {"a": TEXT, "b": f"{TEXT} more", "c": f"{TEXT} again", "x": OTHER, "y": f"{OTHER} more", "z": f"{OTHER} on"}
    write(engine, **texts)
    Follower(engine).catch_up()


def test_the_first_member_leads_a_group_whose_lead_was_deleted_and_no_other_group_changes(engine: Engine) -> None:
    settle(engine)
    rest = [each for each in stored(engine) if each.name.id in "xyz"]
    engine.delete(["a"], 2)
    assert promote(engine.groups())
    assert groups(engine) == {"b": "b", "c": "b", "x": "x", "y": "x", "z": "x"}
    assert [each for each in stored(engine) if each.name.id in "xyz"] == rest


@pytest.mark.parametrize("position", [1, 2])
def test_an_heir_that_could_not_be_written_is_told_wherever_it_is_among_the_groups(
    engine: Engine, position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(("end", "is_lead", "expected"), [(3, True, "x"), (1, True, ""), (3, False, "")])
def test_the_other_document_of_a_manual_decision_is_looked_up_by_name_if_it_is_a_settled_lead(
    engine: Engine, end: int, is_lead: bool, expected: str
) -> None:
    write(engine, a=part_of_words(0), x=OTHER, c=part_of_words(44), b=part_of_words(22), n="nothing like the others")
    pairs = (("n", "x", "same"), ("b", "a", "not"))
    words = [Override(("news", one), ("news", other), verdict) for one, other, verdict in pairs]
    if not is_lead:
        engine.groups().assign([Assignment(*named(engine, "x"), "another", lead=False)])
    settler = Settler(engine.groups(), Rules(POLICY, Overrides(words)))
    joins = settler.look_up([make_row(each) for each in named(engine, "nb")], {ShardRef("news"): end})
    found = {join.name[1]: join.lead[1] for join in joins}
    assert (found.get("n", ""), found.get("b", "")) == (expected, "c" if end == 3 else "")


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
    engine: Engine, leads: str, portion: str, moved: str
) -> None:
    names = {"G": "a group", "H": "another", "": ""}
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
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [("z", "b", 8), ("z", "a", 9), ("a", "a", 1), ("made since", "a", 0)]
    leads = [GroupedDocument(Name(*name), b"", "a group", lead=True, state=(1, 0)) for name in names]
    monkeypatch.setattr(SqliteGroups, "parts", lambda _: [ShardRef("z"), ShardRef("z", 1), ShardRef("a")])
    settler = settler_of(engine)
    for (at, one), (place, other) in permutations(enumerate(leads), 2):
        assert settler._displaced_leads([one], {"a group": [other]}) == ([one] if place < at else [])


@pytest.mark.parametrize("policy", [POLICY, POLICY.at("identical")])
def test_copies_of_a_lead_are_found_by_their_content_alone(engine: Engine, policy: Policy) -> None:
    write(engine, a=part_of_words(0), b=part_of_words(22), copy=part_of_words(0))
    rows = [make_row(each) for each in named(engine, ("b", "copy"))]
    joins = Settler(engine.groups(), Rules(policy, Overrides())).look_up(rows, {ShardRef("news"): 1})
    near = {("b", "a", "near")} if policy == POLICY else set()
    assert {(join.name[1], join.lead[1], join.level) for join in joins} == {("copy", "a", "identical"), *near}
