"""Routes of `_search`, `_msearch` and `_count`: grouped, or forwarded; cancelled when the client disconnects."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Annotated, TypeVar
from urllib.parse import unquote

import orjson
from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.convertors import StringConvertor, register_url_convertor

from ibidem.gateway.dedupe_proxy import DedupeProxy, EngineRefusal, Json
from ibidem.gateway.dependencies import GatewayContext, WithCaller, WithCluster, WithContext
from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import DATE_MATH, HEADER, INDEXES, has_all_indexes, has_all_paths, split_alias
from ibidem.gateway.msearch import MsearchRequest, answer_msearch, read_lines
from ibidem.gateway.patience import extend
from ibidem.gateway.search_request import NativeRequest, dump_json, read_request
from ibidem.gateway.upstream import Caller, Reply, Upstream, forward_headers, rewrite_headers, target
from ibidem.grouped_search.dsl.filter_path import read_filter
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem_core.settings import Settings
from ibidem_dedupe.request import DEDUPE
from ibidem_engines.requests import quote_index

JSON, LINES = "json", "x-ndjson"  # the two forms of a body that is written here


async def pass_on(
    request: Request,
    upstream: Upstream,
    content: bytes,
    read: NativeRequest | MsearchRequest | None,
    settings: Settings,
) -> Response:
    """Forward a request without dedupe parameters, and return the response unchanged."""
    if read is None or (has_all_indexes(settings) and not read.dedupe):
        return await pass_as_it_came(request, upstream, content)
    if isinstance(read, MsearchRequest):
        path, form = read.path, LINES
        body: bytes | None = b"".join(line.content for line in read.lines)
    else:
        path, form = request.url.path.rpartition("/")[2], JSON
        path = f"/{quote_index(read.indexes)}/{path}" if read.indexes else f"/{path}"
        body = dump_json(read.body) if read.body else None
    headers = rewrite_headers(request.headers, None if body is None else form)
    return as_response(await upstream.send(request.method, target(path, read.parameters), headers, body))


async def pass_as_it_came(request: Request, upstream: Upstream, content: bytes) -> Response:
    """Forward a request unchanged, and return the response unchanged."""
    path = request.scope["raw_path"].decode("ascii")
    if query := request.scope["query_string"].decode("ascii"):
        path = f"{path}?{query}"
    return as_response(await upstream.send(request.method, path, forward_headers(request.headers), content or None))


def as_response(reply: Reply) -> Response:
    """Return an engine response unchanged."""
    answer = Response(reply.body, reply.status)
    del answer.headers["content-length"]
    for name, value in reply.headers:
        answer.headers.append(name, value)
    answer.headers["content-length"] = str(len(reply.body))
    return answer


Answer = TypeVar("Answer")
Read = TypeVar("Read", NativeRequest, MsearchRequest)

CLOSED = 499  # the status that servers note for it; nobody reads it


async def cancel_on_disconnect(request: Request, work: Coroutine[None, None, Answer]) -> Answer:
    """Await `work`; cancel it if the client disconnects."""
    label, leaving = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect(request))
    try:
        await asyncio.wait((label, leaving), return_when=asyncio.FIRST_COMPLETED)
        if label.done():
            return label.result()
        raise HttpError(CLOSED, "client_closed_request", "the client disconnected")
    finally:
        leaving.cancel()
        label.cancel()


async def wait_for_disconnect(request: Request) -> None:
    """Return once the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class IndexesConvertor(StringConvertor):
    """Reads index names from a path; date math such as `<logs-{now/d}>` may contain a slash."""

    regex = INDEXES


register_url_convertor("indexes", IndexesConvertor())


async def check_path(request: Request) -> None:
    """Reject a path that the engine would split differently from this router."""
    raw = request.scope["raw_path"].decode("ascii")
    parts = [DATE_MATH.sub("", unquote(part)) for part in raw.removeprefix("/").split("/")]
    if len(parts) > MAX_PARTS or any("/" in part for part in parts):
        raise HttpError(
            400, "invalid_index_name_exception", "the name of an index cannot contain a slash", "write lower-case names"
        )


MAX_PARTS = 2  # parts of the path of a search: its indexes, and what is done with them

router = APIRouter(tags=["search"], dependencies=[Depends(check_path)])

everywhere = APIRouter(tags=["search"])  # searches that name no index, where all are open

OF_ENGINE = "engine"  # name under which the engine's own errors are counted

Indexes = Annotated[str, Path(description="Names and patterns of indexes, separated by commas.")]


