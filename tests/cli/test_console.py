"""Texts of documents are shown on one line, harmless, with the words of the query marked.

Results go to standard output, messages to standard error, and JSON is one document.

The help of the dedupe options is that of the table of parameters.
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.cli.console import CLOSE, OPEN, format_difference, highlight, messages, print_json, results, sanitize
from ibidem.comparison.word_diff import word_diff
from ibidem_dedupe.parameters import PARAMETERS
from support.command_line import Run


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


def test_results_and_messages_are_kept_apart(capsys) -> None:
    results().print("a result")
    messages().print("a message")
    assert capsys.readouterr() == ("a result\n", "a message\n")


def test_markup_in_a_text_is_text(capsys) -> None:
    results().print("[bold]5 U.S.C.[/bold] :smile: 'quoted' 123")
    assert capsys.readouterr().out == "[bold]5 U.S.C.[/bold] :smile: 'quoted' 123\n"


@pytest.mark.parametrize("answer", [{"text": "Zürich 東京"}, {"sizes": {2: 5}}, {}])
def test_json_is_one_document_in_utf_8(answer: dict[str, object], capsys) -> None:
    print_json(answer)
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads(json.dumps(answer))
    assert "\\u" not in printed


def test_a_closed_pipe_is_left_to_the_edge() -> None:
    with pytest.raises(BrokenPipeError):
        results().on_broken_pipe()


def test_every_parameter_can_be_asked_for_and_its_help_lists_the_values(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    help_text = " ".join(run("search", "--help")[1].split())
    for name, parameter in PARAMETERS.items():
        assert f"--{name.removeprefix('dedupe_').replace('_', '-')}" in help_text
        assert re.sub(r"\s+", " ", parameter.about) in help_text
        assert f"(default: {parameter.default})" in help_text or name == "dedupe_explain"
