"""Broker: file queue, RabbitMQ or Redis, as Celery is configured for it, checked, and asked for rejected messages."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amqp.exceptions import AMQPError
from kombu.connection import Connection
from kombu.entity import Queue
from kombu.exceptions import OperationalError
from typing_extensions import override

from ibidem_engines.errors import Unavailable
from ibidem_engines.redaction import redact
from ibidem_ingest.errors import UsageError
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.brokers.rabbitmq import message_of, of_broker
from ibidem_workers.message_size import most_of_message
from ibidem_workers.settings import Settings

RAW = 2
"""How many bytes one of a body's takes at the most in a queue of ours, where a body is a string of JSON."""

FOREIGN = "that no submitter has sent"
TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class RejectedMessages:
    """Messages that no worker carries out: foreign or poison.

    Args:
        count: How many.
        what: What they are.
        where: The place, as the broker's own tools call it.
        remedy: How they are removed.
    """

    count: int
    what: str
    where: str
    remedy: str


class Broker(ABC):
    """One kind of broker.

    Args:
        settings: The settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @abstractmethod
    def celery_config(self) -> dict[str, Any]:
        """Return what Celery is configured with for this broker: address, transport, queues."""

    @abstractmethod
    def rejected(self) -> RejectedMessages:
        """Count the messages that no worker carries out.

        Raises:
            Unavailable: It does not answer.
            Permanent: It refuses the user or the queue.
        """

    def require_client(self) -> None:  # noqa: B027 - most brokers need no more than the core install
        """Refuse a broker whose client is not installed.

        Raises:
            UsageError: It is missing, with the extra that has it.
        """


class FileQueue(Broker):
    """Folders of messages, with nothing installed."""

    @override
    def celery_config(self) -> dict[str, Any]:
        folder = str(self.settings.queue_folder or Path())
        return {
            "broker_url": "filesystem://localhost/",
            "broker_transport": "ibidem_workers.brokers.files:Transport",
            "broker_transport_options": {"folder": folder, **_transport_options(self.settings)},
        } | _own_queue(self.settings)

    @override
    def rejected(self) -> RejectedMessages:
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
            # Our own split and dead letters act at `tries`; the broker's limit is the net below them.
            "x-delivery-limit": settings.most_tries,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": self._dead,
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
                Queue(self._dead, queue_arguments={"x-queue-type": "quorum"}),
            ],
        }

    @override
    def rejected(self) -> RejectedMessages:
        broker, name = self.settings.broker, self._dead
        try:
            with Connection(broker, connect_timeout=TIMEOUT_S) as connection:
                count = connection.default_channel.queue_declare(name, passive=True).message_count
        except AMQPError as error:
            raise of_broker(error, broker) from error
        except (OperationalError, OSError) as error:
            what = f"the broker {redact(broker)} does not answer: {message_of(error, broker)}"
            raise Unavailable(what, "try again") from error
        what = f"{FOREIGN}, or that ended its workers too often"
        return RejectedMessages(count, what, f"queue {name}", f"rabbitmqctl purge_queue {name}")

    @property
    def _dead(self) -> str:
        return f"{self.settings.queue}-dead"


class RedisStream(Broker):
    """A stream in Redis."""

    @override
    def require_client(self) -> None:
        if find_spec("redis") is None:
            raise UsageError(
                "a queue in Redis needs its client", "from a copy of the repository: pip install '.[redis]'"
            )

    @override
    def celery_config(self) -> dict[str, Any]:
        return {
            "broker_url": self.settings.broker,
            "broker_transport": "ibidem_workers.brokers.redis:Transport",
            "broker_transport_options": {"url": self.settings.broker, **_transport_options(self.settings)},
        } | _own_queue(self.settings)

    @override
    def rejected(self) -> RejectedMessages:
        from ibidem_workers.brokers.redis import given_up  # noqa: PLC0415 - its client is an extra

        key, count = given_up(self.settings.broker, self.settings.queue)
        return RejectedMessages(count, FOREIGN, f"stream {key}", f"redis-cli DEL {key}")


def _transport_options(settings: Settings) -> dict[str, Any]:
    return {"lease": settings.lease, "most": RAW * most_of_message(settings), "body_encoding": None}


def _own_queue(settings: Settings) -> dict[str, Any]:
    """Configure a queue of ours, which carries batches and nothing else."""
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


def broker_of(settings: Settings) -> Broker:
    """Return the broker that the settings name.

    >>> type(broker_of(Settings(broker="redis://127.0.0.1/0"))).__name__
    'RedisStream'
    """
    return BY_SCHEME[settings.broker.partition("://")[0]](settings)
