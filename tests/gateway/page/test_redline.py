"""A redline shows what was removed, added and moved, and loses nothing of either text."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.comparison.compare import Comparison, compare
from ibidem_dedupe.policy import Policy
from ibidem_gateway.page.comparison import PagedText, Part, Redline, mark_texts, parts, redline, stay
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE


def linked(comparison: Comparison) -> tuple[list[Part], list[Part]]:
    marks = mark_texts(comparison)
    return (
        list(parts(PagedText.read(comparison.a.text), *marks)),
        list(parts(PagedText.read(comparison.b.text), *marks[::-1])),
    )


def lines_of(a: str, b: str, tables: Tables) -> Redline:
    return redline(*linked(compare(Document("a", a), Document("b", b), tables, Policy(level="partial"))))


def runs(lines: Redline, side: str, kind: str) -> list[str]:
    return [run.text.strip() for row in lines.rows for run in getattr(row, side) if run.kind == kind]


RENT = "The tenant shall pay the rent on the first day of every month without any deduction\n"
ROOF = "The landlord keeps roof and drains of that house in good order at his own cost\n"
DOGS = "Neither dogs nor other animals may live here unless somebody consents\n"
HEAT = "Heating runs from October until April by means of one old boiler\n"


def test_what_was_removed_and_added_stands_in_its_column(tables: Tables) -> None:
    lines = lines_of(RENT + DOGS + ROOF, RENT.replace("first", "third") + HEAT + ROOF, tables)
    assert runs(lines, "a", "changed") == ["first", DOGS.strip()]
    assert runs(lines, "b", "changed") == ["third", HEAT.strip()]
    assert (lines.differences, lines.moved) == (2, 0)


def test_a_passage_in_another_place_was_moved_and_the_longer_one_stays(tables: Tables) -> None:
    lines = lines_of(ROOF + RENT + DOGS, RENT + DOGS + ROOF, tables)
    assert runs(lines, "a", "moved") == runs(lines, "b", "moved") == [ROOF.strip()]
    assert not runs(lines, "a", "changed") + runs(lines, "b", "changed")


def test_equal_texts_have_no_difference(tables: Tables) -> None:
    assert lines_of(RENT + ROOF, RENT + ROOF, tables).differences == 0


def test_paragraphs_of_both_texts_stand_side_by_side(tables: Tables) -> None:
    lines = lines_of(RENT + ROOF, RENT + ROOF.replace("drains", "gutters"), tables)
    assert [row.differs for row in lines.rows] == [False, True, False]


def test_a_passage_that_is_there_again_further_down_takes_no_other_from_its_place(tables: Tables) -> None:
    b = ROOF + ROOF + RENT + ROOF + RENT + DOGS
    lines = lines_of(RENT + RENT + ROOF + ROOF + ROOF + DOGS, b, tables)
    assert "".join(run.text for row in lines.rows for run in row.b) == b


@given(st.lists(st.sampled_from([RENT, ROOF, DOGS, HEAT, "rent\n", "; "]), max_size=7), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_column_holds_the_whole_of_its_text(tables: Tables, sentences: list[str], data: st.DataObject) -> None:
    a, b = "".join(sentences) or "x", "".join(data.draw(st.permutations(sentences))) or "x"
    lines = lines_of(a, b, tables)
    for side, text in (("a", a), ("b", b)):
        shown = "".join(run.text for row in lines.rows for run in getattr(row, side) if run.kind != "page")
        assert shown == text


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 9)), max_size=12, unique_by=lambda each: each[0]))
def test_what_stays_ascends_and_is_the_heaviest(passages: list[tuple[int, int]]) -> None:
    weights = dict(passages)
    best: dict[int, int] = {}
    for number, weight in passages:
        best[number] = weight + max((total for end, total in best.items() if end < number), default=0)
    kept = stay(passages)
    assert kept == sorted(kept)
    assert sum(weights[number] for number in kept) == max(best.values(), default=0)


SENTENCES = [f"{sentence}." for sentence in LEASE.split(". ")]
TEXTS = st.lists(st.sampled_from([*SENTENCES, "\f", "\n\n", "* * *", "other words"]), max_size=12).map(" ".join)


def write_parts(parts: list[Part]) -> str:
    return "".join("\f" * (seq_range.page > 1) + seq_range.text for part in parts for seq_range in part.stretches)


@given(TEXTS, TEXTS)
def test_nothing_of_the_texts_is_lost_and_nothing_comes_twice(tables: Tables, a: str, b: str) -> None:
    left, right = linked(compare(Document("a", a), Document("b", b), tables))
    assert (write_parts(left), write_parts(right)) == (a, b)


@given(TEXTS, TEXTS)
def test_each_passage_is_listed_once_and_links_to_one_in_the_other_text(tables: Tables, a: str, b: str) -> None:
    sides = linked(compare(Document("a", a), Document("b", b), tables))
    ids = [[part.passage for part in side if part.passage] for side in sides]
    for id_, other, side in zip(ids, ids[::-1], sides, strict=True):
        assert len(set(id_)) == len(id_)
        assert {part.target for part in side if part.passage} <= set(other)


def test_only_the_words_that_differ_are_marked(tables: Tables) -> None:
    comparison = compare(Document("a", LEASE), Document("b", LEASE.replace("London", "York")), tables)
    left, right = linked(comparison)
    assert [seq_range.text for part in left for seq_range in part.stretches if seq_range.differs] == ["London"]
    assert [seq_range.text for part in right for seq_range in part.stretches if seq_range.differs] == ["York"]


def test_pages_begin_where_their_number_is() -> None:
    text = PagedText.read("one\f\fthree")
    assert [(each.page, each.text) for each in text.stretches(0, 10)] == [(1, "one"), (2, ""), (3, "three")]
    assert [(each.page, each.text) for each in text.stretches(1, 3)] == [(0, "ne")]
