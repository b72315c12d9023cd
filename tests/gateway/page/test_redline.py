"""A redline shows what was removed, added and moved, and loses nothing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.comparison.compare import Comparison, compare
from ibidem_dedupe.policy import Policy
from ibidem_gateway.page.comparison import ComparedPair, Part, Redline, mark_texts, parts, redline
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE


def linked(comparison: Comparison) -> tuple[list[Part], list[Part]]:
    marks = mark_texts(comparison)
    return list(parts(comparison.a.text, *marks)), list(parts(comparison.b.text, *marks[::-1]))


def lines_of(a: str, b: str, tables: Tables) -> Redline:
    return redline(*linked(compare(Document("a", a), Document("b", b), tables, Policy(level="partial"))))


def runs_redline(lines: Redline, side: str, kind: str) -> list[str]:
    return [run.text.strip() for row in lines.rows for run in getattr(row, side) if run.kind == kind]


RENT = "The tenant shall pay the rent on the first day of every month without any deduction\n"
ROOF = "The landlord keeps roof and drains of that house in good order at his own cost\n"
DOGS = "Neither dogs nor other animals may live here unless somebody consents\n"
HEAT = "Heating runs_redline from October until April by means of one old boiler\n"


def test_a_passage_in_another_place_was_moved_and_the_longer_one_stays(tables: Tables) -> None:
    lines = lines_of(ROOF + RENT + DOGS, RENT + DOGS + ROOF, tables)
    assert runs_redline(lines, "a", "moved") == runs_redline(lines, "b", "moved") == [ROOF.strip()]
    assert not runs_redline(lines, "a", "changed") + runs_redline(lines, "b", "changed")


@given(st.lists(st.sampled_from([RENT, ROOF, DOGS, HEAT, "rent\n", "; "]), max_size=7), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_column_holds_the_whole_of_its_text(tables: Tables, sentences: list[str], data: st.DataObject) -> None:
    a, b = "".join(sentences) or "x", "".join(data.draw(st.permutations(sentences))) or "x"
    lines = lines_of(a, b, tables)
    for side, text in (("a", a), ("b", b)):
        shown = "".join(run.text for row in lines.rows for run in getattr(row, side) if run.kind != "page")
        assert shown == text


SENTENCES = [f"{sentence}." for sentence in LEASE.split(". ")]
TEXTS = st.lists(st.sampled_from([*SENTENCES, "\f", "\n\n", "* * *", "other words"]), max_size=12).map(" ".join)


@given(TEXTS, TEXTS)
def test_each_passage_is_listed_once_and_links_to_one_in_the_other_text(tables: Tables, a: str, b: str) -> None:
    sides = linked(compare(Document("a", a), Document("b", b), tables))
    runs = [[run for part in side for run in part.runs] for side in sides]
    shown = [["\f" * (run.text != "1") if run.kind == "page" else run.text for run in each] for each in runs]
    assert ["".join(each) for each in shown] == [a, b]  # nothing is lost, and nothing comes twice
    ids = [[part.passage for part in side if part.passage] for side in sides]
    for id_, other, side in zip(ids, ids[::-1], sides, strict=True):
        assert len(set(id_)) == len(id_)
        assert {part.target for part in side if part.passage} <= set(other)


def test_a_page_tells_what_the_two_are_and_how_much_they_share(tables: Tables) -> None:
    page = ComparedPair.build(compare(Document("a", LEASE), Document("b", LEASE), tables))
    assert page.verdict == "identical: the same words in the same order"
    assert page.summary == f"They share {len(LEASE.split())} words in 1 passage."
    assert [side.share for side in page.sides] == ["100 % of it is in B", "100 % of it is in A"]


@pytest.mark.parametrize("text", ["", "* * *", "entirely other words"])
def test_texts_that_share_nothing_have_a_page_too(tables: Tables, text: str) -> None:
    page = ComparedPair.build(compare(Document("a", text), Document("b", LEASE), tables))
    assert page.summary == "They share no passage of eight words."
