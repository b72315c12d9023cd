"""`ibidem worker`: takes what waits in the queue, until Ctrl-C."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import Answer, Run


def test_a_worker_indexes_what_waits_and_ends_with_ctrl_c(run: Run, answer: Answer) -> None:
    Path("new.jsonl").write_text('{"id": "new", "text": "A newly found deed of gift."}', encoding="utf-8")
    name = answer("ingest", "new.jsonl", "--no-wait")["run"]
    command = [sys.executable, "-c", "from ibidem.cli import main; main()", "worker", "--concurrency", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        until = time.monotonic() + 60
        while answer("status", name)["pending"] and time.monotonic() < until:
            time.sleep(0.1)
        worker.send_signal(signal.SIGINT)
        out, err = worker.communicate(timeout=60)
    assert answer("status", name)["indexed"] == 1
    assert (worker.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert answer("search", "deed")["hits"]["total"]["value"] == 1
