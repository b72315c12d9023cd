"""Worker process: `python -m ibidem_workers.worker PARENT`, configured by `IBIDEM_*` variables.

It ends with the process that started it, which is named by `PARENT`: by then that one may have ended already.
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
from typing import Any

from celery import Celery, Task, signals
from celery.exceptions import CPendingDeprecationWarning, Reject
from celery.platforms import SecurityWarning
from celery.worker import state

from ibidem_engines.connect import open_engine
from ibidem_engines.errors import EngineError, Permanent, Unavailable
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from ibidem_workers import logs
from ibidem_workers.batches import TRIES, TRIES_BEFORE, Batch, Record, most_of_message, restrict_serializers
from ibidem_workers.brokers.lease import lives
from ibidem_workers.celery_app import TASK, answers, make_app, send
from ibidem_workers.pool import READY, STOPPED
from ibidem_workers.retry import retry_unavailable
from ibidem_workers.settings import Settings, load
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End this process, with what it was doing on standard error, when the block takes longer.

    The watch is a thread of the interpreter's own, which also acts while a library holds all others up.

    Args:
        seconds: What the block may take.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


WARMED = "en"
"""The language whose table is made ready before the first message comes."""

CRASHED = 1
"""The exit code of a worker that an error ended which nobody foresaw; another one takes its place."""

COLLECTED_AFTER = 50_000
"""Objects that a worker makes before cycles are looked for; a batch makes some 100,000, nearly all without any."""

_log = logging.getLogger(__name__)


def main(parent: str = "") -> int:
    """Work until asked to end; returns the exit code.

    Args:
        parent: The process that started this one, as `holder.this_process` names it.
    """
    if not lives(parent):
        sys.stderr.write("ibidem worker: what started this process is gone; start workers with: ibidem worker\n")
        return STOPPED
    _watch_parent(parent)
    try:
        settings = load()
        logs.set_up(settings)
        return work(settings)
    except IbidemError as error:
        sys.stderr.write(f"ibidem worker: {error}\n")
        return STOPPED


def work(settings: Settings) -> int:
    """Take messages and carry them out until asked to end.

    Raises:
        Unavailable: Engine or broker did not answer at the start.
        Permanent: The engine cannot be used as it is.
    """
    context = WorkerContext(
        open_engine(settings.address, settings.index),
        Tables(settings.tables),
        settings,
        _asked_to_end,
        lambda: time_limit(settings.sign_seconds),
    )
    retry_unavailable(context.engine.create, settings.patience)
    context.tables.of(WARMED)
    with suppress(Unavailable):  # Celery waits for a broker that is away; one that refuses us would be asked for ever
        answers(settings)
    app = make_app(settings)
    restrict_serializers(most_of_message(settings))
    stopped = register(app, context)
    _prepare_process()
    worker = _make_worker(app, settings)
    worker.start()
    context.engine.close()
    if stopped:
        raise stopped[0]
    return int(worker.exitcode or 0)


def _prepare_process() -> None:
    """Set what a worker's process needs: garbage collection, Celery's signals, no warnings that do not hold here."""
    gc.freeze()  # what was imported is never garbage; looking through it at each collection takes a tenth of the time
    gc.set_threshold(COLLECTED_AFTER)
    signals.worker_ready.connect(_report_ready)
    signals.setup_logging.connect(_leave_logging)
    # Celery warns of root because of pickle; here nothing but JSON is read.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # And of what it may do one day with the batch in hand when the broker is lost; it is carried out and comes again.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)


def _make_worker(app: Celery, settings: Settings) -> Any:
    """Make Celery's worker of one process, which asks other workers nothing."""
    return app.Worker(
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


def register(app: Celery, context: WorkerContext) -> list[EngineError]:
    """Teach the application its task; the list returned takes the error that ended the worker."""
    stopped: list[EngineError] = []

    def task(self: Task, run: str, number: int, records: list[Record], part: int | None = None) -> None:
        """Sign and write one batch."""
        delivery = _delivery(self, run, Batch(number, records, part))
        if delivery.tries > context.settings.most_tries:
            raise Reject(_set_aside(delivery), requeue=False)
        if _asked_to_end():  # Celery takes one more message after it was asked to end
            _hand_back(app, delivery, "the worker was asked to end")
            return
        try:
            sign_and_write(context, delivery, lambda batch: send(app, run, batch))
        except Unavailable as error:
            _hand_back(app, delivery, error)
        except Permanent as error:
            stopped.append(error)
            state.should_stop = STOPPED
            _hand_back(app, delivery, error)
        except Exception as error:
            _log.exception("batch %s ended its worker", delivery.key)
            if delivery.tries >= context.settings.tries:  # nothing is signed any more: what fails is to note it
                raise Reject(_set_aside(delivery), requeue=False) from error
            state.should_stop = CRASHED
            _hand_back(app, replace(delivery, tries=delivery.tries + 1), error)

    app.task(name=TASK, bind=True)(task)
    for name in app.tasks.keys() - {TASK}:
        app.tasks.unregister(name)  # Celery's own, which nobody here sends
    return stopped


def _delivery(task: Task, run: str, batch: Batch) -> Delivery:
    """Read a batch's history from its message: what the queue counted, and what the message it was sent with says."""
    before = task.request.get(TRIES_BEFORE)
    tries = int(task.request.get(TRIES) or 0) + int(before or 0)
    return Delivery(run, batch, tries, again=before is not None)


def _set_aside(delivery: Delivery) -> str:
    _log.error("batch %s is set aside after %d tries", delivery.key, delivery.tries)
    return "it ended its workers even when it was to be noted"


def _hand_back(app: Celery, delivery: Delivery, why: object) -> None:
    """Send the batch again and let this message be acknowledged, since a broker counts each return as a try.

    Raises:
        Reject: The broker does not take it; then the message itself goes back.
    """
    try:
        send(app, delivery.run, delivery.batch, delivery.tries)
    except Unavailable as error:
        raise Reject(str(why), requeue=True) from error


def _asked_to_end() -> bool:
    return state.should_stop is not None or state.should_terminate is not None


def _leave_logging(**_: object) -> None:
    """Keep Celery from setting a level and a handler of its own, by being there."""


def _report_ready(**_: object) -> None:
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()


def _watch_parent(parent: str) -> None:
    """End, once the batch in hand is done, when the process that started this one has ended."""

    def watch() -> None:
        """End this process when its parent has ended."""
        while lives(parent):
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
