"""Adapter of a client: sends requests through it, and returns the client's own types.

The window of a search is half a megabyte of JSON, and the clients' decoders take twice as long for it as orjson. So a
view of the caller's transport parses it, which is the same in everything else: nodes, retries, sniffing and
credentials. A client whose owner changed how it reads JSON keeps that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest


class FastJson:
    """Decoders of a transport by media type; JSON is parsed by orjson, with the original decoder as a fallback."""

    def __init__(self, decoders: Any) -> None:
        self._decoders = decoders

    def loads(self, data: Any, mimetype: str | None = None) -> Any:
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


class IgnoredStatus(Exception):
    """Error that the caller told the client to ignore, with the response to return instead."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class ClientAdapter(ABC):
    """Sends the requests of one search through a client, and returns its response types."""

    is_async: bool  # whether the client's methods are awaited

    def __init__(self, client: Any, request_timeout: float | None = None) -> None:
        self.client = client
        self.request_timeout = request_timeout  # seconds; None: as the client is configured

    @classmethod
    def prepare(cls, client: Any, like: Any) -> Any:
        """Return the client to wrap; it speaks with the server of `like`, which is another or the same."""
        del like
        return client

    @abstractmethod
    def start(self, request: ApiRequest) -> Any:
        """Send a request; an asynchronous client returns an awaitable."""

    @abstractmethod
    def read(self, request: ApiRequest, answer: Any) -> Any:
        """Parse the JSON of a response."""

    @abstractmethod
    def dump(self, body: Any) -> str | bytes:
        """Serialize JSON as the client does."""

    @abstractmethod
    def exception(self, failure: Failure) -> Exception:
        """Create the client's own exception."""

    @abstractmethod
    def error_answer(self, error: Exception) -> Json | None:
        """Return the response inside a client exception; None for other exceptions."""

    @abstractmethod
    def to_response(self, answer: Json) -> Any:
        """Return a response as the client's methods do."""

    def read_json(self, text: Any) -> Any:
        """Return a body, or one line of it, as parsed JSON; the client may pass text or objects."""
        text = text if isinstance(text, str | bytes) or text is None else self.dump(text)
        return orjson.loads(text) if text else {}


def request_json(request: ApiRequest) -> bytes | None:
    """Serialize the body of a request; clients send bytes unchanged."""
    if request.lines is not None:
        return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in request.lines)
    return None if request.body is None else orjson.dumps(request.body)


def failure_body(failure: Failure) -> Mapping[str, Any]:
    return {"error": {"type": failure.kind, "reason": failure.reason}, "status": failure.status}
