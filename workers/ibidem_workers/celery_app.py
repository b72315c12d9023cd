"""Celery application made from the settings: broker, queue, late acknowledgement."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from amqp.exceptions import AMQPError
from celery import Celery
from kombu.connection import Connection
from kombu.entity import Queue
from kombu.exceptions import OperationalError

from ibidem_engines.errors import Unavailable
from ibidem_engines.redaction import redact
from ibidem_ingest.errors import UsageError
from ibidem_workers.batches import Batch
from ibidem_workers.brokers.rabbitmq import message_of, of_broker
from ibidem_workers.message_size import most_of_message
from ibidem_workers.settings import Settings
from ibidem_workers.task_message import TRIES_BEFORE

TASK = "ibidem.sign_and_write"
COMPRESSED_FROM = 4_000_000
"""Bytes from which a message to a server is compressed: RabbitMQ 4 refuses those over 16 MB."""

RAW = 2
"""How many bytes one of a body's takes at the most in a queue of ours, where a body is a string of JSON."""

_COMMON: dict[str, object] = {
    "accept_content": ["json"],
    "task_serializer": "json",
    "task_ignore_result": True,
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": False,
    "worker_prefetch_multiplier": 1,
    "worker_consumer": "ibidem_workers.consumer:Consumer",
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # a worker waits for its broker as long as that is away
    "broker_heartbeat": 0,  # a worker that signs answers none; a dead connection is noticed by the next delivery
}

_ALONE: dict[str, object] = {"worker_enable_remote_control": False, "worker_send_task_events": False}
"""For the queues of ours, which carry batches and nothing else."""


def make_app(settings: Settings) -> Celery:
    """Make the application; it connects to nothing yet."""
    app = Celery("ibidem", set_as_current=False)
    app.conf.update(_COMMON)
    app.conf.update(task_default_queue=settings.queue, task_create_missing_queues=False)
    app.conf.update(ibidem_message_bytes=most_of_message(settings))
    app.conf.update(_OF_BROKER[settings.broker.partition("://")[0]](settings))
    return app


def send(app: Celery, run: str, batch: Batch, tries: int | None = None) -> None:
    """Send a batch to the queue.

    Args:
        app: The application.
        run: The run that the batch belongs to.
        batch: The documents.
        tries: Of one that is sent again: how often it ended its worker.

    Raises:
        Unavailable: The broker does not answer.
        Permanent: It refuses the user, the virtual host or the queue.
    """
    try:
        app.send_task(
            TASK,
            args=[run, batch.number, batch.records, batch.part],
            argsrepr=batch.key(run),
            kwargsrepr="",
            compression=_compression(app, batch),
            headers={} if tries is None else {TRIES_BEFORE: tries},
        )
    except AMQPError as error:
        raise of_broker(error, app.conf.broker_write_url or "") from error
    except (OperationalError, OSError) as error:
        url = app.conf.broker_write_url or ""
        raise Unavailable(
            f"the broker {redact(url)} does not take messages: {message_of(error, url)}",
            "look after it (IBIDEM_BROKER), then run the same command again",
        ) from error


def answers(settings: Settings) -> None:
    """Connect to the broker once, and see that the queue is there as it has to be; it is made where it is not.

    Raises:
        Unavailable: It does not answer.
        Permanent: It refuses the user, the virtual host or the queue.
        UsageError: Its client is not installed.
    """
    if settings.broker.startswith("redis") and find_spec("redis") is None:
        raise UsageError("a queue in Redis needs its client", "pip install 'ibidem[redis]'")
    app = make_app(settings)
    try:
        with app.connection_for_write() as connection:
            _connect(connection)
            for queue in app.conf.task_queues:
                queue(connection.default_channel).declare()
    except AMQPError as error:
        raise of_broker(error, settings.broker) from error
    except (OperationalError, OSError) as error:
        what = f"the broker {redact(settings.broker)} does not answer: {message_of(error, settings.broker)}"
        raise Unavailable(what, "start it, or mend IBIDEM_BROKER") from error


def _connect(connection: Connection) -> None:
    connection.ensure_connection(max_retries=1, timeout=5, interval_start=0.2)


def _compression(app: Celery, batch: Batch) -> str | None:
    if app.conf.broker_transport:
        return None  # a queue of ours, which takes messages of any size
    large = sum(len(str(record.get("text", ""))) for record in batch.records) > COMPRESSED_FROM
    return "zlib" if large else None


def _file_queue(settings: Settings) -> dict[str, Any]:
    return {
        "broker_url": "filesystem://localhost/",
        "broker_transport": "ibidem_workers.brokers.files:Transport",
        "broker_transport_options": {
            "folder": str(settings.queue_folder or Path()),
            "lease": settings.lease,
            "most": RAW * most_of_message(settings),
            "body_encoding": None,
        },
        "task_queues": [Queue(settings.queue)],
    } | _ALONE


def _rabbitmq(settings: Settings) -> dict[str, Any]:
    dead = f"{settings.queue}-dead"
    arguments = {
        "x-queue-type": "quorum",
        # Our own split and dead letters act at `tries`; the broker's limit is the net below them.
        "x-delivery-limit": settings.most_tries,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": dead,
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
            Queue(dead, queue_arguments={"x-queue-type": "quorum"}),
        ],
    }


def _redis(settings: Settings) -> dict[str, Any]:
    return {
        "broker_url": settings.broker,
        "broker_transport": "ibidem_workers.brokers.redis:Transport",
        "broker_transport_options": {
            "url": settings.broker,
            "lease": settings.lease,
            "most": RAW * most_of_message(settings),
            "body_encoding": None,
        },
        "task_queues": [Queue(settings.queue)],
    } | _ALONE


_OF_BROKER = {
    "filesystem": _file_queue,
    "amqp": _rabbitmq,
    "amqps": _rabbitmq,
    "redis": _redis,
    "rediss": _redis,
}
