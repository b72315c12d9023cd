"""The shapes of tokens: which are terms, which hold a digit, how many characters they have.

The distinct tokens of each document, with first places and counts.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.terms import TermGroups, TokenShapes, first_and_count, has_digit, is_term
from ibidem_ingest.text.tokens import TokenBatch, kind, tokens
from ibidem_ingest.text.word_hash import wh1

# ruff: noqa: RUF001 - characters that look like others are what is tested


text = st.text(st.sampled_from("abz019 éßजा\u0301漢ไ٣๓𝒜ж"), max_size=80)


def naive(token: str) -> tuple[int, bool, bool]:
    categories = [unicodedata.category(character) for character in token]
    digit = "Nd" in categories
    single = chr(kind(token[0])) in "Ss"
    letters = sum(category[0] == "L" for category in categories)
    return len(token), letters >= 3 and not digit and not single, digit


@given(st.lists(text, max_size=5))
@example(["a" * 70 + "1", "é" * 40, "b" * 63 + "9", "c" * 200])
def test_shapes_are_as_the_definition_says(texts: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(texts)
    shapes = TokenShapes.classify(batch.buffer, batch.starts, batch.ends)
    columns = zip(shapes.characters.tolist(), shapes.is_term.tolist(), shapes.has_digit.tolist(), strict=True)
    several = [batch.token(place) for place in range(batch.starts.size)]
    assert list(columns) == [naive(token) for token in several]
    assert [(len(token), is_term(token), has_digit(token)) for token in several] == [naive(token) for token in several]


@pytest.mark.parametrize("digit", "0123456789٣५")
def test_every_digit_in_every_place_is_seen(digit: str) -> None:
    several = ["/x:y`z{|"[:place].replace("/", "a") + digit + "abc" for place in range(8)]
    batch = TokenBatch.tokenize([token.replace(":", "b").replace("`", "c").replace("{", "d") for token in several])
    assert TokenShapes.classify(batch.buffer, batch.starts, batch.ends).has_digit.all()


def test_a_selection_of_tokens_may_be_looked_at() -> None:
    batch = TokenBatch.tokenize(["twelve 12 fédération"])
    documents = np.array([2, 1])
    shapes = TokenShapes.classify(batch.buffer, batch.starts[documents], batch.ends[documents])
    assert shapes.characters.tolist() == [10, 2]


texts = st.lists(st.lists(st.sampled_from(["a", "b", "the", "12", "é"]), max_size=12).map(" ".join), max_size=6)


@given(texts)
def test_groups_are_the_distinct_tokens_of_each_document(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    groups = TermGroups.group(batch)
    words = [groups.vocabulary.word(number).decode() for number in groups.word]
    assert len(set(words)) == groups.vocabulary.hashes.size
    assert groups.vocabulary.hashes.take(groups.word).tolist() == [wh1(word) for word in words]
    for document, text in enumerate(several):
        expected = {word: (tokens(text).index(word), count) for word, count in Counter(tokens(text)).items()}
        assert first_and_count(tokens(text)) == expected
        assert {
            words[group]: (int(groups.first[group] - batch.offsets[document]), int(groups.count[group]))
            for group in np.flatnonzero(groups.document == document)
        } == expected
