"""Messages as they lie in the queues of ours: what another program has laid there is told apart before it is used."""

from collections.abc import Mapping
from typing import Any

import orjson

_MESSAGE: Mapping[str, type] = {
    "body": str,
    "content-type": str,
    "content-encoding": str,
    "headers": dict,
    "properties": dict,
}
_PROPERTIES: Mapping[str, type] = {"delivery_tag": str, "delivery_info": dict}


def read_message(data: bytes) -> dict[str, Any] | None:
    """Read a message; None for one that is not built as Celery builds them.

    >>> read_message(b"not a message") is None
    True
    """
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return message if _built(message, _MESSAGE) and _built(message["properties"], _PROPERTIES) else None


def _built(value: object, parts: Mapping[str, type]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in parts.items())
