"""One portion: what changes between reading and writing is settled as it is then, and counted once."""

import pytest

from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.sqlite.engine import SqliteGroups
from ibidem_engines.stored_groups import Assignment
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.settle import Join, Rules, Settler, promote
from simulation.memory_cluster import MemoryCluster
from simulation.memory_engine import opened
from workers.groups.test_follower import before_a_write, decide, followers, joined
from workers.groups.test_service import OTHER, TEXT, check, groups, index, named, plain, write


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


def test_the_followers_of_each_rewritten_lead_of_a_portion_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a cluster, no write counts as a deletion, after which groups without a lead are looked for.
    monkeypatch.setattr(SqliteGroups, "deletions", lambda _: 0)
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


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("many", [1, 10_000])
def test_of_several_leads_of_a_group_the_first_keeps_it_and_each_other_starts_one_of_its_own(
    engine: Engine, many: int, size: int
) -> None:
    write(engine, a=TEXT, b=OTHER, c=" ".join(f"third{at}" for at in range(90)))
    engine.groups().assign([Assignment(each, "a group", lead=True) for each in named(engine, "abc")])
    Follower(engine, size=size, min_new=many).catch_up()
    check(engine)
    assert named(engine, "a")[0].group == "a group"


def test_the_other_document_of_a_manual_decision_is_looked_up_by_its_name(engine: Engine) -> None:
    write(engine, a=TEXT)
    decide(engine, "same")
    Follower(engine).catch_up()
    write(engine, b=OTHER)
    Follower(engine, min_new=10_000).step()
    assert groups(engine) == {"a": "a", "b": "a"}


def test_an_heir_that_could_not_be_written_is_told(engine: Engine) -> None:
    write(engine, a=TEXT, b=f"{TEXT} more")
    Follower(engine).catch_up()
    engine.delete(["a"], 2)
    with before_a_write(engine, lambda: write(engine, 3, b=OTHER)):
        assert not promote(engine.groups())
    assert promote(engine.groups())


def test_what_was_found_to_join_a_lead_joins_it_only_while_it_leads(engine: Engine) -> None:
    write(engine, x=OTHER, a=TEXT, b=f"{TEXT} more")
    other, lead, document = named(engine, "xab")
    engine.groups().assign([Assignment(lead, other.group, lead=False)])
    join = Join(("news", "b"), ("news", "a"), "near")
    settler = Settler(engine.groups(), Rules(Policy(), Overrides()))
    settler.settle([document], engine.groups().newest(), lambda _: None, lambda *_: [join])
    assert named(engine, "b")[0].lead
