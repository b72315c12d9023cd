"""Celery consumer for queues into which others may write.

It goes without delayed delivery: our tasks never wait for a time, and it makes 28 queues for that. What no submitter
has sent is given up to where the queue keeps such messages, and ends no worker.
"""

import logging
from collections.abc import Callable
from typing import Any

from celery.worker import consumer
from kombu.connection import Connection
from kombu.exceptions import ContentDisallowed, DecodeError
from kombu.message import Message

from ibidem_workers.task_message import check

DELAYED = "celery.worker.consumer.delayed_delivery:DelayedDelivery"

STRANGE = (
    ArithmeticError,
    AttributeError,
    ContentDisallowed,
    DecodeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What Celery raises over a message of another shape; what goes wrong with a broker is none of these."""

_log = logging.getLogger(__name__)


class Consumer(consumer.Consumer):  # type: ignore[misc] # celery publishes no types
    """What a worker listens with."""

    class Blueprint(consumer.Consumer.Blueprint):  # type: ignore[misc] # likewise
        """The steps of its start."""

        default_steps = tuple(step for step in consumer.Consumer.Blueprint.default_steps if step != DELAYED)

    def connect(self) -> Connection:
        """Connect, and make every queue of the application: also that of what is given up, to which none listens."""
        connection: Connection = super().connect()
        for queue in self.app.conf.task_queues:
            queue(connection.default_channel).declare()
        return connection

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Message], None]:
        """Return what takes a message; one that it cannot read is given up."""
        handle = super().create_task_handler(*args, **kwargs)

        def taken(message: Message) -> None:
            try:
                check(message, self.app.conf.ibidem_message_bytes)
                handle(message)
            except STRANGE as error:
                self.on_decode_error(message, error)

        return taken

    def on_decode_error(self, message: Message, exc: Exception) -> None:
        """Give up a message that cannot be read; Celery would take it for done."""
        _log.warning("a message that no submitter has sent is given up: %s: %s", type(exc).__name__, exc)
        message.reject_log_error(_log, self.connection_errors)  # type: ignore[no-untyped-call] # kombu's own
