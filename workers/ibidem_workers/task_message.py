"""Task messages: the format that a submitter sends; all else is rejected before Celery acts on it.

Celery hands every header to what runs the task, so a stranger's may ask for a time, a time limit or other tasks.
"""

import re
from collections.abc import Mapping

from kombu.message import Message

from ibidem_workers.message_size import COMPRESSION, too_dense

TRIES = "x-delivery-count"
"""The header that tells how often a message was handed out before, as RabbitMQ's quorum queues call it."""

TRIES_BEFORE = "ibidem-tries"
"""The header of a batch that was sent again: how often it had ended its worker by then."""

NAMES = frozenset({"task", "id", "lang", "origin", "root_id", "parent_id", "argsrepr", "kwargsrepr"})
"""Headers that hold a name or a text; any other one of Celery's is empty in a submitter's message."""

FOR_BROKERS = "x-"
"""Before the names of headers that brokers add and Celery does not heed."""

MOST_TRIES = 1_000_000
MOST_NUMBER = 10**12

_RUN = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def check(message: Message, most: int) -> None:
    """Refuse a message that no submitter has sent.

    Args:
        message: As the broker handed it out.
        most: The most bytes of its body.

    Raises:
        ValueError: It is none; says why.
    """
    _check_headers(message.headers)
    body = message.body.encode() if isinstance(message.body, str) else message.body
    if len(body) > most:
        raise ValueError(f"it has {len(body):,} bytes, at most {most:,} are taken")
    if too_dense(body):
        raise ValueError("it holds far more lists or numbers than any document")
    arguments, named, embedded = message.payload
    if named or any(embedded.values()):
        raise ValueError("it asks for more than its task")
    _check_arguments(*arguments)


def _check_headers(headers: Mapping[str, object]) -> None:
    for name, value in headers.items():
        if name in (TRIES, TRIES_BEFORE):
            fine = _is_count(value, MOST_TRIES)
        elif name in NAMES:
            fine = value is None or isinstance(value, str)
        else:
            fine = (
                not value
                or name.startswith(FOR_BROKERS)
                or (name, value) in (("compression", COMPRESSION), ("timelimit", [None, None]), ("ignore_result", True))
            )
        if not fine:
            raise ValueError(f"its header {name!r} is none that a submitter writes")


def _check_arguments(run: object, number: object, records: object, part: object = None) -> None:
    if not isinstance(run, str) or not _RUN.fullmatch(run) or run == "run":  # which is where the runs themselves stand
        raise ValueError("it names no run")
    if not _is_count(number, MOST_NUMBER) or not (part is None or _is_count(part, MOST_NUMBER)):
        raise ValueError("it has no number in its run")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it holds no documents")


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
