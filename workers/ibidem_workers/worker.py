"""Celery's worker: `python -m ibidem_workers.worker PARENT`, configured by `IBIDEM_*` variables.

It takes messages and hands them to processes of its own, and ends with the process `PARENT`, which started it. The
ledger counts the tries of a batch, so that a message that is delivered again need only be worked on again.
"""

import gc
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from celery import Celery, Task, signals
from celery.exceptions import CPendingDeprecationWarning, Reject
from celery.platforms import SecurityWarning
from celery.worker import consumer
from kombu.connection import Connection
from kombu.exceptions import ContentDisallowed, DecodeError
from kombu.message import Message

from ibidem_core import logs
from ibidem_core.errors import Permanent, Unavailable
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import REDELIVERY, SentRecord, check, most_of_message, restrict_serializers
from ibidem_workers.celery_app import TASK, connect_broker, make_app, send
from ibidem_workers.executors import COLLECTED_AFTER, FATAL_EXIT, watch_parent
from ibidem_workers.tasks import SIGN_SECONDS, WARM_LANGUAGE, Delivery, WorkerContext, _log, sign_and_write, time_limit

PAUSE = 1.0  # seconds before a message that met an unexpected error is put back


def main(parent: str = "") -> int:
    """Work until asked to end; returns the exit code."""
    if parent != str(os.getppid()):
        sys.stderr.write(
            "ibidem worker: the process that started this one has ended; start workers with: ibidem worker\n"
        )
        return FATAL_EXIT
    try:
        settings = load()
        watch_parent(int(parent), lambda: os.kill(os.getpid(), signal.SIGTERM))
        logs.set_up(settings)
        return work(settings)
    except IbidemError as error:
        sys.stderr.write(f"ibidem worker: {error}\n")
        return FATAL_EXIT


def work(settings: Settings) -> int:
    """Process messages until asked to end."""
    tables = Tables(settings.tables, settings.index)
    tables.of(WARM_LANGUAGE)
    with suppress(Unavailable):  # Celery waits for the broker, but would retry one that refuses us forever
        connect_broker(settings)
    app = make_app(settings)
    restrict_serializers(most_of_message(settings))

    @cache
    def open_context() -> WorkerContext:  # in a process that has its first batch
        engine = open_engine(settings.address, settings.index)
        return WorkerContext(engine, tables, settings, time_limit=lambda: time_limit(SIGN_SECONDS))

    register(app, open_context)
    gc.collect()
    gc.freeze()  # imported objects are never garbage; scanning them at each collection takes a tenth of the time
    gc.set_threshold(COLLECTED_AFTER)
    signals.setup_logging.connect(lambda **_: None, weak=False)  # by which Celery leaves logging as it is
    # Celery warns of root because of pickle; only JSON is read here.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    # It also warns of a future change when the broker is lost; the current batch is finished and redelivered.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
    worker: Any = app.Worker(
        consumer_cls=Consumer,
        pool="prefork",
        concurrency=settings.workers,
        queues=[settings.queue],
        hostname=f"{settings.index}-{os.getpid()}@{socket.gethostname()}",  # each worker has its own name
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


DELAYED_DELIVERY = "celery.worker.consumer.delayed_delivery:DelayedDelivery"

# Errors that Celery raises over a message of another shape; a broker's errors are not among them.
FOREIGN_ERRORS = (
    ArithmeticError,
    AttributeError,
    ContentDisallowed,
    DecodeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Consumer(consumer.Consumer):  # type: ignore[misc] # celery publishes no types
    """A worker's consumer of messages, which rejects foreign ones.

    Delayed delivery is off: our tasks are never scheduled, and Celery makes 28 queues for it. Other programs may write
    into the queue: a message that no submitter has sent is moved to the rejected messages, and ends no worker.
    """

    class Blueprint(consumer.Consumer.Blueprint):  # type: ignore[misc] # celery publishes no types
        """The bootsteps of the consumer."""

        default_steps = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != DELAYED_DELIVERY)

    def connect(self) -> Connection:
        """Connect, and declare every queue of the application, including the unread one of rejected messages."""
        connection: Connection = super().connect()
        for queue in self.app.conf.task_queues:
            queue(connection.default_channel).declare()
        return connection

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Message], None]:
        """Return the handler of messages; a message that it cannot parse is rejected."""
        handle = super().create_task_handler(*args, **kwargs)

        def receive(message: Message) -> None:
            """Refuse a message that is too long or foreign; process others."""
            try:
                check(message, self.app.conf.ibidem_message_bytes)
                handle(message)
            except FOREIGN_ERRORS as error:
                self.on_decode_error(message, error)

        return receive

    def on_decode_error(self, message: Message, exc: Exception) -> None:
        """Reject a message that cannot be decoded; Celery would acknowledge it."""
        _log.warning("a message that no submitter has sent is set aside: %s: %s", type(exc).__name__, exc)
        message.reject_log_error(_log, self.connection_errors)  # type: ignore[no-untyped-call] # kombu's own


def register(app: Celery, open_context: Callable[[], WorkerContext]) -> None:

    def task(self: Task, run: str, number: int, records: list[SentRecord]) -> None:
        """Sign and write one batch."""
        died = bool(self.request.delivery_info.get("redelivered"))
        delivery = Delivery(run, number, records, died=died, again=bool(self.request.get(REDELIVERY)))
        try:
            sign_and_write(open_context(), delivery)
        except Unavailable as error:
            _hand_back(app, delivery, error)
        except Permanent as error:
            sys.stderr.write(f"ibidem worker: {error}\n")
            _hand_back(app, delivery, error)
            os.kill(os.getppid(), signal.SIGTERM)
        except MemoryError:
            os._exit(1)  # Celery would never acknowledge the message
        except Exception as error:  # Celery would drop the message
            _log.exception("batch %s ended its worker", delivery.key)
            time.sleep(PAUSE)
            raise Reject(str(error), requeue=True) from error

    app.task(name=TASK, bind=True)(task)
    for name in app.tasks.keys() - {TASK}:
        app.tasks.unregister(name)  # Celery's own, which no submitter sends


def _hand_back(app: Celery, delivery: Delivery, why: object) -> None:
    """Publish the batch again and acknowledge this message, since a message that is put back counts as a try."""
    try:
        send(app, delivery.run, delivery.number, delivery.records, again=True)
    except Unavailable as error:
        raise Reject(str(why), requeue=True) from error


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
