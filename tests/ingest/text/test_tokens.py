"""Kinds of characters: pinned at Unicode 14.0, and what newer Pythons know does not change them.

Words broken at the end of a line or page are joined, and nothing else is.
"""

import re
import unicodedata
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text.tokens import (
    OTHER,
    UNASSIGNED,
    WIDEST,
    character_kinds,
    code_points,
    join_broken_words,
    kind,
    kinds,
    normal_length,
)

# ruff: noqa: RUF001 - characters that look like others are what is tested


CHANGED_SINCE = {0x295: "Lo"}  # letters whose category Unicode moved after 14.0


def read_category(kind: int) -> str:
    return {"l": "Ll", "L": "L", "S": "L", "M": "M", "D": "Nd", "s": "Nd"}.get(chr(kind), "")


def test_the_pinned_kinds_are_the_categories_that_this_python_knows() -> None:
    differing = {
        point: category
        for point, pinned in enumerate(kinds().tolist())
        if pinned not in (UNASSIGNED, OTHER)
        and not (category := unicodedata.category(chr(point))).startswith(read_category(pinned))
    }
    assert differing.items() <= CHANGED_SINCE.items()


def test_what_separates_is_no_letter_mark_or_digit() -> None:
    categories = {unicodedata.category(chr(point)) for point, pinned in enumerate(kinds().tolist()) if pinned == OTHER}
    assert not {category for category in categories if category[0] in "LM" or category == "Nd"}


def test_this_python_normalises_all_known_characters_as_the_first_one_did() -> None:
    digest = sha256()
    for point, pinned in enumerate(kinds().tolist()):
        if pinned != UNASSIGNED:
            letters = unicodedata.normalize("NFKC", chr(point)).lower()
            digest.update(unicodedata.normalize("NFKC", letters).encode("utf-8", "surrogatepass") + b"\n")
    assert digest.hexdigest() == "a704358dc87d6871176b8a01492f6ff88d67c527254509cc8b8a6366bef51967"


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        ("日々ひカーไทລາខမြ", "SSSSSSSSSSSM"),
        ("٣๓५Ⅳ½", "DsD--"),
        ("\u0378\ud800", "??"),
        ("한국어", "LLL"),
    ],
)
def test_kinds_of_scripts(characters: str, expected: str) -> None:
    assert character_kinds(characters).decode() == expected
    assert [chr(kind(character)) for character in characters] == list(expected)


def test_code_points_of_a_lone_surrogate_are_read() -> None:
    assert code_points("a\udfff𝒜").tolist() == [0x61, 0xDFFF, 0x1D49C]


def test_no_character_stands_for_more_than_the_widest() -> None:
    assert (
        max(normal_length(chr(point)) for point in (0x41, 0xFB01, 0x3300, 0xFDFA)) == WIDEST == normal_length("\ufdfa")
    )


texts = st.text(st.sampled_from("aB1é\u0301-\u2010¬\u00ad \t\r\n\f."), max_size=30)


def naive(text: str) -> str:
    """From the definition: find each break from left to right, then move the page breaks behind their words."""
    out = ""
    at = 0
    while at < len(text):
        space = re.compile(r"[ \t]*(\r?\n[ \t]*)?\f[ \t]*(\r?\n[ \t]*)?|[ \t]*\r?\n[ \t]*").match(text, at + 1)
        hyphen = text[at]
        previous = text[:at].rstrip("\u0301")[-1:]
        lower = previous and space and text[space.end() : space.end() + 1]
        soft = hyphen in "\u00ad\u2223"
        hard = (
            hyphen in "-\u2010\u2011¬"
            and lower
            and all(unicodedata.category(letter) == "Ll" for letter in (previous, text[space.end()]))
        )
        if space and (soft or hard):
            out += "\x00" * space[0].count("\f")
            at = space.end()
        else:
            out += hyphen
            at += 1
    while moved := re.search("\x00+([^\\W_]|[\u0301])", out):
        out = out[: moved.start()] + moved[1] + moved[0][:-1] + out[moved.end() :]
    return out.replace("\x00", "\f")


@given(texts)
def test_joining_is_as_the_definition_says(text: str) -> None:
    assert join_broken_words(text) == naive(text)


@given(texts)
def test_a_text_keeps_its_number_of_pages(text: str) -> None:
    assert join_broken_words(text).count("\f") == text.count("\f")


@pytest.mark.parametrize(
    ("text", "text_joined"),
    [
        ("appel-\nlant", "appellant"),
        ("appel- \t\r\n  lant", "appellant"),
        ("appel\u2010\nlant appel¬\nlee", "appellant appellee"),
        ("appel\u00ad\nLANT", "appelLANT"),
        ("re\u00adspond\u00ad\nent", "re\u00adspondent"),
        ("cafe\u0301-\nteria", "cafe\u0301teria"),
        ("Anglo-\nSaxon", "Anglo-\nSaxon"),
        ("1987-\n88", "1987-\n88"),
        ("well-known - and\n- so on -\n", "well-known - and\n- so on -\n"),
        ("con-\n\nstitution", "con-\n\nstitution"),
    ],
)
def test_a_hyphen_goes_only_where_one_word_goes_on(text: str, text_joined: str) -> None:
    assert join_broken_words(text) == text_joined


@pytest.mark.parametrize(
    ("pages", "text_joined"),
    [
        ("the hol-\fding was", "the holding\f was"),
        ("the hol-\n\f\nding was", "the holding\f was"),
        ("a-\fb-\fc d", "abc\f\f d"),
        ("hy-\fphen-\nated word", "hyphenated\f word"),
        ("end-\fless", "endless\f"),
        ("one\ftwo", "one\ftwo"),
        ("x\u00ad\f, y", "x\f, y"),
    ],
)
def test_a_word_over_a_page_break_belongs_to_the_first_page(pages: str, text_joined: str) -> None:
    assert join_broken_words(pages) == text_joined


def test_a_text_without_broken_words_is_handed_back_itself() -> None:
    text = "no word is broken here - none"
    assert join_broken_words(text) is text
