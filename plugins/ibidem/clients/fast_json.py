"""View of a client's transport that parses JSON with orjson.

The window of a search is half a megabyte of JSON, and the clients' decoders take twice as long for it as orjson. The
view is the caller's transport in everything else: nodes, retries, sniffing and credentials are the same objects. A
client whose owner changed how it reads JSON keeps that.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson


class FastJson:
    """Decoders of a transport by media type; JSON is parsed by orjson, with the original decoder as a fallback."""

    def __init__(self, decoders: Any) -> None:
        self._decoders = decoders

    def loads(self, data: Any, mimetype: str | None = None) -> Any:
        """Parse a response."""
        if mimetype is not None and mimetype.partition(";")[0].endswith("json"):
            try:
                return orjson.loads(data)
            except orjson.JSONDecodeError:
                pass
        return self._decoders.loads(data, mimetype)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the decoders."""
        return getattr(self._decoders, name)


def read_fast(transport: Any, decoders: str, is_plain: Callable[[Any], bool]) -> Any:
    """Return a view of a transport that parses JSON with orjson, or the transport itself if its parser was replaced."""
    attributes = vars(transport)
    if decoders not in attributes or not is_plain(attributes[decoders]):
        return transport
    view: Any = object.__new__(_view(transport.__class__, decoders))
    view.__dict__ = attributes
    return view


@lru_cache(maxsize=64)
def _view(kind: type, decoders: str) -> type:
    """Create the class of a transport view, which has all attributes of the transport except the decoders."""
    view = property(lambda self: FastJson(vars(self)[decoders]))
    return type(kind.__name__, (kind,), {decoders: view, "__module__": __name__})
