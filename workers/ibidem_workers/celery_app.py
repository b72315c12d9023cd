"""Celery application made from the settings: broker, queue, late acknowledgement."""

import kombu.serialization
import orjson
from amqp.exceptions import AMQPError
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import OperationalError

from ibidem_engines.errors import Unavailable
from ibidem_engines.redaction import redact
from ibidem_workers.batches import Batch
from ibidem_workers.brokers.broker import broker_of
from ibidem_workers.brokers.rabbitmq import message_of, of_broker
from ibidem_workers.message_size import COMPRESSION, most_of_message, register_compression
from ibidem_workers.settings import Settings
from ibidem_workers.task_message import TRIES_BEFORE

TASK = "ibidem.sign_and_write"
COMPRESSED_FROM = 20_000
"""Bytes from which a message to RabbitMQ is compressed; it refuses those over 16 MB."""

SERIALIZER = "ibidem-json"
"""Under which Kombu knows how we write JSON: documents that are JSON already go in as they are."""


def _as_json(message: object) -> str:
    return orjson.dumps(message).decode()


kombu.serialization.register(SERIALIZER, _as_json, None, "application/json")
kombu.serialization.register("json", None, None, "application/json")  # the type goes on being called so

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
    "broker_connection_max_retries": None,  # a worker waits for its broker as long as that is away
    "broker_heartbeat": 0,  # a worker that signs answers none; a dead connection is noticed by the next delivery
}


def make_app(settings: Settings) -> Celery:
    """Make the application; it connects to nothing yet."""
    register_compression(most_of_message(settings))
    app = Celery("ibidem", set_as_current=False)
    app.conf.update(_COMMON)
    app.conf.update(task_default_queue=settings.queue, task_create_missing_queues=False)
    app.conf.update(ibidem_message_bytes=most_of_message(settings))
    app.conf.update(broker_of(settings).celery_config())
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
            args=[run, batch.number, batch.body, batch.part],
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
    broker_of(settings).require_client()
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
        return None  # a queue of ours, which compresses by itself
    large = sum(map(len, batch.json)) or sum(len(str(record.get("text", ""))) for record in batch.records)
    return COMPRESSION if large > COMPRESSED_FROM else None
