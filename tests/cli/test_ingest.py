"""`ibidem ingest`: files into the index, through the queue."""

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
