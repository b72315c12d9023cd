"""Celery application, configured from the settings: broker, queue, late acknowledgement.

For each broker (file queue, RabbitMQ, Redis) a class configures Celery, checks the client and counts rejected messages.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kombu.serialization
import orjson
from amqp.exceptions import AMQPError
from celery import Celery
from kombu.connection import Connection
from kombu.entity import Queue
from kombu.exceptions import OperationalError
from typing_extensions import override

from ibidem_core.address import redact
from ibidem_core.errors import Unavailable
from ibidem_core.settings import Settings
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import UsageError
from ibidem_workers.batches import Batch, SerializedBatch, batch_key
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.brokers.rabbitmq import redacted_message, translate_error
from ibidem_workers.messages import COMPRESSION, TRIES_BEFORE, most_of_message, register_compression

RAW = 2  # bytes at most that one byte of a body takes in a queue of ours, where a body is a string of JSON

FOREIGN = "that no submitter has sent"
TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class RejectedMessages:
    """Messages that no worker can process: foreign or poison."""

    count: int  # how many
    what: str  # description of the messages
    where: str  # their place, as the broker's own tools call it
    remedy: str  # how to remove them


class Broker(ABC):
    """One kind of broker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    def celery_config(self) -> dict[str, Any]:
        """Return Celery's configuration for this broker: address, transport, queues."""

    @abstractmethod
    def count_rejected(self) -> RejectedMessages:
        """Count the messages that no worker can process."""

    def require_client(self) -> None:  # noqa: B027 - most brokers need no more than the core install
        """Refuse a broker whose client is not installed."""


class FileQueue(Broker):
    """File queue: folders of messages, without a server."""

    @override
    def celery_config(self) -> dict[str, Any]:
        folder = str(self.settings.queue_folder or Path())
        return {
            "broker_url": "filesystem://localhost/",
            "broker_transport": "ibidem_workers.brokers.files:Transport",
            "broker_transport_options": {"folder": folder, **_transport_options(self.settings)},
        } | _own_queue(self.settings)

    @override
    def count_rejected(self) -> RejectedMessages:
        settings = self.settings
        folder = SpoolDirectory((settings.queue_folder or settings.tables) / settings.queue, settings.lease)
        return RejectedMessages(len(list(folder.given_up.iterdir())), FOREIGN, str(folder.given_up), "remove them")


class RabbitMq(Broker):
    """Quorum queues on RabbitMQ."""

    @override
    def celery_config(self) -> dict[str, Any]:
        settings = self.settings
        arguments = {
            "x-queue-type": "quorum",
            # Our own split and dead letters act at `tries`; the broker's limit is the last resort.
            "x-delivery-limit": settings.most_tries,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": self._dead_queue,
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
        }
        return {
            "broker_url": settings.broker,
            "broker_transport_options": {"confirm_publish": True},
            "task_default_queue_type": "quorum",
            "worker_detect_quorum_queues": True,
            "task_queues": [
                Queue(settings.queue, queue_arguments=arguments),
                Queue(self._dead_queue, queue_arguments={"x-queue-type": "quorum"}),
            ],
        }

    @override
    def count_rejected(self) -> RejectedMessages:
        broker, name = self.settings.broker, self._dead_queue
        try:
            with Connection(broker, connect_timeout=TIMEOUT_S) as connection:
                count = connection.default_channel.queue_declare(name, passive=True).message_count
        except AMQPError as error:
            raise translate_error(error, broker) from error
        except (OperationalError, OSError) as error:
            message = f"the broker {redact(broker)} does not answer: {redacted_message(error, broker)}"
            raise Unavailable(message, "try again") from error
        message = f"{FOREIGN}, or that ended its workers too often"
        return RejectedMessages(count, message, f"queue {name}", f"rabbitmqctl purge_queue {name}")

    @property
    def _dead_queue(self) -> str:
        return f"{self.settings.queue}-dead"


class RedisStream(Broker):
    """A stream in Redis."""

    @override
    def require_client(self) -> None:
        if find_spec("redis") is None:
            raise UsageError("a queue in Redis needs its client", install_command("redis"))

    @override
    def celery_config(self) -> dict[str, Any]:
        return {
            "broker_url": self.settings.broker,
            "broker_transport": "ibidem_workers.brokers.redis:Transport",
            "broker_transport_options": {"url": self.settings.broker, **_transport_options(self.settings)},
        } | _own_queue(self.settings)

    @override
    def count_rejected(self) -> RejectedMessages:
        from ibidem_workers.brokers.redis import count_given_up  # noqa: PLC0415 - its client is an extra

        key, count = count_given_up(self.settings.broker, self.settings.queue)
        return RejectedMessages(count, FOREIGN, f"stream {key}", f"redis-cli DEL {key}")


