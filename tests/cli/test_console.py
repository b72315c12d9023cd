"""Results go to standard output, messages to standard error, and JSON is one document."""

import json

import pytest

from ibidem.cli.console import messages, print_json, results


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
