"""One worker process: `python -m ibidem_workers.worker`, told by `IBIDEM_*` variables what to work on."""

import gc
import os
import signal
import socket
import sys
import threading
import time
import warnings
from typing import Any

from celery import Celery, Task, signals
from celery.exceptions import Reject, WorkerShutdown
from celery.platforms import SecurityWarning
from celery.worker import state

from ibidem_engines.errors import Permanent, Unavailable
from ibidem_engines.opening import open_engine
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.tables import Tables
from ibidem_workers.app import TASK, make_app, send
from ibidem_workers.batches import Batch
from ibidem_workers.patience import patiently
from ibidem_workers.pool import READY, STOPPED
from ibidem_workers.settings import Settings, load
from ibidem_workers.tasks import Bench, Delivery, sign_and_write

WARMED = "en"
"""The language whose table is made ready before the first message comes."""

COLLECTED_AFTER = 50_000
"""Objects that a worker makes before cycles are looked for; a batch makes some 100,000, nearly all without any."""


def main() -> int:
    """Work until asked to end; returns the exit code."""
    try:
        return work(load())
    except IbidemError as error:
        sys.stderr.write(f"ibidem worker: {error}\n")
        return STOPPED


def work(settings: Settings) -> int:
    """Take messages and carry them out until asked to end.

    Raises:
        Unavailable: Engine or broker did not answer at the start.
        Permanent: The engine cannot be used as it is.
    """
    bench = Bench(open_engine(settings.address, settings.index), Tables(settings.tables), settings, _asked_to_end)
    patiently(bench.engine.create, settings.patience)
    bench.tables.of(WARMED)
    app = make_app(settings)
    stopped = register(app, bench)
    gc.freeze()  # what was imported is never garbage; looking through it at each collection takes a tenth of the time
    gc.set_threshold(COLLECTED_AFTER)
    signals.worker_ready.connect(_tell_ready)
    # Celery warns of root because of pickle; here nothing but JSON is read.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    _end_with_parent(os.getppid())
    worker = app.Worker(
        pool="solo",
        concurrency=1,
        queues=[settings.queue],
        hostname=f"{settings.index}-{os.getpid()}@{socket.gethostname()}",  # each worker is asked under its own name
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    bench.engine.close()
    if stopped:
        raise stopped[0]
    return int(worker.exitcode or 0)


def register(app: Celery, bench: Bench) -> list[Permanent]:
    """Teach the application its task; the list returned takes the error that ended the worker."""
    stopped: list[Permanent] = []

    def task(self: Task, run: str, number: int, records: list[dict[str, Any]], part: int | None = None) -> None:
        delivery = Delivery(run, Batch(number, list(records), part), _tries(self))
        try:
            sign_and_write(bench, delivery, lambda batch: send(app, run, batch))
        except Unavailable as error:
            raise Reject(str(error), requeue=True) from error
        except Permanent as error:
            stopped.append(error)
            raise WorkerShutdown(STOPPED) from error

    app.task(name=TASK, bind=True)(task)
    return stopped


def _tries(task: Task) -> int:
    """Read how often the message was handed out before, from the header that quorum queues and the file queue set."""
    return int(task.request.get("x-delivery-count") or 0)


def _asked_to_end() -> bool:
    return state.should_stop is not None or state.should_terminate is not None


def _tell_ready(**_: object) -> None:
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()


def _end_with_parent(parent: int) -> None:
    """End, once the batch in hand is done, when the process that started this one is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    sys.exit(main())
