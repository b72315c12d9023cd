"""`ibidem worker`: takes what waits in the queue, until Ctrl-C or SIGTERM."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.command_line import Answer, Run

# The command as a terminal starts it: what a shell starts in the background, these tests too, is deaf to Ctrl-C.
ON_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from ibidem.cli import main
main()
"""

WORKER = [sys.executable, "-c", ON_A_TERMINAL, "worker", "--concurrency", "1"]


@pytest.mark.slow
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_worker_indexes_what_waits_and_ends_when_it_is_told_to(
    run: Run, answer: Answer, signum: signal.Signals, code: int
) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A newly found deed of gift."}', encoding="utf-8")
    name = answer("ingest", "new.jsonl", "--no-wait")["run"]
    with subprocess.Popen(WORKER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        try:
            deadline = time.monotonic() + 60
            while answer("status", name)["pending"] and time.monotonic() < deadline:
                time.sleep(0.1)
            worker.send_signal(signum)
            out, err = worker.communicate(timeout=60)
        finally:
            worker.kill()
    assert answer("status", name)["indexed"] == 1
    assert (worker.returncode, out) == (code, "")
    assert "Traceback" not in err
    (line,) = (json.loads(line) for line in err.splitlines() if line.startswith("{"))
    assert (line["event"], line["run"], line["indexed"]) == ("batch done", name, 1)
    assert answer("search", "deed")["hits"]["total"]["value"] == 1


@pytest.mark.slow
def test_workers_settle_the_groups_of_what_waits_and_of_what_comes_later(run: Run, answer: Answer) -> None:
    deed = "This deed of gift conveys the meadow by the mill to the parish, with all rights of way and water."
    lines = [json.dumps({"id": name, "text": deed}) for name in ("first", "second", "third")]
    Path("two.jsonl").write_text("\n".join(lines[:2]), encoding="utf-8")
    Path("one.jsonl").write_text(lines[2], encoding="utf-8")
    answer("ingest", "two.jsonl", "--no-wait")
    workers = [subprocess.Popen(WORKER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        assert comes_to(answer, documents=2)
        answer("ingest", "one.jsonl", "--no-wait")
        assert comes_to(answer, documents=3)
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait(timeout=60)
    (lead, *duplicates) = answer("search", "meadow", "--by", "stored")["hits"]["hits"]
    assert (lead["_id"], [hit["_id"] for hit in duplicates]) == ("first", ["second", "third"])


def comes_to(answer: Answer, documents: int) -> bool:
    """Return whether a search by stored groups comes to show so many documents in one group, all of them settled."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        account = answer("search", "meadow", "--by", "stored")["dedupe"]
        if (account["documents"]["matched"], account["groups"]["matching"], account["unsettled"]) == (documents, 1, 0):
            return True
        time.sleep(0.3)
    return False
