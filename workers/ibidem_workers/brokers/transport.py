"""Kombu transport over a queue of leased messages: a message stays in the queue until it is acknowledged.

A worker takes a message under a lease. When the lease lapses, another worker gets the message, with one more try
counted; a message that is put back counts no try.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty
from typing import Any, Protocol

import orjson
from kombu.transport import virtual

from ibidem_workers.messages import TRIES, compress, decompress, too_dense

_MESSAGE: Mapping[str, type] = {
    "body": str,
    "content-type": str,
    "content-encoding": str,
    "headers": dict,
    "properties": dict,
}
_PROPERTIES: Mapping[str, type] = {"delivery_tag": str, "delivery_info": dict}


MAGIC = b"\x28\xb5\x2f\xfd"  # first bytes of zstd data; JSON never begins so

UNBOUNDED = 1 << 32


def read_message(data: bytes, limit: int | None = None) -> dict[str, Any] | None:
    """Read a message; None if it is too large or not in Celery's format.

    >>> read_message(b"not a message") is None
    True
    """
    try:
        if data.startswith(MAGIC):
            data = decompress(data, UNBOUNDED if limit is None else limit)
        if limit is not None and (len(data) > limit or too_dense(data)):
            return None
        message = orjson.loads(data)
    except ValueError:  # JSON's errors too
        return None
    return message if _has_parts(message, _MESSAGE) and _has_parts(message["properties"], _PROPERTIES) else None


def _has_parts(value: object, parts: Mapping[str, type]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in parts.items())


MAX_WAIT = 0.2  # seconds after which an idle worker looks whether it was asked to end

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A delivered message."""

    name: str  # its name in the queue
    message: bytes  # its bytes
    tries: int  # how often it was taken before and not finished


class QueueBackend(Protocol):
    """One queue, for one process."""

    def put(self, message: bytes) -> None:
        """Add a message atomically."""

    def get(self, *, wait: bool = False) -> QueuedMessage | None:
        """Lease a message, preferring expired leases; None if the queue is empty.

        Args:
            wait: Whether to wait a moment for one, where that is cheaper than to ask again.
        """

    def ack(self, entry: QueuedMessage) -> None:
        """Remove a message that was processed."""

    def reject(self, entry: QueuedMessage) -> None:
        """Move a message that cannot be processed out of the queue, without deleting it."""

    def requeue(self, entry: QueuedMessage) -> None:
        """Requeue a message behind the others, without counting a try."""

    def size(self) -> int:
        """Count the messages without a lease."""

    def purge(self) -> int:
        """Remove the messages without a lease; returns how many."""

    def close(self) -> None:
        """End the lease."""


class Channel(virtual.Channel):
    """Kombu's channel on leased messages."""

    def __init__(
        self, connection: object, open_queue: Callable[[str], QueueBackend], transient: tuple[type[Exception], ...] = ()
    ) -> None:
        super().__init__(connection)
        self._open, self._passing = open_queue, transient
        self._queues: dict[str, QueueBackend] = {}
        self._deliveries: dict[str, tuple[QueueBackend, QueuedMessage]] = {}
        self._is_idle = False

    def _queue(self, name: str) -> QueueBackend:
        if name not in self._queues:
            self._queues[name] = self._open(name)
        return self._queues[name]

    def _put(self, queue: str, message: dict[str, Any], **_: object) -> None:
        self._queue(queue).put(compress(orjson.dumps(message)))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002 - the base class's name
        backend = self._queue(queue)
        options = self.connection.client.transport_options
        # Of several queues, only one is waited on, after the others are empty: its messages arrive at once.
        entry = backend.get(wait=self._is_idle and queue == options.get("queue", queue))
        self._is_idle = entry is None
        if entry is None:
            raise Empty
        message = read_message(entry.message, options.get("most"))
        if message is None:
            _log.warning("a message that no submitter has sent is set aside: %s", entry.name)
            backend.reject(entry)
            raise Empty
        message["headers"][TRIES] = entry.tries
        self._deliveries[message["properties"]["delivery_tag"]] = backend, entry
        return message

    def _size(self, queue: str) -> int:
        return self._queue(queue).size()

    def _purge(self, queue: str) -> int:
        return self._queue(queue).purge()

    def _restore(self, message: virtual.Message) -> None:
        delivery = self._deliveries.pop(message.delivery_tag, None)
        if delivery is None:
            return
        try:
            delivery[0].requeue(delivery[1])
        except self._passing as error:
            _log.warning(
                "a message could not be returned to the queue and is redelivered when its lease expires: %s", error
            )

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:  # noqa: FBT001, FBT002 - kombu's own
        """Acknowledge and remove a message."""
        super().basic_ack(delivery_tag, multiple)  # first: the server may not answer
        delivery = self._deliveries.pop(delivery_tag, None)
        if delivery is not None:
            delivery[0].ack(delivery[1])

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 - kombu's own
        """Requeue a message, or reject it."""
        super().basic_reject(delivery_tag, requeue)
        delivery = self._deliveries.pop(delivery_tag, None)
        if delivery is not None:
            delivery[0].reject(delivery[1])

    def close(self) -> None:
        """Requeue messages that were not acknowledged, and end the leases."""
        super().close()
        while self._queues:
            self._queues.popitem()[1].close()


class Transport(virtual.Transport):
    """A transport that notices a request to end while it waits for messages."""

    Channel: type[virtual.Channel]
    polling_interval = 0.02

    def drain_events(self, connection: object, timeout: float | None = None, **_: object) -> None:
        """Wait for a message, with a timeout, so that a request to end is noticed."""
        super().drain_events(connection, timeout=min(timeout or MAX_WAIT, MAX_WAIT))

    def driver_version(self) -> str:
        """Return the version of the message format."""
        return "1"
