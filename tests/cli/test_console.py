"""Texts of documents are shown on one line, harmless, with the words of the query marked.

Results go to standard output, messages to standard error, and JSON is one document.

The help of the dedupe options is that of the table of parameters.
"""

import re
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from ibidem.cli.console import Indented, results, sanitize
from ibidem_dedupe.parameters import PARAMETERS
from support.command_line import Run


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    assert sanitize(text).isprintable() or not sanitize(text)


def test_markup_in_a_text_is_text(capsys) -> None:
    results().print("[bold]5 U.S.C.[/bold] :smile: 'quoted' 123")
    assert capsys.readouterr().out == "[bold]5 U.S.C.[/bold] :smile: 'quoted' 123\n"


def test_every_parameter_can_be_asked_for_and_its_help_lists_the_values(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    help_text = " ".join(run("search", "--help")[1].split())
    for name, parameter in PARAMETERS.items():
        assert f"--{name.removeprefix('dedupe_').replace('_', '-')}" in help_text
        assert re.sub(r"\s+", " ", parameter.about) in help_text
        assert f"(default: {parameter.default})" in help_text or name == "dedupe_explain"


def printed(entry: Indented, width: int = 40) -> list[str]:
    paper = StringIO()
    Console(file=paper, width=width).print(entry)
    return paper.getvalue().splitlines()


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=30), st.integers(0, 12))
def test_every_line_is_under_the_first_and_no_word_is_lost(words: list[str], columns: int) -> None:
    lines = printed(Indented(Text(" ".join(words)), columns))
    assert all(line.startswith(" " * columns) and line == line.rstrip() and len(line) <= 40 for line in lines)
    assert " ".join(lines).split() == words
