"""Redis queue as a Kombu transport: a stream read by a consumer group.

Kombu's own Redis transport takes a message off its list before it notes who has it: a kill in between loses it. What it
noted it hands out again after an hour by default, and it counts no tries. A stream's group does all three at once: a
message is taken and noted in one step, its idle time is a lease, and the server counts how often it was handed out.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kombu.transport.redis import get_redis_error_classes
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from ibidem_core.address import redact
from ibidem_core.errors import Permanent, Unavailable
from ibidem_workers.brokers import transport
from ibidem_workers.brokers.lease import Heartbeat, new_holder
from ibidem_workers.brokers.rabbitmq import redacted_message
from ibidem_workers.brokers.transport import MAX_WAIT, QueuedMessage

GROUP = "workers"
PREFIX = "ibidem:"
GIVEN_UP = ":given-up"  # suffix of the key of a stream of rejected messages

# Seconds after which a server that says nothing counts as gone; a command takes some milliseconds.
ANSWERS_WITHIN = 10.0


class Stream:
    """The messages of one stream, for one process."""

    def __init__(self, client: Redis, name: str, seconds: float) -> None:
        self._client: Any = client  # the library's types cover sync and async clients at once
        self._name, self._seconds = name, seconds
        self._holder = new_holder()
        self._message_ids: set[str] = set()
        self._heart: Heartbeat | None = None
        self._last_recovery = 0.0

    def put(self, message: bytes) -> None:
        """Publish a message."""
        self._client.xadd(self._name, _fields(message, 0))

    def get(self, *, wait: bool = False) -> QueuedMessage | None:
        """Take a message; messages with an expired lease come first."""
        self._heart = self._heart or Heartbeat(self._beat, self._seconds)
        try:
            entry = self._get(wait=wait)
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            self._make_group()
            entry = self._get(wait=wait)
        if entry is not None:
            self._message_ids.add(entry.name)
        return entry

    def _get(self, *, wait: bool) -> QueuedMessage | None:
        return self._claim_lapsed() or self._read_new(int(1_000 * MAX_WAIT) if wait else None)

    def _make_group(self) -> None:
        with contextlib.suppress(ResponseError):  # another process created it
            self._client.xgroup_create(self._name, GROUP, id="0", mkstream=True)

    def _claim_lapsed(self) -> QueuedMessage | None:
        now = time.monotonic()
        if self._last_recovery and now - self._last_recovery < min(self._seconds / 3, 5):
            return None
        idle = int(1_000 * self._seconds)
        messages = self._client.xautoclaim(self._name, GROUP, self._holder, idle, count=1)[1]
        if not messages:
            self._last_recovery = now
            return None
        entry = _read(messages[0])
        return replace(entry, tries=entry.tries + self._delivery_count(entry.name) - 1)

    def _delivery_count(self, name: str) -> int:
        (pending,) = self._client.xpending_range(self._name, GROUP, name, name, 1) or [{"times_delivered": 1}]
        return int(pending["times_delivered"])

    def _read_new(self, wait: int | None) -> QueuedMessage | None:
        streams = self._client.xreadgroup(GROUP, self._holder, {self._name: ">"}, count=1, block=wait)
        if not streams:
            return None
        ((_, (entry,)),) = streams
        return _read(entry)

    def _beat(self) -> bool:
        message_ids = list(self._message_ids)
        if message_ids:
            with contextlib.suppress(RedisError, OSError):  # the next beat may reach it
                self._client.xclaim(self._name, GROUP, self._holder, 0, message_ids, justid=True)
        return True

    def ack(self, entry: QueuedMessage) -> None:
        """Remove a message permanently."""
        self._message_ids.discard(entry.name)  # first, so that the lease expires if the server is not reachable
        with self._client.pipeline(transaction=True) as transaction:
            self._remove(transaction, entry)
            transaction.execute()

    def reject(self, entry: QueuedMessage) -> None:
        """Move the message to the stream of rejected messages."""
        self._message_ids.discard(entry.name)
        with self._client.pipeline(transaction=True) as transaction:
            transaction.xadd(self._name + GIVEN_UP, _fields(entry.message, entry.tries))
            self._remove(transaction, entry)
            transaction.execute()

    def requeue(self, entry: QueuedMessage) -> None:
        """Publish the message again and remove the delivered one, in one step."""
        self._message_ids.discard(entry.name)
        with self._client.pipeline(transaction=True) as transaction:
            transaction.xadd(self._name, _fields(entry.message, entry.tries))
            self._remove(transaction, entry)
            transaction.execute()

    def _remove(self, transaction: Any, entry: QueuedMessage) -> None:
        transaction.xack(self._name, GROUP, entry.name)
        transaction.xdel(self._name, entry.name)

    def size(self) -> int:
        """Count the messages without a lease."""
        length = int(self._client.xlen(self._name))
        try:
            return length - int(self._client.xpending(self._name, GROUP)["pending"])
        except ResponseError:  # no message was ever taken
            return length

    def purge(self) -> int:
        """Remove the messages without a lease."""
        self._make_group()
        count = 0
        while entry := self._read_new(None):
            self.ack(entry)
            count += 1
        return count

    def close(self) -> None:
        """Stop the heartbeat; unfinished messages go to other workers once the lease has expired."""
        if self._heart is not None:
            self._heart.stop()
            self._heart = None
        with contextlib.suppress(RedisError, OSError):
            # Deleting a consumer with pending messages would make the server forget them.
            if not self._client.xpending_range(self._name, GROUP, "-", "+", 1, self._holder):
                self._client.xgroup_delconsumer(self._name, GROUP, self._holder)


def connect(url: str) -> Redis:
    """Create a client that detects a lost server; it connects with its first command."""
    return Redis.from_url(url, protocol=2, socket_timeout=ANSWERS_WITHIN, socket_connect_timeout=ANSWERS_WITHIN / 2)


def count_given_up(url: str, queue: str) -> tuple[str, int]:
    """Return the name of the stream of rejected messages, and their number."""
    key = PREFIX + queue + GIVEN_UP
    with open_client(url) as client:
        check_key(client, key)
        return key, int(client.xlen(key))


def check_key(client: Any, key: str) -> None:
    """Check that a key is free or holds a stream."""
    kind = client.type(key).decode()
    if kind not in ("none", "stream"):
        raise Permanent(
            f"the key {key!r} of the broker holds a {kind}, not a stream: another program uses it",
            "name another database of the server in IBIDEM_BROKER, such as redis://HOST/1; or, where nothing needs the "
            f"{kind}: redis-cli DEL {key}",
        )


def configuration(url: str, *names: str) -> dict[str, str]:
    """Read some of the server's settings, if permitted."""
    values: dict[str, str] = {}
    with open_client(url) as client:
        for name in names:
            with contextlib.suppress(ResponseError):
                values |= client.config_get(name)
    return values


