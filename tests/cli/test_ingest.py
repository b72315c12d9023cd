"""`ibidem ingest`: files into the index, through the queue."""

import json
from pathlib import Path

from .conftest import Answer, Run


def test_ingesting_the_same_file_again_changes_nothing(answer: Answer) -> None:
    found = answer("ingest", "docs.jsonl")
    assert (found["indexed"], found["unchanged"], found["refused"]) == (0, 5, 1)


def test_what_is_not_waited_for_stays_in_the_queue(run: Run) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A new text."}', encoding="utf-8")
    code, out, err = run("ingest", "new.jsonl", "--no-wait")
    assert code == 0
    assert "1  still in the queue" in out
    assert "ibidem worker" in err


def test_logs_go_to_standard_error_and_leave_the_json_on_standard_output_whole(
    answer: Answer, run: Run, monkeypatch
) -> None:
    monkeypatch.setenv("IBIDEM_LOG", "debug")
    code, out, err = run("ingest", "docs.jsonl", "--json", "--no-wait")
    assert json.loads(out)["run"]
    told = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    events = [one["event"] for one in told if one["logger"].endswith("submit")]
    assert events == ["run begun", "document refused", "batch sent", "run submitted"]
    assert code == 3
