"""Dedupe proxy: a grouped search in the query DSL, sent to the engine with the caller's own rights."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from ibidem.gateway.errors import HttpError
from ibidem.gateway.metrics import Metrics, Stage
from ibidem.gateway.search_request import NativeRequest, dump_json
from ibidem.gateway.upstream import Caller, Reply, Upstream, media_type, rewrite_headers, target
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.stored import grouped_search
from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.dsl import ONLY_PACKED
from ibidem_engines.requests import ApiRequest, RequestFlow

T = TypeVar("T")
Json = dict[str, Any]

JSON, LINES = "json", "x-ndjson"  # the two forms of a request's body

CALLERS = 1_000
INDEXES = 1_000  # callers, and indexes of each, of which is remembered how they are made

AT_HAND = 1_000  # hits of a window that is grouped in some ten milliseconds, which is done at once

# Where longer windows are grouped, so that none holds up other requests.
GROUPING = ThreadPoolExecutor(1, thread_name_prefix="grouping")

_OF_THE_ANSWER = frozenset(("accept", "accept-encoding"))


class EngineRefusal(Exception):
    """Error response of the engine, which is passed to the caller unchanged."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class CallerCache:
    """Index metadata for each caller, within the caller's rights."""

    def __init__(self) -> None:
        self._caches: OrderedDict[Caller, IndexMetadataCache] = OrderedDict()

    def get(self, caller: Caller) -> IndexMetadataCache:
        """Return the cached metadata of a caller."""
        cache = self._caches.pop(caller, None)
        if cache is None or len(cache.layouts) > INDEXES:
            cache = IndexMetadataCache()
        self._caches[caller] = cache
        if len(self._caches) > CALLERS:
            self._caches.popitem(last=False)
        return cache


@dataclass(slots=True)
class DedupeProxy:
    """The grouped searches of one request."""

    upstream: Upstream  # the engine
    headers: Mapping[str, str]  # the request's headers, names in small letters
    metrics: Metrics  # where stages are noted
    tables: Collection[str] = ()  # names of the current idf tables
    kind: str = "application/json"  # the form of the engine's answers, known after the first
    warnings: dict[str, None] = field(default_factory=dict)  # what the engine warned of

    async def search(self, request: NativeRequest, metadata: IndexMetadataCache) -> Json:
        """Search, and respond in the engine's own format with duplicates grouped."""
        if request.dedupe is None:
            raise ValueError("a search that asks for no groups is forwarded")
        search = read_search(request.indexes, request.body, request.parameters, request.dedupe)
        search = replace(search, tables=self.tables)
        depth = max(request.dedupe.window, search.start + search.size)
        response = await self._run(grouped_search(search, metadata), aside=depth > AT_HAND)
        self.metrics.count_search(response["dedupe"])
        return response

    async def send(self, request: ApiRequest) -> Json:
        """Send a request with the caller's rights, and return the JSON of the response."""
        form = JSON if request.lines is None else LINES
        reply = await self._request(request.method, request.path, request.params, form, content(request))
        return {} if reply.status in request.ok_statuses else self._read(reply)

    async def send_lines(self, path: str, params: Mapping[str, str], lines: bytes) -> Json:
        """Send several searches unchanged, and return the JSON of the response."""
        return self._read(await self._request("POST", path, params, LINES, lines))

    async def _run(self, flow: RequestFlow[Json], *, aside: bool) -> Json:
        """Send every request of a flow, and measure the time of its stages."""
        loop, answer, grouping = asyncio.get_running_loop(), None, 0.0
        while True:
            if aside:
                api_request, result, took = await loop.run_in_executor(GROUPING, step, flow, answer)
            else:
                api_request, result, took = step(flow, answer)
            grouping += took
            if api_request is None:
                self.metrics.took("grouping", grouping)
                response: Json = result
                return response
            began = perf_counter()
            answer = await self.send(api_request)
            if stage := search_stage(api_request):
                self.metrics.took(stage, perf_counter() - began)

    async def _request(self, method: str, path: str, params: Mapping[str, str], form: str, body: bytes | None) -> Reply:
        return await self.upstream.send(method, target(path, params), self._headers(form), body)

    def _read(self, reply: Reply) -> Json:
        """Read a response, and store its warning headers."""
        if reply.status >= 400:
            raise EngineRefusal(reply)
        self._note(reply)
        read: Json = reply.json()
        return read

    def _headers(self, form: str) -> list[tuple[str, str]]:
        """Return the caller's headers and media types, for the API version that it uses."""
        headers = [(name, value) for name, value in rewrite_headers(self.headers, form) if name not in _OF_THE_ANSWER]
        return [*headers, ("accept", media_type(self.headers, JSON))]

    def _note(self, reply: Reply) -> None:
        for name, value in reply.headers:
            if name == "content-type":
                self.kind = value
            elif name == "warning":
                self.warnings[value] = None


def step(flow: RequestFlow[T], answer: object) -> tuple[ApiRequest | None, Any, float]:
    """Advance a flow by one step."""
    began = perf_counter()
    try:
        api_request = flow.send(answer)
    except StopIteration as stop:
        return None, stop.value, perf_counter() - began
    except Failure as failure:
        raise HttpError(failure.status or 502, failure.kind or "exception", failure.reason) from failure
    return api_request, None, perf_counter() - began


def search_stage(request: ApiRequest) -> Stage | None:
    """Return the stage of a search that a request belongs to; None for other requests."""
    if not request.path.endswith("/_search") or request.body is None:
        return None
    is_packed = request.body.get("docvalue_fields") == ONLY_PACKED["docvalue_fields"]
    return "window" if is_packed and request.body.get("track_total_hits") else "fetch"


def content(request: ApiRequest) -> bytes | None:
    """Serialize a request's body."""
    if request.lines is not None:
        return b"".join(dump_json(line) + b"\n" for line in request.lines)
    return None if request.body is None else dump_json(request.body)
