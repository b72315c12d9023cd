"""Errors of RabbitMQ, translated into ours by one table."""

from amqp.exceptions import AccessRefused, AMQPError, NotAllowed, PreconditionFailed, ResourceError

from ibidem_core.address import redact, redact_text, secrets
from ibidem_core.errors import EngineError, Permanent, Unavailable

# By the class of the client's error: whether to try again, what happened, what to do.
REFUSED: tuple[tuple[type[AMQPError], type[EngineError], str, str], ...] = (
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
)


def redacted_message(error: Exception, broker: str) -> str:
    """Return the message of a client error, without the secrets in the broker's address."""
    return redact_text(str(error).rstrip("."), secrets([broker]))


def translate_error(error: AMQPError, broker: str) -> EngineError:
    address, message = redact(broker), redacted_message(error, broker)
    for client_type, error_type, reason, remedy in REFUSED:
        if isinstance(error, client_type):
            return error_type(f"the broker {address} {reason}: {message}", remedy)
    return Unavailable(
        f"the broker {address} closed the connection: {message}", "look at its log, then run the same command again"
    )