@router.get("/{indexes:indexes}/_search")
@router.post("/{indexes:indexes}/_search")
async def search(
    indexes: Indexes, request: Request, context: WithContext, cluster: WithCluster, caller: WithCaller
) -> Response:
    """Search in the engine's own query language; `dedupe=indent` or `collapse` groups duplicates."""
    return await respond(indexes, request, context, cluster, caller, DedupeProxy.search)


@router.get("/{indexes:indexes}/_count")
@router.post("/{indexes:indexes}/_count")
async def count(
    indexes: Indexes, request: Request, context: WithContext, cluster: WithCluster, caller: WithCaller
) -> Response:
    """Count matches; `dedupe=indent` or `collapse` also counts groups, under `dedupe` in the response."""
    return await respond(indexes, request, context, cluster, caller, count_groups)


@everywhere.get("/_search")
@everywhere.post("/_search")
async def search_all(request: Request, context: WithContext, cluster: WithCluster, caller: WithCaller) -> Response:
    """Search all indexes, or the indexes of a point in time."""
    return await search("", request, context, cluster, caller)


@everywhere.get("/_count")
@everywhere.post("/_count")
async def count_all(request: Request, context: WithContext, cluster: WithCluster, caller: WithCaller) -> Response:
    """Count in all indexes."""
    return await count("", request, context, cluster, caller)


@router.get("/_msearch")
@router.post("/_msearch")
@router.get("/{indexes:indexes}/_msearch")
@router.post("/{indexes:indexes}/_msearch")
async def several(
    request: Request, context: WithContext, cluster: WithCluster, caller: WithCaller, indexes: str = ""
) -> Response:
    """Run several searches; the parameters of grouping are in each search, or in the query string for all."""
    content = await request.body()
    native = readable(
        lambda: read_lines(indexes, request.url.query, request.headers, content, context.settings), request, context
    )
    if native is None or all(line.passes for line in native.lines):
        return await cancel_on_disconnect(request, pass_on(request, cluster, content, native, context.settings))
    work = DedupeProxy(cluster, request.headers, context.metrics, context.current_tables())
    return await cancel_on_disconnect(
        request, answer(work, answer_msearch(work, native, context.caches.get(caller)), native.parameters)
    )


def readable(read: Callable[[], Read], request: Request, context: GatewayContext) -> Read | None:
    """Parse a request; None if it cannot be parsed and only the engine decides on access."""
    try:
        return read()
    except HttpError:
        alias = split_alias(request.path_params.get("indexes", ""))[1]
        has_dedupe = bool(alias) or HEADER in request.headers or DEDUPE in request.url.query
        if has_all_paths(context.settings) and not has_dedupe:
            return None
        raise


# Function that answers a request that is grouped here.
Find = Callable[[DedupeProxy, NativeRequest, IndexMetadataCache], Awaitable[Json]]


async def respond(  # noqa: PLR0913, PLR0917 - the parameters of a route, and what it finds
    indexes: str, request: Request, context: GatewayContext, cluster: Upstream, caller: Caller, find: Find
) -> Response:
    """Respond to a request with `dedupe` with grouped results; forward others."""
    content = await request.body()
    native = readable(
        lambda: read_request(indexes, request.url.query, request.headers, content, context.settings), request, context
    )
    if native is not None:
        extend(request.scope, native.body)
    if native is None or native.passes:
        return await cancel_on_disconnect(request, pass_on(request, cluster, content, native, context.settings))
    work = DedupeProxy(cluster, request.headers, context.metrics, context.current_tables())
    response = find(work, native, context.caches.get(caller))
    return await cancel_on_disconnect(request, answer(work, response, native.parameters))


async def count_groups(work: DedupeProxy, request: NativeRequest, metadata: IndexMetadataCache) -> Json:
    """Count documents as `_count` does, and the groups of the window."""
    response = await work.search(replace(request, body={**request.body, "size": 0}), metadata)
    total = response["hits"]["total"]
    account = {"dedupe": response["dedupe"]} if "dedupe" in response else {}
    return {"count": total["value"] if isinstance(total, dict) else total, "_shards": response["_shards"], **account}


async def answer(work: DedupeProxy, result: Awaitable[Json], parameters: Mapping[str, str]) -> Response:
    """Respond with grouped results, or with the engine's own error."""
    try:
        response = read_filter(parameters).apply(await result)
    except EngineRefusal as refusal:
        work.metrics.errors.labels(OF_ENGINE).inc()
        return as_response(refusal.reply)
    option = orjson.OPT_INDENT_2 if parameters.get("pretty") in ("", "true") else 0
    reply = Response(orjson.dumps(response, option=option), headers={"content-type": work.kind})
    for warning in work.warnings:
        reply.headers.append("warning", warning)
    return reply
