"""Adapter of a client's `search`: takes `dedupe` parameters, sends through the client's transport, reads by orjson.

The window of a search is half a megabyte of JSON, and the clients' decoders take twice as long for it as orjson. The
view of the transport that is made here is the caller's in everything else: nodes, retries, sniffing and credentials are
the same objects. A client whose owner changed how it reads JSON keeps that.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import orjson

from ibidem.dedupe.request import DedupeRequest, as_text, is_dedupe_name, parse_options
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.ways import grouped_search
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.errors import Failure
from ibidem_engines.cluster.requests import ApiRequest, RequestFlow, run_async, run_sync
from ibidem_ingest.errors import UsageError

AROUND = "_ibidem_around"


@dataclass(frozen=True, slots=True)
class CapturedRequest:
    """What a client would have sent for a search.

    Args:
        path: Of the request.
        params: Of its query string, as the client has them.
        headers: Of the request.
        body: As the caller gave it.
    """

    path: str
    params: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any

    @property
    def index(self) -> str:
        """The names that are searched; empty for all."""
        return unquote(self.path.strip("/").rpartition("_search")[0].strip("/"))


class IgnoredStatus(Exception):
    """A failure that the caller told the client to pass over, with what is returned instead."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class ClientAdapter(ABC):
    """One client at one search, speaking as its own methods do.

    Args:
        client: The client.
        sent: What it would have sent.
    """

    def __init__(self, client: Any, sent: CapturedRequest) -> None:
        self.client = client
        self.sent = sent

    @abstractmethod
    def start(self, ask: ApiRequest) -> Any:
        """Send a request; a client that waits gives something to wait for."""

    @abstractmethod
    def read(self, ask: ApiRequest, answer: Any) -> Any:
        """Read the JSON of an answer."""

    @abstractmethod
    def written(self, body: Any) -> str | bytes:
        """Write JSON as the client does."""

    @abstractmethod
    def params(self) -> dict[str, str]:
        """Give the query string that the server is meant to see."""

    @abstractmethod
    def exception(self, failure: Failure) -> Exception:
        """Make the client's own exception."""

    @abstractmethod
    def returned(self, answer: Json) -> Any:
        """Give an answer as the client's methods return it."""

    def flow(self, request: DedupeRequest, around: IndexMetadataCache) -> RequestFlow[Json]:
        """Read what would have been sent, and search."""
        body = self.sent.body
        text = body if isinstance(body, str | bytes) or body is None else self.written(body)
        whole = orjson.loads(text) if text else {}
        if not isinstance(whole, dict):
            raise UsageError("the body of the search is no JSON object", "write {'query': …}")
        return grouped_search(read_search(self.sent.index, whole, self.params(), request), around)


class DedupeSearch:
    """What both kinds of client have."""

    _speaker: type[ClientAdapter]

    def _search(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> tuple[ClientAdapter | None, Any]:
        """Tell who speaks where dedupe is asked for; else only the search's own arguments."""
        options = {name: value for name, value in given.items() if is_dedupe_name(name)}
        own = {name: value for name, value in given.items() if name not in options}
        request = parse_options(options)
        if request is None or request.mode == "off":
            return None, own
        adapter = self._speaker(self, self._would_send(args, own))
        around = IndexMetadataCache() if "authorization" in adapter.sent.headers else around_of(self)
        return adapter, adapter.flow(request, around)

    def _would_send(self, args: tuple[Any, ...], own: Mapping[str, Any]) -> CapturedRequest:
        """Let the client's own method make its request, and take it before it is sent."""
        raise NotImplementedError


class SyncSearchMixin(DedupeSearch):
    """The `search` of a client whose methods return when the answer is there."""

    def search(self, *args: Any, **given: Any) -> Any:
        """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""
        adapter, rest = self._search(args, given)
        if adapter is None:
            return super().search(*args, **rest)  # type: ignore[misc] # the client's own, which follows
        try:
            return adapter.returned(run_sync(rest, lambda ask: adapter.read(ask, adapter.start(ask))))
        except IgnoredStatus as passed:
            return passed.answer
        except Failure as failure:
            raise adapter.exception(failure) from failure


class AsyncSearchMixin(DedupeSearch):
    """The `search` of a client whose methods are waited for."""

    async def search(self, *args: Any, **given: Any) -> Any:
        """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""
        adapter, rest = self._search(args, given)
        if adapter is None:
            return await super().search(*args, **rest)  # type: ignore[misc] # the client's own, which follows

        async def send(ask: ApiRequest) -> Any:
            return adapter.read(ask, await adapter.start(ask))

        try:
            return adapter.returned(await run_async(rest, send))
        except IgnoredStatus as passed:
            return passed.answer
        except Failure as failure:
            raise adapter.exception(failure) from failure


def around_of(client: Any) -> IndexMetadataCache:
    """Give what a client has read of indexes lately."""
    around: IndexMetadataCache = client.__dict__.setdefault(AROUND, IndexMetadataCache())
    return around


def capture_request(result: Any) -> CapturedRequest:
    """Take what was made instead of sent, also out of a method that is to be waited for."""
    if isinstance(result, CapturedRequest):
        return result
    try:
        result.send(None)
    except StopIteration as done:
        sent: CapturedRequest = done.value
        return sent
    raise RuntimeError("the client waited before it sent its search")


def twin_of(client: Any) -> Any:
    """Copy a client without its connections."""
    return copy.copy(client)


def format_parameter(value: object) -> str:
    """Write a parameter as a query string holds it."""
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    return value.decode() if isinstance(value, bytes) else as_text(value)


class FastJson:
    """Decoders of a transport by media type, with JSON read by orjson; what orjson refuses they read themselves.

    Args:
        own: The transport's decoders.
    """

    def __init__(self, own: Any) -> None:
        self._own = own

    def loads(self, data: Any, mimetype: str | None = None) -> Any:
        """Read an answer."""
        if mimetype is not None and mimetype.partition(";")[0].endswith("json"):
            try:
                return orjson.loads(data)
            except orjson.JSONDecodeError:
                pass
        return self._own.loads(data, mimetype)

    def __getattr__(self, name: str) -> Any:
        """Give whatever else the decoders do, such as writing."""
        return getattr(self._own, name)


def read_fast(transport: Any, decoders: str, plain: Callable[[Any], bool]) -> Any:
    """Return a view of a transport that reads JSON by orjson; itself where its owner changed how JSON is read.

    Args:
        transport: A client's transport.
        decoders: Name of the attribute that holds its decoders.
        plain: Tells whether these read JSON as the library does.
    """
    held = vars(transport)
    if decoders not in held or not plain(held[decoders]):
        return transport
    view: Any = object.__new__(_view(transport.__class__, decoders))
    view.__dict__ = held
    return view


@lru_cache(maxsize=64)
def _view(kind: type, decoders: str) -> type:
    """Make the class of a transport's view: all it holds is the transport's, but for the decoders."""
    fast = property(lambda self: FastJson(vars(self)[decoders]))
    return type(kind.__name__, (kind,), {decoders: fast, "__module__": __name__})