def _transport_options(settings: Settings) -> dict[str, Any]:
    return {
        "lease": settings.lease,
        "most": RAW * most_of_message(settings),
        "queue": settings.queue,
        "body_encoding": None,
    }


def _own_queue(settings: Settings) -> dict[str, Any]:
    """Configure our queue."""
    return {
        "task_queues": [Queue(settings.queue)],
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
    }


BY_SCHEME: Mapping[str, type[Broker]] = {
    "filesystem": FileQueue,
    "amqp": RabbitMq,
    "amqps": RabbitMq,
    "redis": RedisStream,
    "rediss": RedisStream,
}


def make_broker(settings: Settings) -> Broker:
    """Return the configured broker.

    >>> type(make_broker(Settings(broker="redis://127.0.0.1/0"))).__name__
    'RedisStream'
    """
    return BY_SCHEME[settings.broker.partition("://")[0]](settings)


TASK = "ibidem.sign_and_write"
COMPRESSED_FROM = 20_000  # bytes from which a message to RabbitMQ is compressed; it refuses messages over 16 MB

# Name of our JSON serializer in Kombu: it inserts documents that are JSON already as they are.
SERIALIZER = "ibidem-json"


def _as_json(message: object) -> str:
    return orjson.dumps(message).decode()


kombu.serialization.register(SERIALIZER, _as_json, None, "application/json")
kombu.serialization.register("json", None, None, "application/json")  # the content type keeps its name

_COMMON: dict[str, object] = {
    "accept_content": ["json"],
    "task_serializer": SERIALIZER,
    "task_ignore_result": True,
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": False,
    "worker_prefetch_multiplier": 1,
    "worker_consumer": "ibidem_workers.consumer:Consumer",
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # a worker waits for its broker forever
    "broker_heartbeat": 0,  # a worker answers none while it signs; the next delivery detects a dead connection
}


def make_app(settings: Settings) -> Celery:
    """Create the application, without connecting."""
    register_compression(most_of_message(settings))
    app = Celery("ibidem", set_as_current=False)
    app.conf.update(_COMMON)
    app.conf.update(task_default_queue=settings.queue, task_create_missing_queues=False)
    app.conf.update(ibidem_message_bytes=most_of_message(settings))
    app.conf.update(make_broker(settings).celery_config())
    return app


def send(app: Celery, run: str, batch: Batch | SerializedBatch, tries: int | None = None) -> None:
    """Send a batch to the queue."""
    with _publishing(app):
        app.send_task(
            TASK,
            args=[run, batch.number, batch.body, batch.part],
            argsrepr=batch_key(run, batch.number, batch.part),
            kwargsrepr="",
            compression=_compression(app, batch),
            headers={} if tries is None else {TRIES_BEFORE: tries},
        )


@contextmanager
def _publishing(app: Celery) -> Iterator[None]:
    """Translate the errors of a broker that does not accept messages."""
    try:
        yield
    except AMQPError as error:
        raise translate_error(error, app.conf.broker_write_url or "") from error
    except (OperationalError, OSError) as error:
        url = app.conf.broker_write_url or ""
        raise Unavailable(
            f"the broker {redact(url)} does not take messages: {redacted_message(error, url)}",
            "check the broker (IBIDEM_BROKER), then run the same command again",
        ) from error


def connect_broker(settings: Settings) -> None:
    """Connect to the broker once, and check the queue, which is created if missing."""
    make_broker(settings).require_client()
    app = make_app(settings)
    try:
        with app.connection_for_write() as connection:
            _connect(connection)
            for queue in app.conf.task_queues:
                queue(connection.default_channel).declare()
    except AMQPError as error:
        raise translate_error(error, settings.broker) from error
    except (OperationalError, OSError) as error:
        message = f"the broker {redact(settings.broker)} does not answer: {redacted_message(error, settings.broker)}"
        raise Unavailable(message, "start it, or correct IBIDEM_BROKER") from error


def _connect(connection: Connection) -> None:
    connection.ensure_connection(max_retries=1, timeout=5, interval_start=0.2)


def _compression(app: Celery, batch: Batch | SerializedBatch) -> str | None:
    if app.conf.broker_transport:
        return None  # a queue of ours, which compresses by itself
    return COMPRESSION if batch.size > COMPRESSED_FROM else None
