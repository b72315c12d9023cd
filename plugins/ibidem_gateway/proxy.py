"""Proxy: answers `_search` and `_msearch` with groups if they ask for them, and forwards everything else unchanged."""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Annotated, Any, TypeVar

import aiohttp
import orjson
from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException

from ibidem.grouped_search.dsl.search import (
    INDEX,
    SearchLine,
    grouped_search,
    join_names,
    multi_search,
    names_dedupe,
    read_lines,
)
from ibidem.grouped_search.dsl.syntax import read_search
from ibidem_dedupe.parameters import DEDUPE, dedupe_request, is_dedupe_name
from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.dsl import ONLY_PACKED
from ibidem_engines.requests import ApiRequest, RequestFlow
from ibidem_gateway.dependencies import GatewayContext, WithCaller, WithCluster, WithContext, cluster
from ibidem_gateway.upstream import (
    HttpError,
    Metrics,
    Reply,
    Stage,
    Upstream,
    end_to_end,
    forward_headers,
    media_type,
    rewrite_headers,
    target,
)

Json = dict[str, Any]  # a value that is written as JSON

T = TypeVar("T")

MAX_BODY = 10_000_000  # bytes of a search, compressed and decompressed
AT_ONCE = 1_000  # hits of a window that are grouped in some ten milliseconds; longer ones are grouped in a thread
CLOSED = 499  # status of a client that disconnected; it is only logged
PARSE = "parse_exception"  # type of an error of a body that cannot be read
GZIP = 31  # zlib's `wbits` for gzip

PRINTED = ("pretty", "human", "error_trace")  # parameters that say how an answer is written

HEADER = "x-ibidem-dedupe"  # its value is a mode
ALIASES: Mapping[str, str] = {"dedupe": "collapse", "indent": "indent"}
"""Modes by the suffix of an index name, after `~`."""

_MENTION = re.compile(rb"dedupe|~indent")  # a body without it asks for no groups
_ALIAS = re.compile(rf"~({'|'.join(ALIASES)})(?=,|$)")


def split_alias(indexes: str, mode: str = "") -> tuple[str, str]:
    """Split index names into the engine's own names and the mode that an alias implies, if any, or else `mode`.

    >>> split_alias("news~dedupe,law"), split_alias("news")
    (('news,law', 'collapse'), ('news', ''))
    """
    match = _ALIAS.search(indexes)
    return _ALIAS.sub("", indexes), ALIASES[match[1]] if match else mode


def own_target(request: Request, query: str) -> str:
    """Return path and query string for the engine, without the gateway's aliases."""
    first, slash, tail = request.scope["raw_path"].decode("latin-1").removeprefix("/").partition("/")
    path = f"/{split_alias(first)[0]}{slash}{tail}"
    return f"{path}?{query}" if query else path


def raw_query(request: Request) -> str:
    return str(request.scope["query_string"].decode("latin-1"))


def without_dedupe(query: str) -> str:
    """Return a query string without dedupe parameters, the others unchanged.

    >>> without_dedupe("q=a%20b&dedupe=off&pretty")
    'q=a%20b&pretty'
    """
    return "&".join(part for part in query.split("&") if not is_dedupe_name(part.partition("=")[0]))


async def forward(
    request: Request,
    upstream: Upstream,
    content: bytes | None = None,
    query: str | None = None,
    headers: list[tuple[str, str]] | None = None,
) -> Response:
    """Forward a request, and return the engine's response, both as they arrive.

    A body that was read before is sent as `content`, a changed query string as `query`, other headers as `headers`.
    """
    headers, arrived = headers or forward_headers(request.headers), asyncio.Event()
    body: bytes | AsyncIterator[bytes] | None = content or None
    if content is None and ("content-length" in request.headers or "transfer-encoding" in request.headers):
        body = arriving(request, arrived)
        headers += [(name, request.headers[name]) for name in ("content-length",) if name in request.headers]
    else:
        arrived.set()
    target = own_target(request, raw_query(request) if query is None else query)
    answer = await cancel_on_disconnect(request, upstream.open(request.method, target, headers, body), arrived)
    response = StreamingResponse(parts(answer), answer.status)
    response.raw_headers = end_to_end(answer.raw_headers, with_length=True)
    return response


