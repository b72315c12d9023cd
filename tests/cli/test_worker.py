"""`ibidem worker`: takes what waits in the queue, until Ctrl-C."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import Answer, Run

ON_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from ibidem.cli import main
main()
"""
"""The command as a terminal starts it: what a shell starts in the background, these tests too, is deaf to Ctrl-C."""

WORKER = [sys.executable, "-c", ON_A_TERMINAL, "worker", "--concurrency", "1"]


def test_a_worker_indexes_what_waits_and_ends_with_ctrl_c(run: Run, answer: Answer) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A newly found deed of gift."}', encoding="utf-8")
    name = answer("ingest", "new.jsonl", "--no-wait")["run"]
    with subprocess.Popen(WORKER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        try:
            until = time.monotonic() + 60
            while answer("status", name)["pending"] and time.monotonic() < until:
                time.sleep(0.1)
            worker.send_signal(signal.SIGINT)
            out, err = worker.communicate(timeout=60)
        finally:
            worker.kill()
    assert answer("status", name)["indexed"] == 1
    assert (worker.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert answer("search", "deed")["hits"]["total"]["value"] == 1
