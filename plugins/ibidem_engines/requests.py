"""Sans-I/O request flows: a generator yields requests and receives responses, for sync and async clients alike.

So one piece of code serves the engines, clients of others, waiting or not, and the gateway. What a cluster has answered
about its indexes is believed for some seconds.
"""

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import orjson

T = TypeVar("T")
Request = TypeVar("Request")
Json = Mapping[str, Any]  # an object of JSON that is read
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    method: str  # of HTTP
    path: str  # with a leading slash, ready for a URL
    params: Mapping[str, str] = field(default_factory=dict)  # of the query string
    body: Json | None = None  # the JSON body; None for no body
    lines: Sequence[Json | orjson.Fragment] | None = None  # the body as one JSON value a line
    ok_statuses: tuple[int, ...] = ()  # error statuses that are treated as an empty result
    packed: bool = False  # the response holds signatures only, and may be parsed by the fast reader

    @property
    def content_type(self) -> str:
        return JSON if self.lines is None else "application/x-ndjson"

    @property
    def payload(self) -> bytes | None:
        """The body as it is sent; None for no body."""
        if self.lines is not None:
            return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in self.lines)
        return None if self.body is None else orjson.dumps(self.body)


# Requests one after the other, each answered with its JSON, and what comes of them.
RequestFlow = Generator[ApiRequest, Any, T]


def answered(result: T) -> RequestFlow[T]:
    """Return a flow without requests that has a known result."""
    return result
    yield


def refuse(request: ApiRequest) -> Any:
    raise RuntimeError(f"nobody answers {request.method} {request.path}")


def run_sync(flow: Generator[Request, Any, T], send: Callable[[Request], Any]) -> T:
    """Send every request of a flow, and return its result.

    >>> def flow():
    ...     answer = yield ApiRequest("GET", "/")
    ...     return answer["name"]
    >>> run_sync(flow(), lambda ask: {"name": f"{ask.method} {ask.path}"})
    'GET /'
    """
    step = partial(next, flow)
    while True:
        try:
            api_request = step()
        except StopIteration as stop:
            result: T = stop.value
            return result
        try:
            step = partial(flow.send, send(api_request))
        except Exception as error:  # noqa: BLE001 - raised in the flow
            step = partial(flow.throw, error)


async def run_async(flow: Generator[Request, Any, T], send: Callable[[Request], Awaitable[Any]]) -> T:
    """Async version of `run_sync`."""
    step = partial(next, flow)
    while True:
        try:
            api_request = step()
        except StopIteration as stop:
            result: T = stop.value
            return result
        try:
            step = partial(flow.send, await send(api_request))
        except Exception as error:  # noqa: BLE001 - raised in the flow
            step = partial(flow.throw, error)


def in_slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of at most so many items.

    >>> list(in_slices("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (items[start : start + size] for start in range(0, len(items), size))


# A part of the index that does not answer is an error, never a shorter list.
ALL_SHARDS = {"allow_partial_search_results": "false"}

# Parameters that a search among several has in its head.
IN_HEADS = ("routing", "preference", "ignore_unavailable", "allow_no_indices")


@dataclass(frozen=True, slots=True)
class Target:
    """The index or point in time of a search, and the parameters of every request to it."""

    index: str  # names, parted by commas, with wildcards or not; empty for all, and with a point in time
    point: Json | None = None  # the point in time as a body holds it, or None
    params: Mapping[str, str] = field(default_factory=dict)  # of every query string
    # Of every body, such as fields that only exist while it is searched.
    parts: Json = field(default_factory=dict)

    @property
    def head(self) -> Json:
        return {name: self.params[name] for name in IN_HEADS if name in self.params} | ALL_SHARDS

    def search(self, body: Json, *, packed: bool = False, **params: str) -> ApiRequest:
        params = {**ALL_SHARDS, **self.params, **params}
        return ApiRequest("POST", self._path("_search"), params, self._complete(body), packed=packed)

    def searches(self, bodies: Sequence[Json]) -> ApiRequest:
        lines = [line for body in bodies for line in (self.head, self._complete(body))]
        return ApiRequest("POST", self._path("_msearch"), lines=lines)

    def _path(self, action: str) -> str:
        return f"/{quote_index(self.index)}/{action}" if self.index else f"/{action}"

    def _complete(self, body: Json) -> Json:
        return {**self.parts, **body, **({"pit": self.point} if self.point else {})}


def quote_index(index: str) -> str:
    """Quote index names for a path.

    >>> quote_index("news-*,<logs-{now/d}>")
    'news-*,%3Clogs-%7Bnow%2Fd%7D%3E'
    """
    return quote(index, safe=",*")


class JsonAnswer(dict[str, Any]):
    """The JSON of a response and its text, for values that must be kept byte for byte."""

    __slots__ = ("text",)

    def __init__(self, read: Json, text: str | bytes) -> None:
        super().__init__(read)
        self.text = text


Key = TypeVar("Key")
Value = TypeVar("Value")

# Seconds for which it is believed that an index is what it was: another may take its place behind an alias.
INDEX_S = 60.0

ALIAS_S = 5.0  # seconds for which it is believed which indexes are behind an alias

COUNTS_S = 5.0  # seconds for which counts of the whole index are used


MAX_KEPT = 1_000  # the most values that a cache keeps


class TtlCache(Generic[Key, Value]):
    """Values by key, each with an expiry time; one that is full begins anew."""

    def __init__(self) -> None:
        self._entries: dict[Key, tuple[float, Value]] = {}

    def get(self, key: Key) -> Value | None:
        """Return a value; None if it is missing or expired."""
        expiry, value = self._entries.get(key, (0.0, None))
        return value if monotonic() < expiry else None

    def put(self, key: Key, value: Value, seconds: float = INDEX_S) -> Value:
        if len(self._entries) >= MAX_KEPT:
            self.clear()
        self._entries[key] = monotonic() + seconds, value
        return value

    def clear(self) -> None:
        self._entries.clear()
