"""A run's summary says what became of every document, and why some were refused.

`ibidem status`: the progress of a run.
"""

from io import StringIO

import pytest
from rich.console import Console

from ibidem.cli.status import describe
from ibidem_ingest.readers.text import EMPTY_REMEDY

DONE = {
    "run": "20250101-120000-abcd",
    "read": 1003,
    "indexed": 900,
    "unchanged": 75,
    "stale": 3,
    "refused": 25,
    "unsigned": 2,
    "duplicates": {"identical": 40, "near": 12},
    "refusals": [{"where": f"a.jsonl:{n}", "id": f"d{n}", "field": "date", "why": "'soon' is none"} for n in range(25)],
    "took_s": 2.34,
    "state": "done",
    "pending": 0,
    "repeated": 1,
    "repeated_ids": ["twice"],
    "meta_fields": ["court"],
    "passed_over": {".docx": 3, "link": 2, "no suffix": 1, "named pipe": 1},
    "damaged_bytes": {"caf.txt": 2},
    "unread_dates": 7,
}


def render(**changes: object) -> str:
    paper = StringIO()
    Console(file=paper, width=100).print(*describe(DONE | changes), sep="\n")
    return paper.getvalue()


@pytest.mark.parametrize(
    "line",
    [
        "1,003  documents read in 2.3 s",
        "900  indexed",
        "75  unchanged",
        "40  of them identical with an earlier document",
        "25 documents: date: 'soon' is none (a.jsonl:0, a.jsonl:1,",
        "all 25: ibidem status 20250101-120000-abcd --json",
        "1 named pipe in folders skipped",
        "not in the encoding: caf.txt (2 bytes);",
        "1 id occurred more than once (twice); the newest was kept, or else the last one read.",
        "stored in meta: court",
        "skipped: 3 .docx, 1 no suffix",
        "2 links in folders skipped",
        "7 dates could not be read in one way; `meta.date` keeps what was written",
    ],
)
def test_a_summary_says(line: str) -> None:
    assert line in render()


def test_empty_files_are_named_on_one_line() -> None:
    empty = [{"where": name, "id": name, "field": "", "why": EMPTY_REMEDY} for name in ("a.txt", "b.txt")]
    assert "2 empty files: a.txt, b.txt" in render(refused=2, refusals=empty)


def test_a_run_that_was_broken_off_says_what_to_do() -> None:
    assert "Run the same command again" in render(state="interrupted", again="")
    assert "ingested again in run other" in render(state="interrupted", again="other")


def test_a_reason_from_outside_cannot_steer_the_terminal() -> None:
    refusal = {"where": "a\x1b[2J", "id": "", "field": "", "why": "bad\x07"}
    assert "\x1b" not in render(refusals=[refusal])
    assert "\x07" not in render(refusals=[refusal])
