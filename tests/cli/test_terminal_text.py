"""Texts of documents are shown on one line, harmless, with the words of the query marked."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem.cli.terminal_text import CLOSE, OPEN, format_difference, highlight, sanitize
from ibidem.comparison.word_diff import word_diff


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    assert sanitize(text).isprintable() or not sanitize(text)


def test_an_escape_sequence_in_a_title_is_shown_without_its_escape() -> None:
    assert highlight("\x1b[31mred\x07", styled=True).plain == "[31mred"


def test_words_of_the_query_carry_a_style_on_a_terminal_and_asterisks_elsewhere() -> None:
    passage = f"a breach of\n{OPEN}warranty{CLOSE}, and {OPEN}warranties{CLOSE}."
    assert highlight(passage, styled=True).plain == "a breach of warranty, and warranties."
    assert [span.style for span in highlight(passage, styled=True).spans] == ["word", "word"]
    assert highlight(passage, styled=False).plain == "a breach of *warranty*, and *warranties*."


def test_a_difference_reads_from_the_lead_to_the_duplicate() -> None:
    line = format_difference(word_diff("profit of 12 mln in March", "profit of 13 mln net"))
    assert line.plain == "profit of [12 → 13] mln [in March → net]"


def test_words_in_one_text_only_carry_a_sign() -> None:
    assert format_difference(word_diff("it is so", "it is not so")).plain == "it is [+ not] so"
    assert format_difference(word_diff("it is not so", "it is so")).plain == "it is [- not] so"
