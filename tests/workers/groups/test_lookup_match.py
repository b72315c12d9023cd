"""Documents are matched with the settled leads that look-ups find, as with all leads in one pass."""

from collections.abc import Iterator

import pytest

from ibidem_dedupe.overrides import DocumentRef, Override, Overrides
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import POLICY
from ibidem_engines.stored_groups import Assignment, ShardRef
from ibidem_workers.groups.settle import Join, Row, Rules, Settler, make_row
from workers.groups.test_follower import OTHER, write
from workers.groups.test_service import index, stored
from workers.groups.test_settle import named, part_of_words

PART = ShardRef("news")


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Leads `a`, which `b` and its copies duplicate, `x`, and a document without words; then new documents."""
    with index() as engine:
        write(engine, a=part_of_words(0), x=OTHER, c=part_of_words(44), e="")
        write(engine, b=part_of_words(22), y=f"{OTHER} more", n="nothing like the others", f="", z=f"{OTHER} more")
        yield engine


def rows(engine: Engine, names: str) -> list[Row]:
    return [make_row(each) for each in named(engine, names)]


def rows_of(engine: Engine, *names: str) -> list[Row]:
    return [make_row(each) for each in stored(engine) if each.name.id in names]


def joins(
    engine: Engine, names: str, end: int = 4, words: tuple[Override, ...] = (), joined: str = ""
) -> dict[str, str]:
    settler = Settler(engine.groups(), Rules(POLICY, Overrides(words)), {name_of(each) for each in joined})
    return joins_of(settler.look_up(rows(engine, names), {PART: end}))


def name_of(name: str) -> DocumentRef:
    return "news", name


def joins_of(joins: list[Join]) -> dict[str, str]:
    return {join.name[1]: join.lead[1] for join in joins}


@pytest.mark.parametrize(
    ("end", "joined", "expected"),
    [
        (4, "", {"b": "a", "y": "x", "z": "x"}),
        (2, "", {"b": "a", "y": "x", "z": "x"}),
        (1, "", {"b": "a", "z": "y"}),
        (0, "", {"z": "y"}),
        (4, "a", {"b": "c", "y": "x", "z": "x"}),
        (4, "ac", {"y": "x", "z": "x"}),
        (4, "x", {"b": "a", "z": "y"}),
    ],
)
def test_each_document_joins_the_first_settled_lead_that_it_duplicates(
    engine: Engine, end: int, joined: str, expected: dict[str, str]
) -> None:
    assert joins(engine, "bynfz", end, joined=joined) == expected


@pytest.mark.parametrize(("end", "is_lead", "expected"), [(4, True, "x"), (1, True, ""), (4, False, "")])
def test_the_other_document_of_a_manual_decision_is_looked_up_by_name_if_it_is_a_settled_lead(
    engine: Engine, end: int, is_lead: bool, expected: str
) -> None:
    words = (Override(name_of("n"), name_of("x"), "same"), Override(name_of("b"), name_of("a"), "not"))
    if not is_lead:
        (document,) = named(engine, "x")
        engine.groups().assign([Assignment(document, "another", lead=False)])
    found = joins(engine, "nb", end, words)
    assert found.get("n", "") == expected
    assert found.get("b", "") == ("c" if end == 4 else "")


def test_a_part_of_which_nothing_is_settled_has_no_leads_and_is_not_asked_for_any(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(engine.groups()), "with_value", lambda *_: pytest.fail("a look-up"))
    assert joins(engine, "bnf", 0) == {}
    assert joins(engine, "f") == {}


@pytest.mark.parametrize("policy", [POLICY, POLICY.at("identical")])
def test_copies_of_a_lead_are_found_by_their_content_alone(engine: Engine, policy: Policy) -> None:
    write(engine, copy=part_of_words(0))
    settler = Settler(engine.groups(), Rules(policy, Overrides()))
    found = settler.look_up([*rows(engine, "b"), *rows_of(engine, "copy")], {PART: 4})
    assert joins_of(found) == ({"copy": "a", "b": "a"} if policy == POLICY else {"copy": "a"})
    assert {join.level for join in found if join.name == name_of("copy")} == {"identical"}
