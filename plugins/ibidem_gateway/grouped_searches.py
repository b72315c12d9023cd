"""Grouped searches of one request: each request of their flow is sent with the caller's own headers."""

import asyncio
import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import orjson

from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.dsl import ONLY_PACKED
from ibidem_engines.requests import ApiRequest, RequestFlow
from ibidem_gateway.errors import HttpError
from ibidem_gateway.metrics import Metrics, Stage
from ibidem_gateway.upstream import Reply, Upstream, media_type, rewrite_headers, target

Json = dict[str, Any]

JSON, LINES = "json", "x-ndjson"  # forms of a body


class EngineRefusal(Exception):
    """Error response of the engine, which is passed to the caller unchanged."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class GroupedSearches:
    """Runs the flows of one request."""

    def __init__(self, upstream: Upstream, headers: Mapping[str, str], metrics: Metrics) -> None:
        self._upstream = upstream
        self._headers = headers
        self._metrics = metrics
        self.media_type = "application/json"  # of the engine's responses
        self.warnings: dict[str, None] = {}  # of the engine, in order

    async def run(self, flow: RequestFlow[Json], *, aside: bool) -> Json:
        """Send every request of a flow, and return its result; `aside`: its own work is done in a thread."""
        loop, answer, grouping = asyncio.get_running_loop(), None, 0.0
        while True:
            began = perf_counter()
            request, result = await loop.run_in_executor(None, step, flow, answer) if aside else step(flow, answer)
            grouping += perf_counter() - began
            if request is None:
                self._metrics.took("grouping", grouping)
                return result or {}
            began = perf_counter()
            answer = await self._send(request)
            if stage := search_stage(request):
                self._metrics.took(stage, perf_counter() - began)

    async def _send(self, request: ApiRequest) -> Json | EngineRefusal:
        """Send a request, and return the JSON of the response."""
        form = JSON if request.lines is None else LINES
        headers = [(name, value) for name, value in rewrite_headers(self._headers, form) if name != "accept"]
        headers = [(name, value) for name, value in headers if name != "accept-encoding"]
        headers.append(("accept", media_type(self._headers, JSON)))
        reply = await self._upstream.send(request.method, target(request.path, request.params), headers, body(request))
        if reply.status in request.ok_statuses:
            return {}
        if reply.status >= 400:
            return EngineRefusal(reply)
        for name, value in reply.headers:
            if name == b"content-type":
                self.media_type = value.decode("latin-1")
            elif name == b"warning":
                self.warnings[value.decode("latin-1")] = None
        read: Json = reply.json()
        return read


def step(flow: RequestFlow[Json], answer: Json | EngineRefusal | None) -> tuple[ApiRequest | None, Json | None]:
    """Return the next request of a flow, or None and its result."""
    try:
        return flow.throw(answer) if isinstance(answer, EngineRefusal) else flow.send(answer), None
    except StopIteration as stop:
        return None, stop.value
    except Failure as failure:
        raise HttpError(failure.status or 502, failure.kind or "exception", failure.reason) from failure


def search_stage(request: ApiRequest) -> Stage | None:
    """Return the stage of a search that a request belongs to; None for other requests."""
    if not request.path.endswith("/_search") or request.body is None:
        return None
    is_packed = request.body.get("docvalue_fields") == ONLY_PACKED["docvalue_fields"]
    return "window" if is_packed and request.body.get("track_total_hits") else "fetch"


def body(request: ApiRequest) -> bytes | None:
    """Serialize a request's body."""
    if request.lines is not None:
        return b"".join(dump_json(line) + b"\n" for line in request.lines)
    return None if request.body is None else dump_json(request.body)


def dump_json(value: object) -> bytes:
    """Serialize a value as JSON on one line.

    >>> dump_json({"size": 10**20})
    b'{"size": 100000000000000000000}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer over 64 bits, or half a character
        return json.dumps(value).encode()
