"""Wrapped client: accepts `dedupe` in searches, and delegates everything else to the original client."""

from collections.abc import Mapping
from typing import Any, ClassVar

import orjson

from ibidem.clients.adapter import ClientAdapter, IgnoredStatus
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.msearch import MultiSearch, read_lines, without_dedupe
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.stored import grouped_search
from ibidem.grouped_search.response import Json
from ibidem_dedupe.request import DEDUPE, DedupeRequest, dedupe_request, is_dedupe_name
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest, RequestFlow, run_async, run_sync
from ibidem_ingest.errors import UsageError

BODY, SEARCHES = "body", ("searches", "body")  # arguments under which `search` and `msearch` take their body

GroupedCall = tuple[ClientAdapter, RequestFlow[Json]]  # the adapter of a request, and the flow that answers it


class WrappedClient:
    """A client that also groups duplicates.

    It passes for the client: `isinstance` sees the client's class, and each attribute that is not defined here is read
    and set on the client.
    """

    adapter: ClassVar[type[ClientAdapter]]

    def __init__(self, client: Any, metadata: IndexMetadataCache | None = None) -> None:
        vars(self)["ibidem_client"] = client
        vars(self)["ibidem_metadata"] = IndexMetadataCache() if metadata is None else metadata

    @property  # type: ignore[misc] # as the standard library's mocks do
    def __class__(self) -> type:
        """The client's class."""
        return type(vars(self)["ibidem_client"])

    def __getattr__(self, name: str) -> Any:
        """Read an attribute of the client."""
        if "ibidem_client" not in vars(self):  # while it is copied
            raise AttributeError(name)
        return getattr(vars(self)["ibidem_client"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of the client."""
        setattr(vars(self)["ibidem_client"], name, value)

    def __repr__(self) -> str:
        """Return the representation of the client."""
        return repr(vars(self)["ibidem_client"])

    def _search_call(self, arguments: Mapping[str, Any]) -> tuple[GroupedCall | None, Mapping[str, Any]]:
        """Return the call of a grouped search, or None, and the arguments without dedupe parameters."""
        body = read_mentioned(arguments.get(BODY))
        request = dedupe_request(arguments, body)
        plain = without_dedupe(arguments)
        if any(is_dedupe_name(name) for name in body):
            plain[BODY] = without_dedupe(body)
        if request is None or request.mode == "off":
            return None, plain
        adapter = self._capture("search", plain)
        return (adapter, self._search_flow(adapter, request)), plain

    def _search_flow(self, adapter: ClientAdapter, request: DedupeRequest) -> RequestFlow[Json]:
        body = adapter.read_json(adapter.request.body)
        if not isinstance(body, dict):
            raise UsageError("the body of the search is not a JSON object", "write {'query': …}")
        search = read_search(adapter.request.index, body, adapter.params(), request)
        return grouped_search(search, self._metadata_for(adapter))

    def _msearch_call(self, arguments: Mapping[str, Any]) -> tuple[GroupedCall | None, Mapping[str, Any]]:
        """Return the call for several searches if one of them is grouped, else None, and the arguments to pass on."""
        options = {name: value for name, value in arguments.items() if is_dedupe_name(name)}
        plain = without_dedupe(arguments)
        for name in SEARCHES:
            if name in plain and not isinstance(plain[name], str | bytes | list | tuple):
                plain[name] = list(plain[name] or ())  # it may be an iterator, but is read twice
        if not options and not any(mentions_dedupe(plain.get(name)) for name in SEARCHES):
            return None, plain
        adapter = self._capture("msearch", plain)
        lines = read_lines(split_lines(adapter, adapter.request.body))
        if not options and not any(line.names_dedupe for line in lines):
            return None, plain
        request = adapter.request
        searches = MultiSearch(request.path, request.index, adapter.unfiltered_params(), options, lines)
        return (adapter, searches.flow(self._metadata_for(adapter), adapter.error_answer)), plain

    def _capture(self, method: str, arguments: Mapping[str, Any]) -> ClientAdapter:
        client = vars(self)["ibidem_client"]
        return self.adapter(client, self.adapter.capture(client, method, arguments))

    def _metadata_for(self, adapter: ClientAdapter) -> IndexMetadataCache:
        """Return the index metadata cache; an empty one if the request names another user."""
        if any(name.lower() == "authorization" for name in adapter.request.headers):
            return IndexMetadataCache()
        return metadata_cache(self)


class SyncClient(WrappedClient):
    """A wrapped client whose methods return the response."""

    def search(self, **arguments: Any) -> Any:
        """Search as the client does; `dedupe` and `dedupe_…` group the duplicates."""
        call, plain = self._search_call(arguments)
        return self.ibidem_client.search(**plain) if call is None else answer(*call)

    def msearch(self, **arguments: Any) -> Any:
        """Run several searches as the client does; those with `dedupe` in their header or body are grouped."""
        call, plain = self._msearch_call(arguments)
        return self.ibidem_client.msearch(**plain) if call is None else answer(*call)

    def __enter__(self) -> Any:
        """Enter the client's context."""
        self.ibidem_client.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        """Close the client."""
        return self.ibidem_client.__exit__(*error)


class AsyncClient(WrappedClient):
    """A wrapped client whose methods are awaited."""

    async def search(self, **arguments: Any) -> Any:
        """Search as the client does; `dedupe` and `dedupe_…` group the duplicates."""
        call, plain = self._search_call(arguments)
        return await (self.ibidem_client.search(**plain) if call is None else answer_async(*call))

    async def msearch(self, **arguments: Any) -> Any:
        """Run several searches as the client does; those with `dedupe` in their header or body are grouped."""
        call, plain = self._msearch_call(arguments)
        return await (self.ibidem_client.msearch(**plain) if call is None else answer_async(*call))

    async def __aenter__(self) -> Any:
        """Enter the client's context."""
        await self.ibidem_client.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        """Close the client."""
        return await self.ibidem_client.__aexit__(*error)


def metadata_cache(client: Any) -> IndexMetadataCache:
    """Return the index metadata cache of a wrapped client."""
    cache: IndexMetadataCache = vars(client)["ibidem_metadata"]
    return cache


def answer(adapter: ClientAdapter, flow: RequestFlow[Json]) -> Any:
    """Send the requests of a flow, and return its response as the client does."""
    try:
        return adapter.filtered_response(run_sync(flow, lambda ask: adapter.read(ask, adapter.start(ask))))
    except IgnoredStatus as status:
        return status.answer
    except Failure as failure:
        raise adapter.exception(failure) from failure


async def answer_async(adapter: ClientAdapter, flow: RequestFlow[Json]) -> Any:
    """Async version of `answer`."""

    async def send(request: ApiRequest) -> Any:
        return adapter.read(request, await adapter.start(request))

    try:
        return adapter.filtered_response(await run_async(flow, send))
    except IgnoredStatus as status:
        return status.answer
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


def read_mentioned(body: Any) -> Mapping[str, Any]:
    """Return a body that may contain dedupe parameters; empty if it cannot."""
    if not mentions_dedupe(body) or isinstance(body, list | tuple):
        return {}
    try:
        read = orjson.loads(body) if isinstance(body, str | bytes) else body
    except orjson.JSONDecodeError:
        return {}  # the client sends it unchanged, and the engine reports the error
    return read if isinstance(read, Mapping) else {}


def split_lines(adapter: ClientAdapter, body: Any) -> list[Any]:
    """Return headers and bodies of several searches as parsed JSON."""
    if not isinstance(body, str | bytes):
        return [adapter.read_json(line) for line in body or ()]
    text = body.encode() if isinstance(body, str) else body
    return [read_line(number, line) for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), 1)]


def read_line(number: int, line: bytes) -> Any:
    """Return one line as parsed JSON; an empty line is an empty object."""
    try:
        return orjson.loads(line or b"{}")
    except orjson.JSONDecodeError as error:
        raise UsageError(f"line {number} of the searches is not JSON: {error}", "write a header and a body") from error
