"""Wrapped client: its `search` takes `dedupe` parameters, sends through the client's transport, and reads by orjson.

The window of a search is half a megabyte of JSON, and the clients' decoders take twice as long for it as orjson. The
view of the transport that is made here is the caller's in everything else: nodes, retries, sniffing and credentials are
the same objects. A client whose owner changed how it reads JSON keeps that.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload
from urllib.parse import unquote

import orjson

from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.stored import grouped_search
from ibidem.grouped_search.response import Json
from ibidem_dedupe.request import DedupeRequest, as_text, is_dedupe_name, parse_options
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest, RequestFlow, run_async, run_sync
from ibidem_ingest.errors import UsageError

METADATA = "_ibidem_around"


@dataclass(frozen=True, slots=True)
class CapturedRequest:
    """The request that a client would have sent for a search.

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
    """A failure that the caller asked the client to ignore, with what is returned instead."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class ClientAdapter(ABC):
    """One client at one search, speaking as its own methods do.

    Args:
        client: The client.
        request: What it would have sent.
    """

    def __init__(self, client: Any, request: CapturedRequest) -> None:
        self.client = client
        self.request = request

    @abstractmethod
    def start(self, ask: ApiRequest) -> Any:
        """Send a request; a client that waits gives something to wait for."""

    @abstractmethod
    def read(self, ask: ApiRequest, answer: Any) -> Any:
        """Read the JSON of an answer."""

    @abstractmethod
    def dump(self, body: Any) -> str | bytes:
        """Write JSON as the client does."""

    @abstractmethod
    def params(self) -> dict[str, str]:
        """Give the query string that the server is meant to see."""

    @abstractmethod
    def exception(self, failure: Failure) -> Exception:
        """Make the client's own exception."""

    @abstractmethod
    def to_response(self, answer: Json) -> Any:
        """Give an answer as the client's methods return it."""

    def flow(self, request: DedupeRequest, metadata: IndexMetadataCache) -> RequestFlow[Json]:
        """Read what would have been sent, and search."""
        body = self.request.body
        text = body if isinstance(body, str | bytes) or body is None else self.dump(body)
        source = orjson.loads(text) if text else {}
        if not isinstance(source, dict):
            raise UsageError("the body of the search is no JSON object", "write {'query': …}")
        return grouped_search(read_search(self.request.index, source, self.params(), request), metadata)


