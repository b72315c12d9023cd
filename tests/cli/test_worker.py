"""`ibidem worker`: takes what waits in the queue, until Ctrl-C or SIGTERM."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ibidem_core.settings import load
from support.command_line import Answer, Run
from support.rabbitmq_queues import delete_queues

# The command as a terminal starts it: what a shell starts in the background, these tests too, is deaf to Ctrl-C.
ON_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from ibidem.cli import main
main()
"""

pytestmark = [pytest.mark.slow, pytest.mark.server("rabbitmq")]

WORKER = [sys.executable, "-c", ON_A_TERMINAL, "worker"]


@pytest.fixture(autouse=True)
def queue(run: Run, rabbitmq: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A queue of an index of its own."""
    monkeypatch.setenv("IBIDEM_BROKER", rabbitmq)
    monkeypatch.setenv("IBIDEM_INDEX", f"worker-{uuid4().hex}")
    yield
    delete_queues(load())


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
    assert (worker.returncode, "Traceback" in out) == (code, False)
    assert "Traceback" not in err
    (line,) = (json.loads(line) for line in err.splitlines() if line.startswith("{"))
    assert (line["event"], line["run"], line["indexed"]) == ("batch done", name, 1)
    assert answer("search", "deed")["hits"]["total"]["value"] == 1
