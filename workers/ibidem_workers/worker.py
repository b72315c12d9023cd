"""Worker processes: `python -m ibidem_workers.worker PARENT`, configured by `IBIDEM_*` variables.

What is started so is their starter (`starter.py`), which ends when the process named by `PARENT` has ended; a worker
ends when its starter has.
"""

import faulthandler
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from celery import Celery, Task, signals
from celery.exceptions import CPendingDeprecationWarning, Reject
from celery.platforms import SecurityWarning
from celery.worker import state

from ibidem_core import logs
from ibidem_core.errors import EngineError, Permanent, Unavailable, retry_unavailable
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import Batch, Record
from ibidem_workers.brokers.lease import is_alive, this_process
from ibidem_workers.celery_app import TASK, connect_broker, make_app, send
from ibidem_workers.messages import TRIES, TRIES_BEFORE, most_of_message, restrict_serializers
from ibidem_workers.pool import STOPPED
from ibidem_workers.starter import fork_workers, report
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Exit this process, with its stack on standard error, if the block takes too long.

    The interpreter's own watchdog thread does this, which also runs while a library blocks all other threads.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


WARMED = "en"  # language whose idf table is loaded before the first message comes

SIGN_SECONDS = 600.0  # seconds that signing a batch may take: the process is ended, and another one tries the batch

CRASHED = 1  # exit code of a worker that ended by an unexpected error; another one takes its place

# Modules that a worker imports only once it runs.
LATE = (
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.backends",
    "celery.concurrency.solo",
    "celery.worker.components",
    "celery.worker.strategy",
    "fasttext",
)

# Objects after which the garbage collector looks for cycles; a batch makes some 100,000, nearly all without any.
COLLECTED_AFTER = 50_000

_log = logging.getLogger(__name__)


def main(parent: str = "") -> int:
    """Start workers, and run until asked to end; returns the exit code."""
    if not is_alive(parent):
        sys.stderr.write(
            "ibidem worker: the process that started this one has ended; start workers with: ibidem worker\n"
        )
        return STOPPED
    try:
        settings = load()
        load_modules()
        starter = this_process()
        number = fork_workers(parent)
        if number is None:
            return 0
        _watch_parent(starter)
        logs.set_up(settings)
        return work(settings, number)
    except IbidemError as error:
        sys.stderr.write(f"ibidem worker: {error}\n")
        return STOPPED


def load_modules() -> None:
    """Import the modules that a worker imports lazily, before workers are forked."""
    for name in LATE:
        import_module(name)
    gc.collect()
    gc.freeze()  # imported objects are never garbage; scanning them at each collection takes a tenth of the time


def work(settings: Settings, number: int) -> int:
    """Process messages until asked to end."""
    context = WorkerContext(
        open_engine(settings.address, settings.index),
        Tables(settings.tables),
        settings,
        _asked_to_end,
        lambda: time_limit(SIGN_SECONDS),
    )
    retry_unavailable(context.engine.create, settings.patience)
    context.tables.of(WARMED)
    with suppress(Unavailable):  # Celery waits for the broker, but would retry one that refuses us forever
        connect_broker(settings)
    app = make_app(settings)
    restrict_serializers(most_of_message(settings))
    errors = register(app, context)
    _prepare_process(number)
    worker = _make_worker(app, settings)
    worker.start()
    context.engine.close()
    if errors:
        raise errors[0]
    return int(worker.exitcode or 0)


def _prepare_process(number: int) -> None:
    """Configure garbage collection and Celery's signals, and suppress warnings that do not apply here."""
    gc.set_threshold(COLLECTED_AFTER)
    report_ready = cache(lambda: report("ready", number))
    signals.worker_ready.connect(lambda **_: report_ready(), weak=False)
    signals.setup_logging.connect(_leave_logging)
    # Celery warns of root because of pickle; only JSON is read here.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # It also warns of a future change when the broker is lost; the current batch is finished and redelivered.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)


def _make_worker(app: Celery, settings: Settings) -> Any:
    """Create Celery's worker of a single process, without communication with other workers."""
    return app.Worker(
        pool="solo",
        concurrency=1,
        queues=[settings.queue],
        hostname=f"{settings.index}-{os.getpid()}@{socket.gethostname()}",  # each worker has its own name
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )


def register(app: Celery, context: WorkerContext) -> list[EngineError]:
    """Register the tasks; returns a list that receives the error that ends the worker."""
    errors: list[EngineError] = []

    def task(self: Task, run: str, number: int, records: list[Record], part: int | None = None) -> None:
        """Sign and write one batch."""
        delivery = _delivery(self, run, Batch(number, records, part))
        if delivery.tries > context.settings.most_tries:
            raise Reject(_set_aside(delivery), requeue=False)
        if _asked_to_end():  # Celery takes another message after it was asked to end
            _hand_back(app, delivery, "the worker was asked to end")
            return
        try:
            # Single documents start with zero tries, but an earlier try of their batch may have written them.
            sign_and_write(context, delivery, lambda batch: send(app, run, batch, 0))
        except Unavailable as error:
            _hand_back(app, delivery, error)
        except Permanent as error:
            errors.append(error)
            state.should_stop = STOPPED
            _hand_back(app, delivery, error)
        except Exception as error:
            _log.exception("batch %s ended its worker", delivery.key)
            if delivery.tries >= context.settings.tries:  # nothing is signed any more: only the result is recorded
                raise Reject(_set_aside(delivery), requeue=False) from error
            state.should_stop = CRASHED
            _hand_back(app, replace(delivery, tries=delivery.tries + 1), error)

    app.task(name=TASK, bind=True)(task)
    for name in app.tasks.keys() - {TASK}:
        app.tasks.unregister(name)  # Celery's own, which no submitter sends
    return errors


def _delivery(task: Task, run: str, batch: Batch) -> Delivery:
    """Return the number of tries of a batch: the queue's count, and the header of a resent batch."""
    earlier_tries = task.request.get(TRIES_BEFORE)
    tries = int(task.request.get(TRIES) or 0) + int(earlier_tries or 0)
    return Delivery(run, batch, tries, again=earlier_tries is not None)


def _set_aside(delivery: Delivery) -> str:
    _log.error("batch %s is set aside after %d tries", delivery.key, delivery.tries)
    return "it crashed its workers even while the failure was recorded"


def _hand_back(app: Celery, delivery: Delivery, why: object) -> None:
    """Publish the batch again and acknowledge this message, since brokers count each requeue as a try."""
    try:
        send(app, delivery.run, delivery.batch, delivery.tries)
    except Unavailable as error:
        raise Reject(str(why), requeue=True) from error


def _asked_to_end() -> bool:
    return state.should_stop is not None or state.should_terminate is not None


def _leave_logging(**_: object) -> None:
    """Prevent Celery from configuring logging, by connecting a signal."""


def _watch_parent(parent: str) -> None:
    """Exit after the current batch if the parent process has exited."""

    def watch() -> None:
        """Exit this process when its parent has exited."""
        while is_alive(parent):
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
