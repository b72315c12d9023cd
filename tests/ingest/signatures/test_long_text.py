"""Signatures of long texts: which texts have them, and how they are stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document, read_record
from ibidem_ingest.signatures.long_text import MIN_TOKENS, LongSignatures, sign_long
from ibidem_ingest.text.tokens import tokens

WORDS = [f"{a}{b}{c}{d}" for a in "bdfgk" for b in "aeiou" for c in "lmnpr" for d in ("ate", "ing", "ous", "ly")]
LONG = np.random.default_rng(3).permutation(WORDS * 6).tolist()


def book(pages: int, words: int = 300) -> Document:
    start = (" ".join(LONG[(at * 37) % 900 : (at * 37) % 900 + words]) for at in range(pages))
    return read_record({"id": "book", "pages": list(start)}, "a test")


def test_a_text_has_them_with_two_pages_or_a_thousand_tokens() -> None:
    assert sign_long(Document("a", " ".join(LONG[:2] * MIN_TOKENS))) is not None
    assert sign_long(Document("a", " ".join(LONG[: MIN_TOKENS - 1]))) is None
    assert sign_long(Document("a", f"{LONG[0]}\f\f\f*")) is None
    paged = sign_long(Document("a", f"{LONG[0]}\f\f\f{LONG[1]}"))
    assert paged is not None
    assert (paged.parts, paged.tokens.tolist()) == ("pages", [1, 0, 0, 1])


def test_a_word_broken_over_a_page_break_is_on_the_page_where_it_begins() -> None:
    long_signatures = sign_long(Document("a", "the defen-\fdant was there\fand so on"))
    assert long_signatures is not None
    assert long_signatures.tokens.tolist() == [2, 2, 3]


def test_parts_and_unique_words_are_those_of_the_whole_text() -> None:
    document = book(7)
    long_signatures = sign_long(document)
    assert long_signatures is not None
    assert int(long_signatures.tokens.sum()) == len(tokens(document.text))
    assert long_signatures.part_of_word.size == long_signatures.words.words.size


@pytest.mark.parametrize("document", [book(5), Document("a", " ".join(LONG)), Document("a", "ab " * 3_000)])
def test_a_stored_value_is_read_as_it_was(document: Document) -> None:
    long_signatures = sign_long(document)
    assert long_signatures is not None
    read = LongSignatures.decode(long_signatures.encode())
    assert read is not None
    assert read.encode() == long_signatures.encode()
    assert (read.parts, len(read)) == (long_signatures.parts, len(long_signatures))
    assert read.clues() == long_signatures.clues()


@given(st.binary(max_size=200), st.integers(0, 180))
def test_a_damaged_value_is_none_and_never_an_error(noise: bytes, cut: int) -> None:
    long_signatures = sign_long(book(2, 60))
    assert long_signatures is not None
    value = long_signatures.encode()
    assert LongSignatures.decode(noise) is None
    assert LongSignatures.decode(value[:cut]) is None
    assert LongSignatures.decode(value + b"\0") is None


def test_values_to_look_up_are_distinct_and_those_of_an_empty_book_none() -> None:
    long_signatures, empty = sign_long(book(30)), sign_long(Document("a", "one\f" + "\f" * 4_998 + "two"))
    assert long_signatures is not None
    assert empty is not None
    for values in long_signatures.clues().values():
        assert sorted(set(values)) == values
    assert empty.clues() == {}