class DedupeSearch:
    """Base of sync and async clients."""

    _speaker: type[ClientAdapter]

    def _search(self, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> tuple[ClientAdapter | None, Any]:
        """Tell who speaks where dedupe is asked for; else only the search's own arguments."""
        options = {name: value for name, value in arguments.items() if is_dedupe_name(name)}
        client_arguments = {name: value for name, value in arguments.items() if name not in options}
        request = parse_options(options)
        if request is None or request.mode == "off":
            return None, client_arguments
        adapter = self._speaker(self, self._would_send(args, client_arguments))
        cache = IndexMetadataCache() if "authorization" in adapter.request.headers else metadata_cache(self)
        return adapter, adapter.flow(request, cache)

    def _would_send(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> CapturedRequest:
        """Let the client's own method make its request, and take it before it is sent."""
        raise NotImplementedError


class SyncSearchMixin(DedupeSearch):
    """The `search` of a client whose methods return when the answer is there."""

    def search(self, *args: Any, **arguments: Any) -> Any:
        """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""
        adapter, call = self._search(args, arguments)
        if adapter is None:
            return super().search(*args, **call)  # type: ignore[misc] # the client's own, which follows
        try:
            return adapter.to_response(run_sync(call, lambda ask: adapter.read(ask, adapter.start(ask))))
        except IgnoredStatus as status:
            return status.answer
        except Failure as failure:
            raise adapter.exception(failure) from failure


class AsyncSearchMixin(DedupeSearch):
    """The `search` of a client whose methods are waited for."""

    async def search(self, *args: Any, **arguments: Any) -> Any:
        """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""
        adapter, call = self._search(args, arguments)
        if adapter is None:
            return await super().search(*args, **call)  # type: ignore[misc] # the client's own, which follows

        async def send(ask: ApiRequest) -> Any:
            return adapter.read(ask, await adapter.start(ask))

        try:
            return adapter.to_response(await run_async(call, send))
        except IgnoredStatus as status:
            return status.answer
        except Failure as failure:
            raise adapter.exception(failure) from failure


def metadata_cache(client: Any) -> IndexMetadataCache:
    """Give what a client has read of indexes lately."""
    cache: IndexMetadataCache = client.__dict__.setdefault(METADATA, IndexMetadataCache())
    return cache


def capture_request(result: Any) -> CapturedRequest:
    """Take what was made instead of sent, also out of a method that is to be waited for."""
    if isinstance(result, CapturedRequest):
        return result
    try:
        result.send(None)
    except StopIteration as stop:
        request: CapturedRequest = stop.value
        return request
    raise RuntimeError("the client waited before it sent its search")


def copy_client(client: Any) -> Any:
    """Copy a client without its connections."""
    return copy.copy(client)


def format_parameter(value: object) -> str:
    """Write a parameter as a query string holds it."""
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    return value.decode() if isinstance(value, bytes) else as_text(value)


def request_json(ask: ApiRequest) -> bytes | None:
    """Write what a request sends, which is plain JSON: a client sends bytes as they are."""
    if ask.lines is not None:
        return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in ask.lines)
    return None if ask.body is None else orjson.dumps(ask.body)


class FastJson:
    """Decoders of a transport by media type, with JSON read by orjson; what orjson refuses they read themselves.

    Args:
        own: The transport's decoders.
    """

    def __init__(self, decoders: Any) -> None:
        self._decoders = decoders

    def loads(self, data: Any, mimetype: str | None = None) -> Any:
        """Read an answer."""
        if mimetype is not None and mimetype.partition(";")[0].endswith("json"):
            try:
                return orjson.loads(data)
            except orjson.JSONDecodeError:
                pass
        return self._decoders.loads(data, mimetype)

    def __getattr__(self, name: str) -> Any:
        """Give whatever else the decoders do, such as writing."""
        return getattr(self._decoders, name)


def read_fast(transport: Any, decoders: str, is_plain: Callable[[Any], bool]) -> Any:
    """Return a view of a transport that reads JSON by orjson; itself where its owner changed how JSON is read.

    Args:
        transport: A client's transport.
        decoders: Name of the attribute that holds its decoders.
        is_plain: Returns whether these read JSON as the library does.
    """
    attributes = vars(transport)
    if decoders not in attributes or not is_plain(attributes[decoders]):
        return transport
    view: Any = object.__new__(_view(transport.__class__, decoders))
    view.__dict__ = attributes
    return view


@lru_cache(maxsize=64)
def _view(kind: type, decoders: str) -> type:
    """Make the class of a transport's view: all it holds is the transport's, except for the decoders."""
    view = property(lambda self: FastJson(vars(self)[decoders]))
    return type(kind.__name__, (kind,), {decoders: view, "__module__": __name__})


if TYPE_CHECKING:
    import elasticsearch
    import opensearchpy

    from ibidem_dedupe.parameters import By, Mode, Scope
    from ibidem_dedupe.policy import Level

    class Search:
        """Arguments of a search that a client does not have by itself."""

        def search(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: Level | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Any:
            """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""

    class AsyncSearch:
        """The same of a client whose methods are waited for."""

        async def search(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: Level | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Any:
            """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""

    class Elasticsearch(Search, elasticsearch.Elasticsearch):
        """`elasticsearch.Elasticsearch` whose search takes dedupe parameters."""

    class AsyncElasticsearch(AsyncSearch, elasticsearch.AsyncElasticsearch):
        """`elasticsearch.AsyncElasticsearch` whose search takes dedupe parameters."""

    class OpenSearch(Search, opensearchpy.OpenSearch):
        """`opensearchpy.OpenSearch` whose search takes dedupe parameters."""

    class AsyncOpenSearch(AsyncSearch, opensearchpy.AsyncOpenSearch):
        """`opensearchpy.AsyncOpenSearch` whose search takes dedupe parameters."""


CLIENTS = {
    ("elasticsearch", "Elasticsearch"): ("ibidem.clients.elasticsearch", "DedupeElasticsearch"),
    ("elasticsearch", "AsyncElasticsearch"): ("ibidem.clients.elasticsearch", "AsyncDedupeElasticsearch"),
    ("opensearchpy", "OpenSearch"): ("ibidem.clients.opensearch", "DedupeOpenSearch"),
    ("opensearchpy", "AsyncOpenSearch"): ("ibidem.clients.opensearch", "AsyncDedupeOpenSearch"),
}
"""By package and class of the client."""


@overload
def wrap(client: "elasticsearch.Elasticsearch") -> "Elasticsearch": ...


@overload
def wrap(client: "elasticsearch.AsyncElasticsearch") -> "AsyncElasticsearch": ...


@overload
def wrap(client: "opensearchpy.OpenSearch") -> "OpenSearch": ...


@overload
def wrap(client: "opensearchpy.AsyncOpenSearch") -> "AsyncOpenSearch": ...


def wrap(client: Any) -> Any:
    """Give a client whose `search` also takes `dedupe` and every `dedupe_…` parameter.

    It is of the client's own class and shares its connections; every other method, and a search without these
    parameters, is the client's own.

    Args:
        client: An `Elasticsearch`, `AsyncElasticsearch`, `OpenSearch` or `AsyncOpenSearch`.

    Raises:
        UsageError: Something else.

    >>> wrap("http://localhost:9200")
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: a str cannot be wrapped; give a client: elasticsearch.Elasticsearch, \
elasticsearch.AsyncElasticsearch, opensearchpy.OpenSearch, opensearchpy.AsyncOpenSearch
    """
    kind = _wrapper_class(client)
    if isinstance(client, kind):
        return client
    wrapper = copy.copy(client)
    wrapper.__class__ = type(type(client).__name__, (kind, type(client)), {"__module__": __name__})
    wrapper._ibidem_wrapped = client  # noqa: SLF001 - parts of a client know it by a weak reference
    return wrapper


def _wrapper_class(client: object) -> type:
    """Find the class that precedes a client's own."""
    for each in type(client).__mro__:
        home = CLIENTS.get((each.__module__.partition(".")[0], each.__name__))
        if home:
            class_: type = getattr(import_module(home[0]), home[1])
            return class_
    names = ", ".join(".".join(each) for each in CLIENTS)
    raise UsageError(f"a {type(client).__name__} cannot be wrapped", f"give a client: {names}")
