"""Messages as they lie in the queues of ours: what another program has laid there is told apart before it is used."""

from collections.abc import Mapping
from typing import Any

import orjson

from ibidem_workers.message_size import too_dense

_MESSAGE: Mapping[str, type] = {
    "body": str,
    "content-type": str,
    "content-encoding": str,
    "headers": dict,
    "properties": dict,
}
_PROPERTIES: Mapping[str, type] = {"delivery_tag": str, "delivery_info": dict}


def read_message(data: bytes, most: int | None = None) -> dict[str, Any] | None:
    """Read a message; None for one that is too large or not built as Celery builds them.

    Args:
        data: Its bytes.
        most: How many these may be.

    >>> read_message(b"not a message") is None
    True
    """
    if most is not None and (len(data) > most or too_dense(data)):
        return None
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return message if _built(message, _MESSAGE) and _built(message["properties"], _PROPERTIES) else None


def _built(value: object, parts: Mapping[str, type]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in parts.items())
