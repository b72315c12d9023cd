"""Forwarding of all other paths with the caller's own rights, if `IBIDEM_GATEWAY_PATHS` is `all`.

Where all indexes are open, requests and answers are streamed. Else documents alone can be read and
written, in the indexes that are open: each request names its index and nothing else, and what is sent is written again
from what was read. Any other path is refused then: nobody has looked into what its body could name.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ibidem.gateway.dependencies import GatewayContext, cluster
from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import check_indexes, has_all_indexes, split_alias
from ibidem.gateway.search_request import as_object, check_type, decompress, dump_json, read_body, read_parameters
from ibidem.gateway.search_routes import as_response, cancel_on_disconnect
from ibidem.gateway.streaming import StreamedResponse
from ibidem.gateway.upstream import rewrite_headers, target
from ibidem_core.settings import Settings

READS, WRITES = frozenset(("GET", "HEAD")), frozenset(("PUT", "POST"))
# Operations on documents, and their methods.
ACTIONS: Mapping[str, frozenset[str]] = {
    "": READS,
    "_bulk": WRITES,
    "_create": WRITES,
    "_doc": READS | WRITES | {"DELETE"},
    "_mget": frozenset(("GET", "POST")),
    "_refresh": frozenset(("GET", "POST")),
    "_source": READS,
    "_update": frozenset(("POST",)),
}

OF_IDS = frozenset(("_create", "_doc", "_source", "_update"))
PARAMETERS = frozenset(
    (
        *("_source", "_source_excludes", "_source_includes", "allow_no_indices", "error_trace", "expand_wildcards"),
        *("filter_path", "format", "human", "if_primary_term", "if_seq_no", "ignore_unavailable"),
        *("include_source_on_error", "op_type", "preference", "pretty", "realtime", "refresh", "require_alias"),
        *("retry_on_conflict", "routing", "stored_fields", "timeout", "version", "version_type"),
        "wait_for_active_shards",
    )
)
# Metadata that a line of `_bulk`, or a document of `_mget`, may have.
META = frozenset(
    (
        *("_id", "_index", "if_primary_term", "if_seq_no", "require_alias", "retry_on_conflict", "routing", "version"),
        *("_source", "stored_fields", "version_type"),
    )
)

OPERATIONS = ("create", "delete", "index", "update")


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request as it is sent to the engine."""

    target: str  # path and query string
    headers: list[tuple[str, str]]
    body: bytes | None


async def read_document_request(request: Request, content: bytes, settings: Settings) -> OutgoingRequest:
    """Parse a document request, and serialize it again."""
    index, action, id_ = path_parts(request)
    if index:
        check_indexes(index, settings)
    parameters = read_parameters(request.url.query)
    for name in parameters:
        if name not in PARAMETERS:
            raise HttpError(400, "illegal_argument_exception", f"unrecognized parameter: [{name}]", "leave it out")
    form = "x-ndjson" if action == "_bulk" else "json"
    if action == "_bulk":
        check_type(request.headers.get("content-type", ""), ("json", "x-ndjson"))
        lines = await run_in_threadpool(decompress, content, request.headers, settings)
        body: bytes | None = await rewrite_bulk(lines, index, settings)
    else:
        read = read_body(content, request.headers, settings)
        if action == "_mget":
            check_documents(read or {}, index, settings)
        body = None if read is None else dump_json(read)
    path = "/".join(quote(part, safe=",*") for part in ("", index, action, id_) if part)
    headers = rewrite_headers(request.headers, form if body is not None else None)
    return OutgoingRequest(target(f"/{path}", parameters), headers, body)


def path_parts(request: Request) -> tuple[str, str, str]:
    """Return index, action and id of a path."""
    raw = request.scope["raw_path"].decode("ascii").removeprefix("/").split("/")
    parts = [unquote(part, errors="strict") for part in raw]
    if parts[0] in ("_bulk", "_mget"):
        parts.insert(0, "")
    index, action, id_ = (*parts, "", "", "")[:3]
    index = split_alias(index)[0]
    fits = len(parts) <= (3 if action in OF_IDS else 2) and (index or action)
    if not fits or request.method not in ACTIONS.get(action, ()) or (action and not action.startswith("_")):
        raise HttpError(
            403,
            "security_exception",
            f"{request.method} {request.url.path} is not forwarded while access is restricted to some indexes",
            f"forwarded are {', '.join(name for name in ACTIONS if name)}; IBIDEM_GATEWAY_INDEXES=* allows all indexes",
        )
    return index, action, id_


def check_documents(body: Mapping[str, Any], index: str, settings: Settings) -> None:
    """Check the documents that `_mget` names."""
    documents = body.get("docs", [])
    if body.keys() - {"docs", "ids"} or not isinstance(documents, list):
        raise HttpError(400, "parsing_exception", "_mget takes docs or ids")
    if not index and "ids" in body:
        raise HttpError(400, "illegal_argument_exception", "ids without an index", "name the index in the path")
    for each in documents:
        check_meta(each, index, settings)


def check_meta(meta: Any, index: str, settings: Settings) -> None:
    """Check the metadata of a document: its index and id."""
    if not isinstance(meta, dict) or meta.keys() - META:
        raise HttpError(400, "parsing_exception", f"a document may be named only by {', '.join(sorted(META))}")
    name = meta.get("_index", index)
    if not isinstance(name, str) or not name:
        raise HttpError(400, "illegal_argument_exception", "a document without an index", 'write {"_index": "NAME"}')
    check_indexes(name, settings)


AT_ONCE = 500  # lines of `_bulk` that are read before other requests have their turn


async def rewrite_bulk(content: bytes, index: str, settings: Settings) -> bytes:
    """Serialize the lines of `_bulk` again, in batches: a body may have one line per byte."""
    rewritten = bytearray()
    for count, line in enumerate(bulk_lines(content, index, settings), 1):
        rewritten += line
        if count % AT_ONCE == 0:
            await asyncio.sleep(0)
    return bytes(rewritten)


def bulk_lines(content: bytes, index: str, settings: Settings) -> Iterator[bytes]:
    """Yield the lines of `_bulk`, each serialized again; blank lines are empty."""
    lines = split_lines(content)
    for line in lines:
        if not line.strip():
            yield b""
            continue
        action = as_object(line)
        if len(action) != 1 or next(iter(action)) not in OPERATIONS:
            raise HttpError(400, "illegal_argument_exception", f"each line has to be one of {', '.join(OPERATIONS)}")
        ((operation, meta),) = action.items()
        check_meta(meta, index, settings)
        yield dump_json(action) + b"\n"
        if operation != "delete":
            yield dump_json(as_object(next(lines, b""))) + b"\n"


def split_lines(content: bytes) -> Iterator[bytes]:
    r"""Split a body into lines, one by one.

    >>> list(split_lines(b"a\n\nb"))
    [b'a', b'', b'b']
    """
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield content[start:end]
        start = end + 1
    yield content[start:]


ROUTE = SimpleNamespace(path="/{path}")  # name under which these requests are counted


@dataclass(slots=True)
class Passthrough:
    """Forwards every request that no other route handles."""

    context: GatewayContext  # settings, caches and metrics that every request may use

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request, settings = Request(scope, receive), self.context.settings
        scope["route"] = ROUTE
        upstream = await cluster(request)
        if has_all_indexes(settings):
            await StreamedResponse(request, upstream, settings, send).run()
            return
        document_request = await read_document_request(request, await request.body(), settings)
        answer = upstream.send(request.method, document_request.target, document_request.headers, document_request.body)
        await as_response(await cancel_on_disconnect(request, answer))(scope, receive, send)