@contextlib.contextmanager
def open_client(url: str) -> Iterator[Any]:
    """Open a client for a few requests."""
    client = connect(url)
    try:
        yield client
    except (RedisError, OSError) as error:
        message = f"the broker {redact(url)} does not answer: {redacted_message(error, url)}"
        raise Unavailable(message, "start it, or try again") from error
    finally:
        client.close()


def _fields(message: bytes, tries: int) -> dict[str, Any]:
    return {"message": message, "tries": tries}


def _read(entry: tuple[bytes, Mapping[bytes, bytes]]) -> QueuedMessage:
    """Parse an entry; an entry without our fields becomes an empty message."""
    name, fields = entry
    tries = fields.get(b"tries", b"0")
    return QueuedMessage(name.decode(), fields.get(b"message", b""), int(tries[:9]) if tries.isdigit() else 0)


class Channel(transport.Channel):
    """Kombu's channel on streams."""

    def __init__(self, connection: Any) -> None:
        options = connection.client.transport_options
        self._client = connect(options["url"])
        self._client.ping()
        super().__init__(
            connection,
            lambda name: self._open_stream(PREFIX + name, float(options["lease"])),
            transient=(RedisError, OSError),
        )

    def _open_stream(self, key: str, seconds: float) -> Stream:
        for each in (key, key + GIVEN_UP):
            check_key(self._client, each)
        return Stream(self._client, key, seconds)

    def close(self) -> None:
        """Close the channel and its connections."""
        super().close()
        self._client.close()


class Transport(transport.Transport):
    """The transport of the Redis queue, as registered with Celery."""

    Channel = Channel
    driver_type = "redis"
    driver_name = "ibidem queue in Redis"
    connection_errors, channel_errors = get_redis_error_classes()
