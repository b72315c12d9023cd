"""Two documents side by side: what every signature says, and the text that they share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.compare import compare
from ibidem_ingest.document import Document
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE

TEXTS = st.lists(st.sampled_from(LEASE.split()), max_size=40).map(" ".join)


@given(a=TEXTS, b=TEXTS)
def test_a_comparison_is_the_same_in_both_directions(tables: Tables, a: str, b: str) -> None:
    comparison = compare(Document("a", a), Document("b", b), tables)
    back = compare(Document("b", b), Document("a", a), tables)
    assert comparison.evidence == back.evidence
    for name in ("minhash", "termvector", "content", "profile"):
        assert comparison.signals.get(name) == back.signals.get(name)


@given(text=TEXTS.filter(bool))
def test_a_text_is_identical_with_itself_and_shares_all_of_it(tables: Tables, text: str) -> None:
    comparison = compare(Document("a", text), Document("b", text), tables)
    assert comparison.evidence is not None
    assert comparison.evidence.level == "identical"
    assert comparison.signals["overlap"] == {"a": 1.0, "b": 1.0}


def test_texts_that_share_nothing_have_no_level_and_no_passage(tables: Tables) -> None:
    comparison = compare(Document("a", LEASE), Document("b", "An entirely different matter was decided."), tables)
    assert comparison.as_json()["level"] is None
    assert comparison.shared == ()


def test_of_a_text_without_words_only_the_lengths_are_reported(tables: Tables) -> None:
    comparison = compare(Document("a", "* * *"), Document("b", LEASE), tables)
    assert set(comparison.signals) == {"length", "overlap"}


def test_an_excerpt_is_found_whole_in_the_longer_text(tables: Tables) -> None:
    sentence = LEASE.split(". ")[2]
    comparison = compare(Document("a", sentence), Document("b", LEASE), tables)
    assert comparison.signals["overlap"]["a"] == 1.0
    (region,) = comparison.shared
    assert LEASE[slice(*region.b)] == sentence


def test_dates_are_compared_where_both_have_one(tables: Tables) -> None:
    a, b = Document("a", LEASE, date="2001-05-01"), Document("b", LEASE, date="2001-05-04")
    assert compare(a, b, tables).signals["date"] == {"days_apart": 3}
    assert "date" not in compare(a, Document("c", LEASE), tables).signals


def test_a_null_byte_is_refused_with_its_place(tables: Tables) -> None:
    with pytest.raises(IbidemError, match="document 'a', field 'text': a null byte at character 1"):
        compare(Document("a", "a\x00b"), Document("b", LEASE), tables)


def test_fields_that_must_not_differ_keep_a_pair_apart(tables: Tables) -> None:
    a, b = Document("a", LEASE, meta={"docket": "1"}), Document("b", LEASE, meta={"docket": "2"})
    assert compare(a, b, tables).evidence is not None
    assert compare(a, b, tables, distinct=["meta.docket"]).evidence is None
