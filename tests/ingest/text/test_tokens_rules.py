"""`tok3`: the tokens of a text, plain and in batches, are those of the definition."""

# ruff: noqa: RUF001 - characters that look like others are what is tested

import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.tokens import UNASSIGNED, TokenBatch, join_broken_words, kind, sparse_nonzero, tokens
from ibidem_ingest.text.word_hash import wh1

SCRIPTS = (
    "aZ9 .,-\n\f\tàÉß\u0301\u0345ΣσςİıſKÅﬁ½²™…’“漢字々ひらカﾞーไทยกำລາວភាမြန်한국어द्वाराعَرَبШ\u00ad\u0378𝒜𝟗\U0003ffff"
)
mixed = st.text(st.one_of(st.sampled_from(SCRIPTS), st.characters()), max_size=60)
ascii_text = st.text(st.characters(max_codepoint=127), max_size=60)
latin = st.text(st.characters(max_codepoint=0x24F, exclude_characters="İ"), max_size=60)


def naive(text: str) -> list[str]:
    """From the definition, a character at a time."""
    text = join_broken_words(text)
    text = "".join(" " if kind(character) == UNASSIGNED else character for character in text)
    text = fold(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()))
    words: list[str] = []
    inside = alone = False
    for character in text:
        major, single = unicodedata.category(character), chr(kind(character)) in "Ss"
        if major[0] == "L" or major == "Nd":
            if inside and not single and not alone:
                words[-1] += character
            else:
                words.append(character)
            inside, alone = True, single
        elif major[0] == "M" and inside:
            words[-1] += character
        else:
            inside = alone = False
    return words


@given(mixed)
@example("ΑΣ ΑΣΑ")
@example("e\u0301-\nx")
def test_tokens_are_as_the_definition_says(text: str) -> None:
    assert tokens(text) == naive(text)


@given(st.lists(st.one_of(mixed, ascii_text, latin), max_size=6))
@example(["", "", "a"])
@example(["bro-", "ken"])
@example(["bro-\nken", "", "x- y", "whole"])
def test_a_batch_holds_the_tokens_of_each_text(texts: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(texts)
    bounds = batch.offsets.tolist()
    assert len(batch) == len(texts)
    assert batch.lengths.tolist() == [len(tokens(text)) for text in texts]
    for document, text in enumerate(texts):
        places = range(bounds[document], bounds[document + 1])
        assert [batch.token(place) for place in places] == tokens(text)
        assert [int(batch.hashes[place]) for place in places] == [wh1(token) for token in tokens(text)]
        assert all(batch.documents[place] == document for place in places)
    assert batch.join_tokens() == [" ".join(tokens(text)).encode() for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc12 12abc", ["abc12", "12abc"]),
        ("द्वारा عَرَبيّ", ["द्वारा", "عربي"]),
        ("2024年法律", ["2024", "年", "法", "律"]),
        ("กำ ภาษา", ["ก\u0e4d", "า", "ภ", "า", "ษ", "า"]),
        ("カーABCひら", ["カ", "ー", "abc", "ひ", "ら"]),
        ("ﬁnding №5 ½ x²", ["finding", "no5", "1", "2", "x2"]),
        ("\u0301abc", ["abc"]),
        ("O’Brien’s §12(b)", ["o", "brien", "s", "12", "b"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("one\ftwo", ["one", "two"]),
        ("", []),
        (" \n\f…—", []),
        ("a\ud800b\x00c", ["a", "b", "c"]),
    ],
)
def test_tokens_of_scripts_and_signs(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected
    batch = TokenBatch.tokenize([text, "ascii"])
    assert [batch.token(place) for place in range(len(expected))] == expected


def test_characters_unknown_to_unicode_14_separate() -> None:
    nag_mundari_letter = "\U0001e4d0"  # of Unicode 15
    assert tokens(f"a{nag_mundari_letter}b") == ["a", "b"]


def test_no_text_at_all_is_a_batch_of_none() -> None:
    batch = TokenBatch.tokenize([])
    assert len(batch) == 0
    assert batch.join_tokens() == []


def test_a_broken_word_is_joined_in_every_text_of_a_batch() -> None:
    texts = [f"begin{'x' * pad} appel-\nlant end" for pad in range(20)]
    assert [text.split()[1] for text in TokenBatch.tokenize(texts).join_tokens()] == [b"appellant"] * 20


@given(st.lists(st.booleans(), max_size=40))
def test_sparse_nonzero_is_flatnonzero(flags: list[bool]) -> None:
    array = np.array(flags, bool)
    assert sparse_nonzero(array).tolist() == np.flatnonzero(array).tolist()
