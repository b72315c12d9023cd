"""Adapter of one request: sends it through the wrapped client, and returns the client's own types."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import orjson

from ibidem.grouped_search.dsl.filter_path import FILTER_PATH, read_filter
from ibidem.grouped_search.response import Json
from ibidem_dedupe.request import as_text
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest


@dataclass(frozen=True, slots=True)
class CapturedRequest:
    """The request that a client would have sent."""

    path: str  # of the request
    params: Mapping[str, Any]  # of its query string, as the client has them
    headers: Mapping[str, str]  # of the request
    body: Any  # as the client has it

    @property
    def index(self) -> str:
        """The names of the indexes to search; empty for all."""
        return unquote(self.path.strip("/").rpartition("/")[0])


def capture_request(result: Any) -> CapturedRequest:
    """Return the captured request, also from an awaitable."""
    if isinstance(result, CapturedRequest):
        return result
    try:
        result.send(None)
    except StopIteration as stop:
        request: CapturedRequest = stop.value
        return request
    raise RuntimeError("the client waited before it sent its search")


class IgnoredStatus(Exception):
    """Error that the caller told the client to ignore, with the response to return instead."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class ClientAdapter(ABC):
    """Sends requests through a client, and returns its response types."""

    def __init__(self, client: Any, request: CapturedRequest) -> None:
        self.client = client
        self.request = request

    @classmethod
    @abstractmethod
    def capture(cls, client: Any, method: str, arguments: Mapping[str, Any]) -> CapturedRequest:
        """Return the request that a client method builds from its arguments, without sending it."""

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
    def params(self) -> dict[str, str]:
        """Return the query string for the server."""

    @abstractmethod
    def exception(self, failure: Failure) -> Exception:
        """Create the client's own exception."""

    @abstractmethod
    def error_answer(self, error: Exception) -> Json | None:
        """Return the response inside a client exception; None for other exceptions."""

    @abstractmethod
    def to_response(self, answer: Json) -> Any:
        """Return a response as the client's methods do."""

    def unfiltered_params(self) -> dict[str, str]:
        """Return the query string without `filter_path`, which is applied to the complete response."""
        return {name: value for name, value in self.params().items() if name != FILTER_PATH}

    def filtered_response(self, answer: Json) -> Any:
        """Return a response as the client's methods do, filtered by `filter_path`."""
        return self.to_response(read_filter(self.params()).apply(answer))

    def read_json(self, text: Any) -> Any:
        """Return a body, or one line of it, as parsed JSON; the client may pass text or objects."""
        text = text if isinstance(text, str | bytes) or text is None else self.dump(text)
        return orjson.loads(text) if text else {}


def format_parameter(value: object) -> str:
    """Format a parameter for a query string."""
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    return value.decode() if isinstance(value, bytes) else as_text(value)


def request_json(request: ApiRequest) -> bytes | None:
    """Return the body of a request as parsed JSON; clients send bytes unchanged."""
    if request.lines is not None:
        return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in request.lines)
    return None if request.body is None else orjson.dumps(request.body)
