"""Words broken at the end of a line or page are joined, and nothing else is."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text.dehyphenation import join_broken_words

broken = st.text(st.sampled_from("aB1é\u0301-\u2010¬\u00ad \t\r\n\f."), max_size=30)


def naive(text: str) -> str:
    """From the definition: find each break from left to right, then move the page breaks behind their words."""
    out = ""
    at = 0
    while at < len(text):
        space = re.compile(r"[ \t]*(\r?\n[ \t]*)?\f[ \t]*(\r?\n[ \t]*)?|[ \t]*\r?\n[ \t]*").match(text, at + 1)
        hyphen = text[at]
        before = text[:at].rstrip("\u0301")[-1:]
        lower = before and space and text[space.end() : space.end() + 1]
        soft = hyphen in "\u00ad\u2223"
        hard = (
            hyphen in "-\u2010\u2011¬"
            and lower
            and all(unicodedata.category(letter) == "Ll" for letter in (before, text[space.end()]))
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


@given(broken)
def test_joining_is_as_the_definition_says(text: str) -> None:
    assert join_broken_words(text) == naive(text)


@given(broken)
def test_a_text_keeps_its_number_of_pages(text: str) -> None:
    assert join_broken_words(text).count("\f") == text.count("\f")


@pytest.mark.parametrize(
    ("text", "joined"),
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
def test_a_hyphen_goes_only_where_one_word_goes_on(text: str, joined: str) -> None:
    assert join_broken_words(text) == joined


@pytest.mark.parametrize(
    ("pages", "joined"),
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
def test_a_word_over_a_page_break_belongs_to_the_first_page(pages: str, joined: str) -> None:
    assert join_broken_words(pages) == joined


def test_a_text_without_broken_words_is_handed_back_itself() -> None:
    text = "no word is broken here - none"
    assert join_broken_words(text) is text
