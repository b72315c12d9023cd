"""The shapes of tokens: which are terms, which hold a digit, how many characters they have."""

# ruff: noqa: RUF001 - characters that look like others are what is tested

import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.token_classes import TokenShapes, has_digit, is_term
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.unicode_kinds import kind

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
    batch = TokenBatch.of(texts)
    shapes = TokenShapes.of(batch.buffer, batch.starts, batch.ends, batch.leading)
    found = zip(shapes.characters.tolist(), shapes.is_term.tolist(), shapes.has_digit.tolist(), strict=True)
    several = [batch.token(place) for place in range(batch.starts.size)]
    assert list(found) == [naive(token) for token in several]
    assert [(len(token), is_term(token), has_digit(token)) for token in several] == [naive(token) for token in several]


@pytest.mark.parametrize("digit", "0123456789٣५")
def test_every_digit_in_every_place_is_seen(digit: str) -> None:
    several = ["/x:y`z{|"[:place].replace("/", "a") + digit + "abc" for place in range(8)]
    batch = TokenBatch.of([token.replace(":", "b").replace("`", "c").replace("{", "d") for token in several])
    assert TokenShapes.of(batch.buffer, batch.starts, batch.ends, batch.leading).has_digit.all()


def test_a_selection_of_tokens_may_be_looked_at() -> None:
    batch = TokenBatch.of(["twelve 12 fédération"])
    chosen = np.array([2, 1])
    shapes = TokenShapes.of(batch.buffer, batch.starts[chosen], batch.ends[chosen], batch.leading[chosen])
    assert shapes.characters.tolist() == [10, 2]
