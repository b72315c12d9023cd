"""Indented text keeps its indent where it wraps, and leaves no blanks behind."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from ibidem.cli.console import Indented


def printed(entry: Indented, width: int = 40) -> list[str]:
    paper = StringIO()
    Console(file=paper, width=width).print(entry)
    return paper.getvalue().splitlines()


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=30), st.integers(0, 12))
def test_every_line_is_under_the_first_and_no_word_is_lost(words: list[str], columns: int) -> None:
    lines = printed(Indented(Text(" ".join(words)), columns))
    assert all(line.startswith(" " * columns) and line == line.rstrip() and len(line) <= 40 for line in lines)
    assert " ".join(lines).split() == words


def test_a_head_is_left_of_the_first_line_only() -> None:
    assert printed(Indented(Text("one two three four five six seven"), 4, " 1"), 24) == [
        " 1  one two three four",
        "    five six seven",
    ]


def test_a_text_that_must_not_wrap_is_cut() -> None:
    (line,) = printed(Indented(Text("word " * 30, no_wrap=True, overflow="ellipsis"), 4))
    assert line.endswith("…")


@pytest.mark.parametrize("width", [1, 5, 10])
def test_an_absurdly_narrow_terminal_is_survived(width: int) -> None:
    assert printed(Indented(Text("one two three"), 8), width)
