"""`ibidem status` and `worker`: what became of every document of a run, and why some were refused."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from rich.console import Console

from faults.environment import wait_for
from ibidem.cli.status import describe
from ibidem_core.settings import load
from ibidem_ingest.readers.text import EMPTY_REMEDY
from support.command_line import Answer, Run
from support.rabbitmq_queues import delete_queues

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


# The command as a terminal starts it: what a shell starts in the background, these tests too, is deaf to Ctrl-C.
ON_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from ibidem.cli import main
main()
"""

WORKER = [sys.executable, "-c", ON_A_TERMINAL, "worker"]


@pytest.fixture
def queue(run: Run, rabbitmq: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A queue of an index of its own."""
    monkeypatch.setenv("IBIDEM_BROKER", rabbitmq)
    monkeypatch.setenv("IBIDEM_INDEX", f"worker-{uuid4().hex}")
    yield
    delete_queues(load())


@pytest.mark.slow
@pytest.mark.server("rabbitmq")
@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_worker_indexes_what_waits_and_ends_when_it_is_told_to(
    run: Run, answer: Answer, signum: signal.Signals, code: int
) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A newly found deed of gift."}', encoding="utf-8")
    name = answer("ingest", "new.jsonl", "--no-wait")["run"]
    with subprocess.Popen(WORKER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        try:
            wait_for(lambda: not answer("status", name)["pending"], 60)
            worker.send_signal(signum)
            out, err = worker.communicate(timeout=60)
        finally:
            worker.kill()
    assert answer("status", name)["indexed"] == 1
    assert (worker.returncode, "Traceback" in out) == (code, False)
    assert "Traceback" not in err
    (line,) = (json.loads(line) for line in err.splitlines() if line.startswith("{"))
    assert (line["event"], line["run"], line["indexed"]) == ("batch done", name, 1)
    assert answer("search", "deed")["hits"]["total"]["value"] == 1
