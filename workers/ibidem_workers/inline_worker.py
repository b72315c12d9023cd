"""Inline worker: processes the few messages of a small run in the submitting process.

To start workers takes longer than to sign a few documents. The documents go through the queue all the same, so that a
command that is killed leaves them to the next worker; and a message that has ended a worker before is left to one.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from celery.platforms import SecurityWarning
from kombu.message import Message

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import Batch
from ibidem_workers.celery_app import make_app, send
from ibidem_workers.consumer import STRANGE
from ibidem_workers.messages import TRIES, TRIES_BEFORE, check
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write

# Documents of a run that is worked on inline, and the characters of their texts.
MAX_DOCUMENTS, MAX_CHARACTERS = 50, 500_000


def work_inline(engine: Engine, settings: Settings) -> bool:
    """Sign and write the batches in the queue."""
    app = make_app(settings)
    context = WorkerContext(engine, Tables(settings.tables), settings)
    with _without_warning(), app.connection_for_read() as connection:
        queue = app.conf.task_queues[0](connection.default_channel)
        while (message := queue.get(accept=["json"])) is not None:
            delivery = _delivery(message, app.conf.ibidem_message_bytes)
            if delivery is None:
                message.requeue()
                return False
            sign_and_write(context, delivery, partial(send, app, delivery.run))
            message.ack()
    return True


@contextmanager
def _without_warning() -> Iterator[None]:
    """Suppress Celery's warning about root, which concerns pickle; only JSON is read here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=SecurityWarning)
        yield


def _delivery(message: Message, limit: int) -> Delivery | None:
    """Read a message; None if it was already delivered, or is not from a submitter."""
    if message.headers.get(TRIES) or message.headers.get(TRIES_BEFORE):
        return None
    try:
        check(message, limit)
        run, number, records, part = message.payload[0]
    except STRANGE:
        return None
    return Delivery(run, Batch(number, records, part))
