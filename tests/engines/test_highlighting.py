"""Passages that are cut and marked by ourselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.engine import HIGHLIGHT
from ibidem_engines.query import Phrase, parse_query
from ibidem_engines.words import PASSAGE_CHARACTERS, mark, passage, searched_phrases

FILLING = "Lorem ipsum dolor sit amet. " * 40


def cut(text: str, *phrases: str) -> str:
    return mark_words(passage(text, [Phrase(phrase) for phrase in phrases]))


def mark_words(text: str) -> str:
    return text.replace(HIGHLIGHT[0], "[").replace(HIGHLIGHT[1], "]")


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [
        ("The duty on Grain.", ["grain"], "The duty on [Grain]."),
        ("Grain and grains, grain-fed", ["grain"], "[Grain] and grains, [grain]-fed"),
        ("The export  duty; export: duty", ["export duty"], "The [export duty]; [export: duty]"),
        ("Au CAFÉ, au cafe\u0301", ["cafe"], "Au [CAFÉ], au [cafe]\u0301"),
        ("We don't know", ["don't"], "We [don't] know"),
        ("one two three", ["one two", "two three"], "[one two] three"),
        ("one two", ["one", "one two"], "[one] two"),
        ("ΟΔΟΣ и Ёж ß İstanbul", ["ёж"], "ΟΔΟΣ и [Ёж] ß İstanbul"),
        ("東京 grain", ["東京"], "[東京] grain"),
        ("(a+b)* .x", ["a+b"], "([a+b])* .x"),
        ("nothing here", ["grain"], "nothing here"),
        ("  text \n with\fgaps  ", ["grain"], "text with gaps"),
        ("", ["grain"], ""),
        ("grain", [], "grain"),
        ("grain", ["***"], "grain"),
        (f"a {HIGHLIGHT[0]}false{HIGHLIGHT[1]} grain", ["grain"], "a false [grain]"),
    ],
)
def test_the_words_of_a_query_are_marked(text: str, phrases: list[str], expected: str) -> None:
    assert cut(text, *phrases) == expected


def test_the_passage_begins_with_the_sentence_in_which_the_word_is() -> None:
    assert cut(f"{FILLING}The duty on grain was raised. {FILLING}", "grain").startswith("…The duty on [grain] was")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=600),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=3),
)
def test_a_passage_is_a_part_of_the_text_with_marks_in_pairs(text: str, phrases: list[str]) -> None:
    clean = text.replace(HIGHLIGHT[0], "").replace(HIGHLIGHT[1], "")
    excerpt = passage(clean, [Phrase(phrase) for phrase in phrases])
    assert excerpt.count(HIGHLIGHT[0]) == excerpt.count(HIGHLIGHT[1])
    bare = excerpt.replace(HIGHLIGHT[0], "").replace(HIGHLIGHT[1], "")
    assert bare.removeprefix("…").removesuffix("…").strip() in " ".join(clean.split())
    assert len(bare) <= PASSAGE_CHARACTERS + 2


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        ("the court of appeal", ["court", "appeal"]),
        ("the", ["the"]),
        ('"court of appeal"', ["court of appeal"]),
        ('"appeal the court"~3', ["court", "appeal"]),
        ("of*", ["of"]),
    ],
)
def test_stop_words_are_marked_only_where_they_are_all_that_was_asked_for(typed: str, marked: list[str]) -> None:
    text = mark("the court of appeal", searched_phrases(parse_query(typed)))
    assert [part.partition(HIGHLIGHT[1])[0] for part in text.split(HIGHLIGHT[0])[1:]] == marked
