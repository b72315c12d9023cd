"""`search` through a client of Elasticsearch or OpenSearch, its duplicates grouped if it asks for that.

`wrap` returns a client that also accepts `dedupe`, with type hints.

Adapter of a client: sends requests through it, and returns the client's own types. The window of a search is half a
megabyte of JSON, and the clients' decoders take twice as long for it as orjson. So a view of the caller's transport
parses it, which is the same in everything else: nodes, retries, sniffing and credentials. A client whose owner changed
how it reads JSON keeps that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

import orjson

from ibidem.grouped_search.dsl.search import (
    IndexMetadataCache,
    grouped_search,
    join_names,
    multi_search,
    names_dedupe,
    read_lines,
    without_dedupe,
)
from ibidem.grouped_search.dsl.syntax import read_search
from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import DEDUPE, as_text, dedupe_request, is_dedupe_name
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest, RequestFlow, quote_index, run_async, run_sync
from ibidem_ingest.errors import UsageError


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
    """Error that the caller told the client to ignore; its argument is the response to return instead."""


class ClientAdapter(ABC):
    """Sends the requests of one search through a client, and returns its response types."""

    async_class: type  # class of clients whose methods are awaited

    def __init__(self, client: Any, request_timeout: float | None = None) -> None:
        self.client, self.is_async = client, isinstance(client, self.async_class)
        # Seconds; without any it is as the client is configured.
        self.timeout = {} if request_timeout is None else {TIMEOUT: request_timeout}

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

    def to_response(self, answer: Json) -> Any:
        """Return a response as the client's methods do."""
        return answer

    def read_json(self, text: Any) -> Any:
        """Return a body, or one line of it, as parsed JSON; the client may pass text or objects."""
        text = text if isinstance(text, str | bytes) or text is None else self.dump(text)
        return orjson.loads(text) if text else {}


def failure_body(failure: Failure) -> Mapping[str, Any]:
    return {"error": {"type": failure.kind, "reason": failure.reason}, "status": failure.status}


BODIES = ("searches", "body")  # arguments under which `msearch` takes its body
TIMEOUT = "request_timeout"
# Arguments of the clients that are not named as the part of the body.
NAMES = {
    "from_": "from",
    "source": "_source",
    "source_includes": "_source_includes",
    "source_excludes": "_source_excludes",
}

# The module and the name of the adapter, by package and class of the client.
CLIENTS = {
    ("elasticsearch", "Elasticsearch"): ("ibidem.clients.elasticsearch", "ElasticsearchAdapter"),
    ("elasticsearch", "AsyncElasticsearch"): ("ibidem.clients.elasticsearch", "ElasticsearchAdapter"),
    ("opensearchpy", "OpenSearch"): ("ibidem.clients.opensearch", "OpenSearchAdapter"),
    ("opensearchpy", "AsyncOpenSearch"): ("ibidem.clients.opensearch", "OpenSearchAdapter"),
}
OTHERS = ("api_key", "basic_auth", "bearer_auth", "headers")  # options with which another user may ask


