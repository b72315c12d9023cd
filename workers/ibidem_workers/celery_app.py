"""Celery application, configured from the settings: broker, queue, late acknowledgement."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import kombu.serialization
import orjson
from amqp.exceptions import AccessRefused, AMQPError, NotAllowed, PreconditionFailed, ResourceError
from celery import Celery
from kombu.entity import Queue
from kombu.exceptions import OperationalError

from ibidem_core.address import redact, redact_text, secrets
from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_core.settings import Settings
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import UsageError
from ibidem_workers.batches import COMPRESSION, REDELIVERY, SentRecord, batch_key, most_of_message, register_compression

TIMEOUT_S = 5

# Deliveries of a message before RabbitMQ sets it aside (from version 4 on after 20, unless told): the ledger splits a
# batch after `tries`, and then each of its documents may end a worker as often.
MAX_DELIVERIES = 10_000


def count_rejected(settings: Settings) -> tuple[int, str, str]:
    """Count the messages that no worker can process, foreign or poison; returns also queue and remedy."""
    app = make_app(settings)
    connection = app.connection_for_read(connect_timeout=TIMEOUT_S)
    with _errors(settings.broker, "does not answer", "start it, or try again"), connection:
        queue = app.conf.task_queues[-1](connection.default_channel)
        count = queue.queue_declare().message_count
    remedy = f"redis-cli DEL ibidem:{queue.name}" if _is_redis(settings) else f"rabbitmqctl purge_queue {queue.name}"
    return count, queue.name, remedy


def _is_redis(settings: Settings) -> bool:
    return settings.broker.startswith("redis")


def _rabbitmq_config(queue: str, dead_queue: str, lease: int) -> dict[str, Any]:
    quorum: dict[str, object] = {"x-queue-type": "quorum"}
    arguments = quorum | {
        "x-delivery-limit": MAX_DELIVERIES,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": dead_queue,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }
    return {
        "broker_transport_options": {"confirm_publish": True},
        "broker_heartbeat": lease,
        "task_default_queue_type": "quorum",
        "worker_detect_quorum_queues": True,
        "task_queues": [Queue(queue, queue_arguments=arguments), Queue(dead_queue, queue_arguments=quorum)],
    }


def _redis_config(queue: str, dead_queue: str, lease: int) -> dict[str, Any]:
    return {
        "broker_transport": "ibidem_workers.redis_transport:Transport",
        "broker_transport_options": {
            "global_keyprefix": "ibidem:",
            "deadletter_queue": dead_queue,
            "unacked_key": f"{queue}-unacked",
            "unacked_index_key": f"{queue}-unacked-index",
            "unacked_mutex_key": f"{queue}-unacked-mutex",
            "visibility_timeout": lease,
            "unacked_restore_interval": max(1, lease / 5),
            "unacked_restore_throttle": 1,  # by default lapsed messages come up to 100 s later
            "unacked_mutex_expire": max(2, lease),  # by default none come for five minutes after a kill
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
            "health_check_interval": 5,
        },
        "task_queues": [Queue(queue), Queue(dead_queue)],
    }


TASK = "ibidem.sign_and_write"

# Name of our JSON serializer in Kombu: it inserts documents that are JSON already as they are.
SERIALIZER = "ibidem-json"


kombu.serialization.register(SERIALIZER, lambda message: orjson.dumps(message).decode(), None, "application/json")
kombu.serialization.register("json", None, None, "application/json")  # the content type keeps its name

_COMMON: dict[str, object] = {
    "accept_content": ["json"],
    "task_serializer": SERIALIZER,
    "task_ignore_result": True,
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": False,
    "worker_prefetch_multiplier": 1,
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # a worker waits for its broker forever
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "worker_cancel_long_running_tasks_on_connection_loss": False,  # the ledger skips what comes twice
}


def make_app(settings: Settings) -> Celery:
    """Create the application, without connecting; refuses a broker whose client is not installed."""
    if _is_redis(settings) and find_spec("redis") is None:
        raise UsageError("a queue in Redis needs its client", install_command("redis"))
    register_compression(most_of_message(settings))
    app = Celery("ibidem", set_as_current=False)
    app.conf.update(_COMMON)
    app.conf.update(task_default_queue=settings.queue, task_create_missing_queues=False)
    app.conf.update(broker_url=settings.broker, ibidem_message_bytes=most_of_message(settings))
    configure = _redis_config if _is_redis(settings) else _rabbitmq_config
    app.conf.update(configure(settings.queue, f"{settings.queue}-dead", settings.lease))
    if _is_redis(settings):
        app.steps["consumer"].add("ibidem_workers.redis_transport:Renewal")
    return app


def send(
    app: Celery, run: str, number: int, documents: Sequence[orjson.Fragment | SentRecord], *, again: bool = False
) -> None:
    """Send a batch to the queue; `again` where an earlier message may have been worked on."""
    remedy = "check the broker (IBIDEM_BROKER), then run the same command again"
    with _errors(app.conf.broker_write_url or "", "does not take messages", remedy):
        app.send_task(
            TASK,
            args=[run, number, documents],
            argsrepr=batch_key(run, number),
            kwargsrepr="",
            compression=COMPRESSION,
            headers={REDELIVERY: True} if again else {},
        )


@contextmanager
def _errors(url: str, failure: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except AMQPError as error:
        rows = (row[1:] for row in BROKER_ERRORS if isinstance(error, row[0]))
        error_type, reason, remedy = next(rows)  # the last one is of every error
        raise error_type(f"the broker {redact(url)} {reason}: {redacted_message(error, url)}", remedy) from error
    except (OperationalError, OSError) as error:
        raise Unavailable(f"the broker {redact(url)} {failure}: {redacted_message(error, url)}", remedy) from error


# By the class of the client's error: whether to try again, what happened, what to do.
BROKER_ERRORS: tuple[tuple[type[AMQPError], type[EngineError], str, str], ...] = (
    (
        AccessRefused,
        Permanent,
        "rejects this user and password, or does not permit the user to use the queue",
        "correct them in IBIDEM_BROKER, or give the user the right to configure, write and read",
    ),
    (
        NotAllowed,
        Permanent,
        "has no such virtual host, or does not permit it to this user",
        "name another in IBIDEM_BROKER: amqp://user:password@host/NAME; `//` at the end is the default one",
    ),
    (
        PreconditionFailed,
        Permanent,
        "already has the queue, with other arguments (from another version, or another IBIDEM_TRIES)",
        "let workers of that version empty it, then delete it: rabbitmqctl delete_queue NAME",
    ),
    (
        ResourceError,
        Unavailable,
        "has no room for the queue",
        "look at its log; free space on its disk or in its memory",
    ),
    (AMQPError, Unavailable, "closed the connection", "look at its log, then run the same command again"),
)


def redacted_message(error: Exception, broker: str) -> str:
    """Return the message of a client error, without the secrets in the broker's address."""
    return redact_text(str(error).rstrip("."), secrets([broker]))


def connect_broker(settings: Settings) -> None:
    """Connect to the broker once, and check the queue, which is created if missing."""
    app = make_app(settings)
    remedy = "start it, or correct IBIDEM_BROKER"
    with _errors(settings.broker, "does not answer", remedy), app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=TIMEOUT_S, interval_start=0.2)
        for queue in app.conf.task_queues:
            queue(connection.default_channel).declare()
