"""Ingest of a collection through the file queue into SQLite.

The clock runs from the moment when the first worker says that it takes messages to the moment when the account of the
last batch is read; reading, validating, cutting and sending all lie within it. Modules are compiled, as in an
installation after its first start.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_workers.pool import Pool
from ibidem_workers.runs import RunMonitor, summary
from ibidem_workers.submit import Submission
from processor import client_seconds
from stories import NEWSWIRE

Source = Callable[[], Iterator[Document | Refusal]]


@dataclass(frozen=True)
class Cost:
    """Cost of one run."""

    start: float  # seconds until the first worker was ready
    run: float  # seconds from then until the run was done
    send: float  # seconds from then until all was sent
    processor: float  # seconds of processor time of all processes, the workers' start included
    peak: float  # megabytes of memory that the largest worker took at most, of all runs so far
    summary: dict[str, object]  # the run's account


def newswire(collections: Path) -> Iterator[Document | Refusal]:
    """Read the stories."""
    yield from read([collections / NEWSWIRE])


def compile_modules() -> None:
    """Import the modules of a worker once, so that they are compiled, also where the environment keeps no bytecode."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", "import ibidem_workers.worker"], check=True)


def through_the_queue(source: Source, folder: Path, workers: int) -> Cost:
    """Run a collection through queue and workers."""
    settings = Settings(
        engine=f"sqlite:////{folder}/index.sqlite",
        broker=f"filesystem:////{folder}/queue",
        tables=folder / "tables",
        concurrency=workers,
    )
    compile_modules()
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    began, processor = time.monotonic(), client_seconds()
    with closing(engine), Pool(settings) as pool:
        while pool.ready_at is None:
            pool.check()
            time.sleep(0.005)
        submission = Submission(engine, settings)
        record = submission.send(source())
        send_end = time.monotonic()
        RunMonitor(engine, record.run).wait(lambda _: pool.check())
        end = time.monotonic()
        account = summary(engine, record.run)
    ready = pool.ready_at
    return Cost(ready - began, end - ready, send_end - ready, client_seconds() - processor, peak_memory(), account)


def peak_memory() -> float:
    """Return the most memory of an ended child of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
