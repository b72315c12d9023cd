"""Words know their page; a text without pages has parts."""

import pytest

from ibidem.comparison.word_places import PART, PageNumbers, token_offsets
from ibidem.grouped_search.explanations import page_range


def test_words_are_on_the_page_behind_the_last_break_before_them() -> None:
    text = "one two\fthree\f\ffour"
    numbers = PageNumbers.read(text, token_offsets(text))
    assert (numbers.count, numbers.of_word.tolist(), numbers.name) == (4, [0, 0, 1, 3], "page")
    assert numbers.label(0, 3) == page_range("page", 1, 4)


def test_a_text_without_breaks_is_cut_into_parts_of_equal_length() -> None:
    text = "word " * (PART + 1)
    numbers = PageNumbers.read(text, token_offsets(text))
    assert (numbers.count, numbers.name, numbers.label(PART, PART)) == (2, "part", "part 2")


@pytest.mark.parametrize("text", ["", "* * *", "a few words"])
def test_a_short_text_is_one_part_that_needs_no_name(text: str) -> None:
    numbers = PageNumbers.read(text, token_offsets(text))
    assert numbers.count == 1
    assert numbers.label(0, 0) == ""
