"""`_search`, `_msearch` and `_count` as the engine answers them, with duplicates grouped where that was asked for."""

from collections.abc import Awaitable
from dataclasses import replace
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Path, Request, Response

from ibidem.gateway.given import WithCaller, WithCluster, WithGiven
from ibidem.gateway.gone import unless_gone
from ibidem.gateway.grouped import EngineRefused, Grouped, Json
from ibidem.gateway.native_lines import read_lines
from ibidem.gateway.native_request import NativeRequest, read_request
from ibidem.gateway.passing import as_response, pass_on
from ibidem.gateway.refusals import Answered
from ibidem.gateway.several import all_of
from ibidem.native.surroundings import Surroundings


async def check_path(request: Request) -> None:
    """Refuse a path that the engine would part otherwise than it was parted here.

    Raises:
        Answered: A stroke that is written `%2F`.
    """
    if b"%2f" in request.scope["raw_path"].lower():
        raise Answered(
            400, "invalid_index_name_exception", "no index has a stroke in its name", "write lower-case names"
        )


router = APIRouter(tags=["search"], dependencies=[Depends(check_path)])

OF_ENGINE = "engine"
"""What errors of the engine's own are counted as."""

Indexes = Annotated[str, Path(description="Names and patterns of indexes, by commas.")]


@router.get("/{indexes}/_search")
@router.post("/{indexes}/_search")
async def search(
    indexes: Indexes, request: Request, given: WithGiven, cluster: WithCluster, caller: WithCaller
) -> Response:
    """Search in the engine's own language; with `dedupe=indent` or `collapse` its duplicates are grouped."""
    content = await request.body()
    asked = read_request(indexes, request.url.query, request.headers, content, given.settings)
    if asked.dedupe is None:
        return await unless_gone(request, pass_on(request, cluster, content, asked, given.settings))
    work = Grouped(cluster, request.headers, given.metrics)
    return await unless_gone(
        request, answer(work, work.search(asked, given.remembered.of(caller)), asked.parameters.get("pretty"))
    )


@router.get("/{indexes}/_count")
@router.post("/{indexes}/_count")
async def count(
    indexes: Indexes, request: Request, given: WithGiven, cluster: WithCluster, caller: WithCaller
) -> Response:
    """Count what matches; with `dedupe=indent` or `collapse` its groups too, in the account `dedupe`."""
    content = await request.body()
    asked = read_request(indexes, request.url.query, request.headers, content, given.settings)
    if asked.dedupe is None:
        return await unless_gone(request, pass_on(request, cluster, content, asked, given.settings))
    work = Grouped(cluster, request.headers, given.metrics)
    return await unless_gone(
        request, answer(work, counted(work, asked, given.remembered.of(caller)), asked.parameters.get("pretty"))
    )


@router.get("/_msearch")
@router.post("/_msearch")
@router.get("/{indexes}/_msearch")
@router.post("/{indexes}/_msearch")
async def several(
    request: Request, given: WithGiven, cluster: WithCluster, caller: WithCaller, indexes: str = ""
) -> Response:
    """Search several times at once; each search says for itself, or the query string for all, how it is grouped."""
    content = await request.body()
    asked = read_lines(indexes, request.url.query, request.headers, content, given.settings)
    if all(line.passes for line in asked.lines):
        return await unless_gone(request, pass_on(request, cluster, content, asked, given.settings))
    work = Grouped(cluster, request.headers, given.metrics)
    return await unless_gone(request, answer(work, all_of(work, asked, given.remembered.of(caller)), None))


async def counted(work: Grouped, asked: NativeRequest, around: Surroundings) -> Json:
    """Count documents as `_count` does, and groups as far as a window reaches."""
    found = await work.search(replace(asked, body={**asked.body, "size": 0}), around)
    total = found["hits"]["total"]
    account = {"dedupe": found["dedupe"]} if "dedupe" in found else {}
    return {"count": total["value"] if isinstance(total, dict) else total, "_shards": found["_shards"], **account}


async def answer(work: Grouped, result: Awaitable[Json], pretty: str | None) -> Response:
    """Write what came of grouped searches, or the engine's own error.

    Args:
        work: The searches, which know the form of the engine's answers.
        result: What will come of them.
        pretty: The parameter `pretty`, or None.
    """
    try:
        found = await result
    except EngineRefused as refused:
        work.metrics.errors.labels(OF_ENGINE).inc()
        return as_response(refused.reply)
    option = orjson.OPT_INDENT_2 if pretty in ("", "true") else 0
    made = Response(orjson.dumps(found, option=option), headers={"content-type": work.kind})
    for warning in work.warnings:
        made.headers.append("warning", warning)
    return made
