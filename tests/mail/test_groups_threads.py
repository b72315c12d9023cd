"""`ibidem groups --threads`: who answers whom, and which mails hold others."""

import json
from pathlib import Path

import pytest

from support.command_line import Run

MAILS = (
    ("a", "", "The rent of the house at the harbour is due on the first of May."),
    ("b", "a", "It was paid.\n\nAnn wrote:\n> The rent of the house at the harbour is due on the first of May."),
)


def write_mailbox() -> None:
    mails = [
        f"From x\nFrom: Ann <ann@example.org>\nSubject: lease\nMessage-ID: <{name}>\n"
        + (f"In-Reply-To: <{parent}>\n" if parent else "")
        + f"Date: Mon, {3 + at} May 2004 09:00:00 +0000\n\n{text}\n\n"
        for at, (name, parent, text) in enumerate(MAILS)
    ]
    Path("in.mbox").write_text("".join(mails), encoding="utf-8")


@pytest.mark.slow
def test_a_row_is_written_for_each_mail_and_counts_add_up(run: Run) -> None:
    write_mailbox()
    assert run("ingest", "in.mbox")[0] == 0
    code, out, _ = run("groups", "--threads", "--export", "threads.jsonl", "--json")
    assert code == 0
    counts = json.loads(out)
    rows = [json.loads(line) for line in Path("threads.jsonl").read_text(encoding="utf-8").splitlines()]
    one, two = "in.mbox#1", "in.mbox#2"
    assert rows == [
        {"thread": one, "id": one, "parent": None, "by": None, "inclusive": False, "contained_in": [two]},
        {"thread": one, "id": two, "parent": one, "by": "headers", "inclusive": True, "contained_in": []},
    ]
    assert counts["mails"] == counts["inclusive"] + counts["contained"] == counts["roots"] + sum(counts["by"].values())
    assert "2 mails in 1 thread; 1 inclusive, 1 contained in others" in run("groups", "--threads")[1]
    assert run("groups", "--threads", "--export", "threads.csv")[0] == 0
    assert Path("threads.csv").read_text(encoding="utf-8").splitlines()[1] == f"{one},{one},,,False,{two}"


def test_threads_go_with_no_figures(run: Run) -> None:
    code, _, err = run("groups", "--threads", "--level", "partial")
    assert code == 2
    assert "--threads" in err
