"""Kombu's Redis transport as workers use it: leases are renewed, and messages of other programs set aside.

Kombu takes a message off its list before it notes who has it: a kill in between loses the message, which whoever waits
for its run sends again.
"""

import contextlib
import logging
import time
from queue import Empty
from typing import Any

from celery import bootsteps
from kombu.transport import redis
from redis import Redis
from redis.exceptions import ConnectionError, RedisError, ResponseError  # noqa: A004 - it is the server's
from typing_extensions import override

from ibidem_core.address import redact
from ibidem_core.errors import Unavailable
from ibidem_workers.celery_app import redacted_message

ANSWERS_WITHIN = 10.0  # seconds after which a server that says nothing counts as gone; a command takes milliseconds

_log = logging.getLogger(__name__)


class Renewal(bootsteps.StartStopStep):  # type: ignore[misc] # celery publishes no types
    """Renews the lease of what is worked on: Kombu hands a message out again when its visibility timeout is over."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        channel = consumer.task_consumer.channel
        seconds = channel.visibility_timeout / 3
        self._timer = consumer.timer.call_repeatedly(seconds, self._renew, (channel,))

    def stop(self, _: Any) -> None:
        self._timer.cancel()

    def _renew(self, channel: Any) -> None:
        if channel.is_lost:
            raise ConnectionError("a message could not be acknowledged")
        if tags := list(channel.qos._delivered):  # noqa: SLF001 - Kombu names them nowhere else
            with channel.conn_or_acquire() as client:
                client.zadd(channel.unacked_index_key, dict.fromkeys(tags, time.time()), xx=True)


class Channel(redis.Channel):
    """Kombu's channel, which keeps rejected messages, and which nothing that is no message ends."""

    is_lost = False  # whether a message could not be acknowledged, since the server was away

    @override
    def _brpop_read(self, **options: object) -> object:
        try:
            return super()._brpop_read(**options)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            _log.warning("what is no message is dropped from the queue: %s: %s", type(error).__name__, error)
            raise Empty from error

    @override
    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Note an error: Kombu logs it, and would take no message any more, nor see that its connection is lost."""
        try:
            super().basic_ack(delivery_tag, multiple)
        except self.connection_errors:
            self.is_lost = True
            raise

    @override
    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if not requeue:
            self._put(self.deadletter_queue, self.qos.get(delivery_tag).serializable())
        super().basic_reject(delivery_tag, requeue)


class Transport(redis.Transport):
    """Kombu's transport with this channel."""

    Channel = Channel


def configuration(url: str, *names: str) -> dict[str, str]:
    """Read some of the server's settings, if permitted."""
    values: dict[str, str] = {}
    client: Any = Redis.from_url(url, socket_timeout=ANSWERS_WITHIN, socket_connect_timeout=ANSWERS_WITHIN / 2)
    try:
        for name in names:
            with contextlib.suppress(ResponseError):
                values |= client.config_get(name)
    except (RedisError, OSError) as error:
        message = f"the broker {redact(url)} does not answer: {redacted_message(error, url)}"
        raise Unavailable(message, "start it, or try again") from error
    finally:
        client.close()
    return values