async def arriving(request: Request, arrived: asyncio.Event) -> AsyncIterator[bytes]:
    async for part in request.stream():
        if part:
            yield part
    arrived.set()


async def parts(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield the body of a response as it arrives; if the client disconnects, the engine's connection is closed."""
    try:
        async for part in answer.content.iter_any():
            yield part
    finally:
        answer.close()


async def cancel_on_disconnect(
    request: Request, work: Coroutine[None, None, T], arrived: asyncio.Event | None = None
) -> T:
    """Await `work`; cancel it if the client disconnects after its body has `arrived`."""

    async def disconnected() -> None:
        if arrived is not None:
            await arrived.wait()
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HttpError(CLOSED, "the client disconnected", kind="client_closed_request")
    finally:
        leaving.cancel()
        task.cancel()


def decompress(content: bytes, encoding: str) -> bytes:
    """Decompress the body of a search; another encoding than gzip, and damaged or too long data, is refused."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity") or not content:
        return content
    if encoding != "gzip":
        raise HttpError(415, f"content encoding {encoding!r} is not supported", "send gzip")
    reader = zlib.decompressobj(GZIP)
    try:
        text = reader.decompress(content, MAX_BODY)
    except zlib.error as error:
        raise HttpError(400, f"the body is not gzip: {error}", kind=PARSE) from error
    if reader.unconsumed_tail or not reader.eof or reader.unused_data:
        reason = f"the body is truncated, several gzip members, or decompresses to more than {MAX_BODY:,} bytes"
        raise HttpError(413, reason, "send it as one gzip member, or uncompressed")
    return text


def read_json(text: bytes) -> Json:
    """Read a JSON object; integers may have any length.

    >>> read_json(b'{"size": 1}'), read_json(b"")
    ({'size': 1}, {})
    """
    try:
        read = json.loads(text or b"{}")
    except (ValueError, RecursionError) as error:
        raise HttpError(400, f"the body is not JSON: {error}", kind=PARSE) from error
    if not isinstance(read, dict):
        raise HttpError(400, "the body is not a JSON object", 'write {"query": {…}}', PARSE)
    return read


class IndexesConvertor(StringConvertor):
    """Reads index names from a path; date math such as `<logs-{now/d}>` may contain a slash."""

    regex = r"(?:[^/<>]|<[^<>]*>)+"


register_url_convertor("indexes", IndexesConvertor())
router = APIRouter(tags=["search"])
Indexes = Annotated[str, Path(description="Names and patterns of indexes, separated by commas.")]


@router.get("/{indexes:indexes}/_search")
@router.post("/{indexes:indexes}/_search")
async def search(
    indexes: Indexes, request: Request, context: WithContext, upstream: WithCluster, caller: WithCaller
) -> Response:
    """Search in the engine's own query language; `dedupe=indent` or `collapse` groups duplicates."""
    indexes, mode = split_alias(indexes, request.headers.get(HEADER, ""))
    content = await request.body()
    if (text := read_text(request, content, mode)) is None:
        return await forward(request, upstream, content)
    parameters = dict(request.query_params)
    if "source" in parameters and not text:
        text = parameters.pop("source").encode()
        parameters.pop("source_content_type", None)
    body = read_json(text)
    dedupe = dedupe_request(parameters, body, {DEDUPE: mode} if mode else {})
    own_body = {name: part for name, part in body.items() if not is_dedupe_name(name)}
    if dedupe is None or dedupe.mode == "off":
        query = without_dedupe(raw_query(request))
        if len(own_body) == len(body):
            return await forward(request, upstream, content, query)
        return await forward(request, upstream, dump_json(own_body), query, rewrite_headers(request.headers, JSON))
    # Clients in Java always send `typed_keys`, which only aggregations show.
    ignored = PRINTED if own_body.keys() & {"aggs", "aggregations"} else (*PRINTED, "typed_keys")
    own = {name: value for name, value in parameters.items() if not is_dedupe_name(name) and name not in ignored}
    found = replace(read_search(indexes, own_body, own, dedupe), tables=context.current_tables(indexes))
    flow = grouped_search(found, context.metadata(caller))
    aside = max(dedupe.window, found.start + found.size) > AT_ONCE
    return await respond(request, context, flow, parameters, aside=aside)


@router.get("/{indexes:indexes}/_msearch")
@router.post("/{indexes:indexes}/_msearch")
async def msearch(
    indexes: Indexes, request: Request, context: WithContext, upstream: WithCluster, caller: WithCaller
) -> Response:
    """Run several searches; the dedupe parameters are in each search, or in the query string for all."""
    indexes, mode = split_alias(indexes, request.headers.get(HEADER, ""))
    content = await request.body()
    if (text := read_text(request, content, mode)) is None:
        return await forward(request, upstream, content)
    options = {name: value for name, value in request.query_params.items() if is_dedupe_name(name)}
    lines = [
        with_mode(line, "" if DEDUPE in options else mode)
        for line in read_lines([read_json(line) for line in text.removesuffix(b"\n").split(b"\n")])
    ]
    if options.get(DEDUPE, "off") == "off" and not any(map(names_dedupe, lines)):
        return await forward(request, upstream, content, without_dedupe(raw_query(request)))
    params = {name: each for name, each in request.query_params.items() if name not in (*options, *PRINTED)}
    asked = ApiRequest("POST", own_target(request, ""), params)
    flow = multi_search(asked, indexes, options, lines, context.metadata(caller), refused_json)
    return await respond(request, context, flow, request.query_params, aside=True)


# Without a name: all indexes, those of a point in time, or those that each of several searches names.
for path, endpoint in (("/_search", search), ("/_msearch", msearch)):
    router.add_api_route(path, partial(endpoint, ""), methods=["GET", "POST"], include_in_schema=False)


def read_text(request: Request, content: bytes, mode: str) -> bytes | None:
    """Return the uncompressed body of a search; None if nothing in the request can ask for groups."""
    asks = bool(mode) or DEDUPE in raw_query(request)
    try:
        text = decompress(content, request.headers.get("content-encoding", ""))
    except HttpError:
        if asks:
            raise
        return None
    return text if asks or _MENTION.search(text) else None


def with_mode(line: SearchLine, mode: str) -> SearchLine:
    """Return a search with the mode that an alias of its header, or else `mode`, implies as a parameter of its own."""
    head, body = dict(line[0]), line[1]
    for name in INDEX:
        if name in head:
            head[name], mode = split_alias(join_names(head[name]), mode)
    return ({DEDUPE: mode, **head} if mode and DEDUPE not in body else head), body


def refused_json(error: Exception) -> Json | None:
    """Return the engine's response to one of several searches that it refused; None for another error."""
    return {**error.reply.json(), "status": error.reply.status} if isinstance(error, EngineRefusal) else None


async def respond(
    request: Request, context: GatewayContext, flow: RequestFlow[Json], parameters: Mapping[str, str], *, aside: bool
) -> Response:
    """Run grouped searches with the caller's rights, and respond with their result or the engine's own error."""
    received: list[tuple[bytes, bytes]] = []
    work = run_flow(flow, await cluster(request), request.headers, received, context.metrics, aside=aside)
    try:
        result = await cancel_on_disconnect(request, work)
    except EngineRefusal as refusal:
        context.metrics.errors.labels("engine").inc()
        reply = Response(refusal.reply.body, refusal.reply.status)
        reply.raw_headers = [*refusal.reply.headers, (b"content-length", str(len(refusal.reply.body)).encode())]
        return reply
    for each in result.get("responses", [result]):
        if "groups" in each.get("dedupe", ()):
            context.metrics.count_search(each["dedupe"])
    option = orjson.OPT_INDENT_2 if parameters.get("pretty") in ("", "true") else 0
    response = Response(orjson.dumps(result, option=option), media_type="application/json")
    for name, value in dict.fromkeys(received):
        if name == b"content-type":
            response.headers["content-type"] = value.decode("latin-1")
        elif name == b"warning":
            response.headers.append("warning", value.decode("latin-1"))
    return response


everything = APIRouter(include_in_schema=False)


@everything.api_route("/{path:path}", methods=["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def forward_all(request: Request, upstream: WithCluster) -> Response:
    """Forward a request that no other route answers, except for paths of the gateway's own."""
    if request.url.path.startswith("/ibidem/") and not request.url.path.startswith("/ibidem/_"):
        raise HTTPException(404)
    return await forward(request, upstream)


JSON, LINES = "json", "x-ndjson"  # forms of a body


class EngineRefusal(Exception):
    """Error response of the engine, which is passed to the caller unchanged."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


async def run_flow(  # noqa: PLR0913 - whose requests are sent, how, and what is kept
    flow: RequestFlow[Json],
    upstream: Upstream,
    caller_headers: Mapping[str, str],
    received: list[tuple[bytes, bytes]],  # takes the headers of the engine's answers
    metrics: Metrics,
    *,
    aside: bool,
) -> Json:
    """Send every request of a flow, and return its result; `aside`: its own work is done in a thread."""
    answer: Json | EngineRefusal | None = None
    loop, grouping = asyncio.get_running_loop(), 0.0
    while True:
        began = perf_counter()
        request, result = await loop.run_in_executor(None, step, flow, answer) if aside else step(flow, answer)
        grouping += perf_counter() - began
        if request is None:
            metrics.took("grouping", grouping)
            return result or {}
        began = perf_counter()
        own = ("accept", "accept-encoding")
        rewritten = rewrite_headers(caller_headers, JSON if request.lines is None else LINES)
        headers = [each for each in rewritten if each[0] not in own] + [("accept", media_type(caller_headers, JSON))]
        body = None if request.body is None else dump_json(request.body)
        if request.lines is not None:
            body = b"".join(dump_json(line) + b"\n" for line in request.lines)
        reply = await upstream.send(request.method, target(request.path, request.params), headers, body)
        if reply.status in request.ok_statuses:
            answer = {}
        elif reply.status >= 400:
            answer = EngineRefusal(reply)
        else:
            received += reply.headers
            answer = reply.json()
        if stage := search_stage(request):
            metrics.took(stage, perf_counter() - began)


def step(flow: RequestFlow[Json], answer: Json | EngineRefusal | None) -> tuple[ApiRequest | None, Json | None]:
    """Return the next request of a flow, or None and its result."""
    try:
        return flow.throw(answer) if isinstance(answer, EngineRefusal) else flow.send(answer), None
    except StopIteration as stop:
        return None, stop.value
    except Failure as failure:
        raise HttpError(failure.status or 502, failure.reason, kind=failure.kind or "exception") from failure


def search_stage(request: ApiRequest) -> Stage | None:
    """Return the stage of a search that a request belongs to; None for other requests."""
    if not request.path.endswith("/_search") or request.body is None:
        return None
    is_packed = request.body.get("docvalue_fields") == ONLY_PACKED["docvalue_fields"]
    return "window" if is_packed and request.body.get("track_total_hits") else "fetch"


def dump_json(value: object) -> bytes:
    """Serialize a value as JSON on one line.

    >>> dump_json({"size": 10**20})
    b'{"size": 100000000000000000000}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer over 64 bits, or half a character
        return json.dumps(value).encode()
