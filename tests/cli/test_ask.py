"""`ibidem tune --ask`: pairs are shown, keys are taken, and answers become labels, manual decisions and a preset."""

import io
import json
from pathlib import Path

import pytest

from ibidem.evaluation.answers import read_answers
from support.command_line import Answer, Run


@pytest.fixture(autouse=True)
def similar(run: Run) -> None:
    """Twelve leases in three wordings each, in the index."""
    lines = []
    for at in range(12):
        words = [f"clause{at}word{number}" for number in range(90)]
        for side, kept in (("a", 90), ("b", 80), ("c", 45)):
            text = [*words[:kept], *(f"{side}{at}other{number}" for number in range(90 - kept))]
            lines.append(json.dumps({"id": f"{at}{side}", "title": f"Lease {at}", "text": " ".join(text)}))
    Path("leases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("ingest", "leases.jsonl")[0] == 0


def type_keys(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(keys) + "\n"))


@pytest.mark.slow
def test_answers_become_labels_decisions_and_a_preset(
    run: Run, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_keys(monkeypatch, "ynxsy")
    code, out, shown = run("tune", "leases.jsonl", "answers.csv", "--ask", "3", "--save", "ours")
    assert code == 0
    assert "3 pairs judged, 3 answers" in out
    assert "Expected F1" in out
    assert "--preset ours" in out
    assert "Lease" in shown
    assert "→" in shown
    answers = read_answers(Path("answers.csv"), [f"{at}{side}" for at in range(12) for side in "abc"])
    assert sorted(answers.values()) == [False, True, True]
    words = answer("overrides", "list")["overrides"]
    assert sorted(each["verdict"] for each in words) == ["not", "same", "same"]
    assert answer("search", "clause0word1", "--preset", "ours")["dedupe"]["level"] == "near"


@pytest.mark.slow
def test_asking_goes_on_where_it_stopped(run: Run, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    type_keys(monkeypatch, "yq")
    assert run("tune", "leases.jsonl", "answers.csv", "--ask", "20")[0] == 0
    type_keys(monkeypatch, "n")
    output = answer("tune", "leases.jsonl", "answers.csv", "--ask", "20")
    assert (output["asked"], output["answers"], output["settled"]) == (1, 2, False)
    assert output["labels_alone"] == 0


@pytest.mark.slow
def test_labels_of_another_form_are_refused_and_nothing_changes(run: Run, answer: Answer) -> None:
    Path("labels.csv").write_text("id,cluster\n0a,1\n0b,1\n", encoding="utf-8")
    code, _, message = run("tune", "leases.jsonl", "labels.csv", "--ask", "5")
    assert (code, "not those of answers" in message) == (2, True)
    assert answer("overrides", "list")["overrides"] == []
    assert run("tune", "leases.jsonl", "labels.csv", "--ask", "5", "--learn")[0] == 2