class WrappedClient:
    """A client that also groups duplicates.

    It passes for the client: `isinstance` sees the client's class, and each attribute that is not defined here is read
    and set on the client.
    """

    ibidem_client: Any
    ibidem_adapter: type[ClientAdapter]
    ibidem_metadata: IndexMetadataCache

    def __init__(self, client: Any, adapter: type[ClientAdapter], metadata: IndexMetadataCache | None = None) -> None:
        metadata = metadata or IndexMetadataCache()
        vars(self).update(ibidem_client=client, ibidem_adapter=adapter, ibidem_metadata=metadata)

    @property  # type: ignore[misc] # as the standard library's mocks do
    def __class__(self) -> type:
        return type(vars(self)["ibidem_client"])

    def __getattr__(self, name: str) -> Any:
        if "ibidem_client" not in vars(self):  # while it is copied
            raise AttributeError(name)
        return getattr(vars(self)["ibidem_client"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.ibidem_client, name, value)

    def __repr__(self) -> str:
        return repr(self.ibidem_client)

    def search(self, **arguments: Any) -> Any:
        """Search as the client does; see `ibidem.search`."""
        return search(self, **arguments)

    def msearch(self, **arguments: Any) -> Any:
        """Run several searches as the client does; those with `dedupe` in their header or body are grouped."""
        options = {name: value for name, value in arguments.items() if is_dedupe_name(name)}
        plain = without_dedupe(arguments)
        for name in BODIES:
            if name in plain and not isinstance(plain[name], str | bytes | list | tuple):
                plain[name] = list(plain[name] or ())  # it may be an iterator, but is read twice
        if not options and not any(mentions_dedupe(plain.get(name)) for name in BODIES):
            return self.ibidem_client.msearch(**plain)
        given = dict(plain)
        adapter = self.ibidem_adapter(self.ibidem_client, given.pop(TIMEOUT, None))
        bodies = [given.pop(name, None) for name in BODIES]
        lines = read_lines(split_lines(adapter, next((each for each in bodies if each), None)))
        if not options and not any(map(names_dedupe, lines)):
            return self.ibidem_client.msearch(**plain)
        index = join_names(given.pop("index", None) or "")
        path = f"/{quote_index(index)}/_msearch" if index else "/_msearch"
        asked = ApiRequest("POST", path, {name: as_text(value) for name, value in given.items()})
        flow = multi_search(asked, index, options, lines, self.ibidem_metadata, adapter.error_answer)
        return answer(adapter, flow)

    def options(self, **arguments: Any) -> Any:
        """Return the same client with other options; cached index metadata is shared for the same user."""
        client, adapter = self.ibidem_client, self.ibidem_adapter
        metadata = None if any(name in arguments for name in OTHERS) else self.ibidem_metadata
        return WrappedClient(adapter.prepare(client.options(**arguments), like=client), adapter, metadata)

    def __enter__(self) -> Any:
        self.ibidem_client.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self.ibidem_client.__exit__(*error)

    async def __aenter__(self) -> Any:
        await self.ibidem_client.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self.ibidem_client.__aexit__(*error)


def search(client: Any, *unnamed: object, **arguments: Any) -> Any:
    """Search as the client's own `search` does; `dedupe` and `dedupe_…` group the duplicates.

    A wrapped client (`ibidem.wrap`) keeps what it has read of the indexes for the next search.

    Args:
        client: An `Elasticsearch`, `AsyncElasticsearch`, `OpenSearch` or `AsyncOpenSearch`, wrapped or not.
        unnamed: Refused.
        arguments: The parts of the search that `docs/clients.md` lists, by name or in `body`, and `index`; without
            dedupe parameters whatever the client takes.

    Returns:
        The client's own response with `_dedupe` on each hit and an account in `dedupe`; of an asynchronous client an
        awaitable.

    Raises:
        UsageError: Another client, a dedupe parameter that is not valid, a part that is not grouped.
    """
    if unnamed:
        right = "write search(client, index='news', query={'match': {'text': 'wheat'}}, dedupe='indent')"
        raise UsageError(f"the search takes each part by its name, and {unnamed[0]!r} has none", right)
    wrapped_client: WrappedClient = wrap(client)
    body = read_parameters(arguments.get("body"))
    request = dedupe_request(arguments, body)
    plain = without_dedupe(arguments)
    if any(is_dedupe_name(name) for name in body):
        plain["body"] = without_dedupe(body)
    if request is None or request.mode == "off":
        return wrapped_client.ibidem_client.search(**plain)
    adapter = wrapped_client.ibidem_adapter(wrapped_client.ibidem_client, plain.pop(TIMEOUT, None))
    content = adapter.read_json(plain.pop("body", None))
    if not isinstance(content, dict):
        raise UsageError("the body of the search is not a JSON object", "write {'query': …}")
    index = join_names(plain.pop("index", None) or "")
    plain |= plain.pop("params", None) or {}  # as OpenSearch's client takes them
    given = {NAMES.get(name, name): value for name, value in plain.items() if value is not None}
    found = read_search(index, content, adapter.read_json(given), request)
    return answer(adapter, grouped_search(found, wrapped_client.ibidem_metadata))


def answer(adapter: ClientAdapter, flow: RequestFlow[Json]) -> Any:
    """Send the requests of a flow, and return its response as the client does."""

    async def send(request: ApiRequest) -> Any:
        return adapter.read(request, await adapter.start(request))

    if adapter.is_async:
        return run_async(answer_flow(adapter, flow), send)
    return run_sync(answer_flow(adapter, flow), lambda ask: adapter.read(ask, adapter.start(ask)))


def answer_flow(adapter: ClientAdapter, flow: RequestFlow[Json]) -> RequestFlow[Any]:
    """Return a flow with the response and the errors of the client."""
    try:
        return adapter.to_response((yield from flow))
    except IgnoredStatus as status:
        return status.args[0]
    except Failure as failure:
        raise adapter.exception(failure) from failure


def mentions_dedupe(body: Any) -> bool:
    """Return whether a body, or a part of it, may contain a dedupe parameter."""
    if isinstance(body, str):
        return DEDUPE in body
    if isinstance(body, bytes):
        return DEDUPE.encode() in body
    if isinstance(body, Mapping):
        return any(is_dedupe_name(name) for name in body)
    return isinstance(body, list | tuple) and any(mentions_dedupe(each) for each in body)


def read_parameters(body: Any) -> Mapping[str, Any]:
    """Return a body, which may contain dedupe parameters; empty if it is no JSON object."""
    try:
        read = orjson.loads(body) if isinstance(body, str | bytes) else body
    except orjson.JSONDecodeError:
        return {}  # the client sends it unchanged, and the engine reports the error
    return read if isinstance(read, Mapping) else {}


def split_lines(adapter: ClientAdapter, body: Any) -> list[Any]:
    """Return headers and bodies of several searches as parsed JSON."""
    if not isinstance(body, str | bytes):
        return [adapter.read_json(line) for line in body or ()]
    text, lines = body.encode() if isinstance(body, str) else body, []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), 1):
        try:
            lines.append(orjson.loads(line or b"{}"))  # an empty line is an empty object
        except orjson.JSONDecodeError as error:
            what = f"line {number} of the searches is not JSON: {error}"
            raise UsageError(what, "write a header and a body") from error
    return lines


