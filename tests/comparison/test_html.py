"""A text cut into linked passages is still the whole text, and every link leads somewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.compare import Comparison, compare
from ibidem.comparison.html import PagedText, Part, mark_texts, parts
from ibidem_ingest.document import Document
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE

SENTENCES = [f"{sentence}." for sentence in LEASE.split(". ")]
TEXTS = st.lists(st.sampled_from([*SENTENCES, "\f", "\n\n", "* * *", "other words"]), max_size=12).map(" ".join)


def linked(comparison: Comparison) -> tuple[list[Part], list[Part]]:
    marks = mark_texts(comparison)
    return (
        list(parts(PagedText.read(comparison.a.text), *marks)),
        list(parts(PagedText.read(comparison.b.text), *marks[::-1])),
    )


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


def test_a_null_byte_is_refused_with_its_place(tables: Tables) -> None:
    with pytest.raises(IbidemError, match="document 'a', field 'text': a null byte at character 1"):
        compare(Document("a", "a\x00b"), Document("b", LEASE), tables)


def test_only_the_words_that_differ_are_marked(tables: Tables) -> None:
    comparison = compare(Document("a", LEASE), Document("b", LEASE.replace("London", "York")), tables)
    left, right = linked(comparison)
    assert [seq_range.text for part in left for seq_range in part.stretches if seq_range.differs] == ["London"]
    assert [seq_range.text for part in right for seq_range in part.stretches if seq_range.differs] == ["York"]


def test_pages_begin_where_their_number_is() -> None:
    text = PagedText.read("one\f\fthree")
    assert [(each.page, each.text) for each in text.stretches(0, 10)] == [(1, "one"), (2, ""), (3, "three")]
    assert [(each.page, each.text) for each in text.stretches(1, 3)] == [(0, "ne")]
