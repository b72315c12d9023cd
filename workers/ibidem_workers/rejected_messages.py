"""Count rejected messages (foreign or poison) on each broker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from amqp.exceptions import AMQPError
from kombu.exceptions import OperationalError

from ibidem_engines.errors import Unavailable
from ibidem_engines.redaction import redact
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.brokers.rabbitmq import message_of, of_broker
from ibidem_workers.celery_app import make_app
from ibidem_workers.settings import Settings

FOREIGN = "that no submitter has sent"


@dataclass(frozen=True, slots=True)
class RejectedMessages:
    """What lies apart.

    Args:
        count: How many messages.
        what: What they are.
        where: The place, as its own tools call it.
        remedy: How they are removed.
    """

    count: int
    what: str
    where: str
    remedy: str


def count_rejected(settings: Settings) -> RejectedMessages:
    """Count them, on whichever broker.

    Raises:
        Unavailable: It does not answer.
        Permanent: It refuses the user or the queue.
    """
    return _OF_BROKER[settings.broker.partition("://")[0]](settings)


def _in_folder(settings: Settings) -> RejectedMessages:
    folder = SpoolDirectory((settings.queue_folder or settings.tables) / settings.queue, settings.lease)
    return RejectedMessages(len(list(folder.given_up.iterdir())), FOREIGN, str(folder.given_up), "remove them")


def _in_rabbitmq(settings: Settings) -> RejectedMessages:
    name = f"{settings.queue}-dead"
    try:
        with make_app(settings).connection_for_write() as connection:
            told = connection.default_channel.queue_declare(name, passive=True)
    except AMQPError as error:
        raise of_broker(error, settings.broker) from error
    except (OperationalError, OSError) as error:
        what = f"the broker {redact(settings.broker)} does not answer: {message_of(error, settings.broker)}"
        raise Unavailable(what, "try again") from error
    what = f"{FOREIGN}, or that ended its workers too often"
    return RejectedMessages(told.message_count, what, f"queue {name}", f"rabbitmqctl purge_queue {name}")


def _in_redis(settings: Settings) -> RejectedMessages:
    from ibidem_workers.brokers.redis import given_up  # noqa: PLC0415 - its client is an extra

    key, count = given_up(settings.broker, settings.queue)
    return RejectedMessages(count, FOREIGN, f"stream {key}", f"redis-cli DEL {key}")


_OF_BROKER: Mapping[str, Callable[[Settings], RejectedMessages]] = {
    "filesystem": _in_folder,
    "amqp": _in_rabbitmq,
    "amqps": _in_rabbitmq,
    "redis": _in_redis,
    "rediss": _in_redis,
}