if TYPE_CHECKING:
    from collections.abc import Coroutine

    import elasticsearch
    import opensearchpy

    from ibidem_dedupe.parameters import By, ListLevel, Mode, Scope

    Answer_co = TypeVar("Answer_co", covariant=True)

    class SearchMethod(Protocol[Answer_co]):
        """A client's `search` or `msearch`, with the additional dedupe arguments."""

        def __call__(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: ListLevel | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_document: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Answer_co:
            """Search as the client does; `dedupe` and `dedupe_…` group the duplicates."""

    class Search(Generic[Answer_co]):
        """Methods of a client that take dedupe parameters."""

        search: SearchMethod[Answer_co]
        msearch: SearchMethod[Answer_co]

    class Elasticsearch(Search[Any], elasticsearch.Elasticsearch):
        """`elasticsearch.Elasticsearch` whose `search` accepts dedupe parameters."""

    class AsyncElasticsearch(Search[Coroutine[Any, Any, Any]], elasticsearch.AsyncElasticsearch):
        """`elasticsearch.AsyncElasticsearch` whose `search` accepts dedupe parameters."""

    class OpenSearch(Search[Any], opensearchpy.OpenSearch):
        """`opensearchpy.OpenSearch` whose `search` accepts dedupe parameters."""

    class AsyncOpenSearch(Search[Coroutine[Any, Any, Any]], opensearchpy.AsyncOpenSearch):
        """`opensearchpy.AsyncOpenSearch` whose `search` accepts dedupe parameters."""


@overload
def wrap(client: "elasticsearch.Elasticsearch") -> "Elasticsearch": ...


@overload
def wrap(client: "elasticsearch.AsyncElasticsearch") -> "AsyncElasticsearch": ...


@overload
def wrap(client: "opensearchpy.OpenSearch") -> "OpenSearch": ...


@overload
def wrap(client: "opensearchpy.AsyncOpenSearch") -> "AsyncOpenSearch": ...


def wrap(client: Any) -> Any:
    """Return a client whose `search` and `msearch` also accept `dedupe` and every `dedupe_…` parameter, or in the body.

    It passes for the client's own class and shares its connections; every other method, and a search without these
    parameters, is the client's own. A client of a newer Elasticsearch than its server speaks the server's version.

    Args:
        client: An `Elasticsearch`, `AsyncElasticsearch`, `OpenSearch` or `AsyncOpenSearch`.

    Raises:
        UsageError: Something else.

    >>> wrap("http://localhost:9200")
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: a str cannot be wrapped; give a client: elasticsearch.Elasticsearch, \
elasticsearch.AsyncElasticsearch, opensearchpy.OpenSearch, opensearchpy.AsyncOpenSearch
    """
    if type(client) is WrappedClient:
        return client
    for each in type(client).__mro__:
        home = CLIENTS.get((each.__module__.partition(".")[0], each.__name__))
        if home:
            adapter: type[ClientAdapter] = getattr(import_module(home[0]), home[1])
            return WrappedClient(adapter.prepare(client, like=client), adapter)
    names = ", ".join(".".join(each) for each in CLIENTS)
    raise UsageError(f"a {type(client).__name__} cannot be wrapped", f"give a client: {names}")
