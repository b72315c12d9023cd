"""A limit in time: what takes longer ends its process, and a batch that does is tried by others."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers import dead_letters
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.pool import Pool
from ibidem_workers.runs import RunMonitor
from ibidem_workers.worker import time_limit

PATIENCE = 120.0
TOO_LONG = "import time; from ibidem_workers.worker import time_limit\nwith time_limit(0.2):\n    time.sleep(60)"
HELD_UP_BY_SLOW = """
import sys, time
from ibidem_engines import signing
from ibidem_workers import worker

sign = signing.sign_and_pack

def slow(documents, *others):
    if any("slow" in document.text for document in documents):
        time.sleep(600)
    return sign(documents, *others)

signing.sign_and_pack = slow
worker.SIGN_SECONDS = 2
sys.exit(worker.main(sys.argv[1]))
"""


@pytest.mark.slow
def test_what_takes_too_long_ends_its_process_and_says_where_it_was() -> None:
    process = subprocess.run([sys.executable, "-c", TOO_LONG], capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 1
    assert "Timeout" in process.stderr
    assert "line 3" in process.stderr


def test_what_is_done_in_time_is_left_alone() -> None:
    with time_limit(0.2):
        pass
    time.sleep(0.3)


@pytest.mark.slow
def test_a_document_that_is_signed_for_too_long_is_set_aside_and_its_batch_goes_on(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    settings = settings.changed(tries=1, concurrency=1)
    documents = [Document(str(at), f"word{at}" if at else "slow") for at in range(4)]
    run = ingest_documents(documents, settings, wait=False)
    assert settings.queue_folder is not None
    folder = SpoolDirectory(settings.queue_folder / settings.queue, settings.lease)
    deadline = time.monotonic() + PATIENCE
    with Pool(settings, quiet=True, command=(sys.executable, "-c", HELD_UP_BY_SLOW)) as pool:
        watch = RunMonitor(engine, run)
        while not watch.look().has_ended and time.monotonic() < deadline:
            pool.check()
            folder.recover()
            time.sleep(0.1)
    assert engine.info().documents == 3
    (letter,) = dead_letters.letters(engine)
    assert (letter.refusal.id, "crashed its worker" in letter.refusal.why) == ("0", True)
