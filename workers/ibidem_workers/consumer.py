"""Celery's consumer of task messages, which rejects foreign ones.

Delayed delivery is off: our tasks are never scheduled, and Celery makes 28 queues for it. Other programs may write into
the queue: a message that no submitter has sent is moved to the rejected messages, and ends no worker.
"""

from collections.abc import Callable
from typing import Any

from celery.worker import consumer
from kombu.connection import Connection
from kombu.exceptions import ContentDisallowed, DecodeError
from kombu.message import Message

from ibidem_workers.batches import check
from ibidem_workers.tasks import _log

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
    """A worker's consumer of messages."""

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
