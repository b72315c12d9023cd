"""Refusals of RabbitMQ become our errors with a remedy; their class says whether a retry may help."""

import pytest
from amqp.exceptions import AccessRefused, AMQPError, NotAllowed, PreconditionFailed, RecoverableConnectionError

from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_core.settings import Settings
from ibidem_workers.celery_app import connect_broker, make_app, send, translate_error


@pytest.mark.parametrize(
    ("error", "error_class", "remedy"),
    [
        (AccessRefused("no"), Permanent, "IBIDEM_BROKER"),
        (NotAllowed("no"), Permanent, "NAME"),
        (PreconditionFailed("no"), Permanent, "delete_queue"),
        (RecoverableConnectionError("gone"), Unavailable, "again"),
    ],
)
def test_each_refusal_has_its_class_and_its_remedy(
    error: AMQPError, error_class: type[EngineError], remedy: str
) -> None:
    failure = translate_error(error, "amqp://me:secret@mq//")
    assert type(failure) is error_class
    assert "amqp://***@mq//" in failure.what
    assert remedy in failure.remedy


@pytest.mark.server("rabbitmq")
def test_a_wrong_password_is_not_repeated_in_the_message(rabbitmq: str) -> None:
    broker = rabbitmq.replace("guest:guest", "guest:s3cret")
    with pytest.raises(Permanent, match="user and password") as caught:
        connect_broker(Settings(broker=broker))
    assert "s3cret" not in str(caught.value)
    with pytest.raises(Permanent, match="user and password"):
        send(make_app(Settings(broker=broker)), "run", 0, [{"id": "a", "text": "x"}])
