"""Requests that read and write documents while not all indexes are open: each names its index, and nothing else.

Every other path is refused: nobody has looked into what its body could name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request

from ibidem.gateway.bodies import as_object, check_type, read_body, unpacked, written
from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import check_indexes
from ibidem.gateway.paths import unaliased
from ibidem.gateway.search_request import read_parameters
from ibidem.gateway.upstream import reshaped, target
from ibidem_workers.settings import Settings

READS, WRITES = frozenset(("GET", "HEAD")), frozenset(("PUT", "POST"))
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
"""What may be done with documents, and by which methods."""

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
META = frozenset(
    (
        *("_id", "_index", "if_primary_term", "if_seq_no", "require_alias", "retry_on_conflict", "routing", "version"),
        *("_source", "stored_fields", "version_type"),
    )
)
"""What a line of `_bulk`, or a document of `_mget`, may say of itself."""

OPERATIONS = ("create", "delete", "index", "update")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it goes to the engine.

    Args:
        target: Path and query string.
        headers: Its headers.
        body: Its body.
    """

    target: str
    headers: list[tuple[str, str]]
    body: bytes | None


def read_document_request(request: Request, content: bytes, settings: Settings) -> Sent:
    """Read a request, and write it again.

    Args:
        request: Method, path, query string and headers.
        content: The body's bytes.
        settings: The settings in force.

    Raises:
        HttpError: Another path, an index that is not open, a body that names one.
    """
    index, action, id_ = parts_of(request)
    if index:
        check_indexes(index, settings)
    parameters = read_parameters(request.url.query)
    for name in parameters:
        if name not in PARAMETERS:
            raise HttpError(400, "illegal_argument_exception", f"unrecognized parameter: [{name}]", "leave it out")
    form = "x-ndjson" if action == "_bulk" else "json"
    if action == "_bulk":
        check_type(request.headers.get("content-type", ""), ("json", "x-ndjson"))
        body: bytes | None = b"".join(bulk_lines(unpacked(content, request.headers, settings), index, settings))
    else:
        read = read_body(content, request.headers, settings)
        if action == "_mget":
            check_documents(read or {}, index, settings)
        body = None if read is None else written(read)
    path = "/".join(quote(part, safe=",*") for part in ("", index, action, id_) if part)
    headers = reshaped(request.headers, form if body is not None else None)
    return Sent(target(f"/{path}", parameters), headers, body)


def parts_of(request: Request) -> tuple[str, str, str]:
    """Return index, action and id of a path.

    Raises:
        HttpError: It is another path.
    """
    raw = request.scope["raw_path"].decode("ascii").removeprefix("/").split("/")
    parts = [unquote(part, errors="strict") for part in raw]
    if parts[0] in ("_bulk", "_mget"):
        parts.insert(0, "")
    index, action, id_ = (*parts, "", "", "")[:3]
    index = unaliased(index)[0]
    fits = len(parts) <= (3 if action in OF_IDS else 2) and (index or action)
    if not fits or request.method not in ACTIONS.get(action, ()) or (action and not action.startswith("_")):
        raise HttpError(
            403,
            "security_exception",
            f"{request.method} {request.url.path} is not passed on while not all indexes are open",
            f"passed on are {', '.join(name for name in ACTIONS if name)}; IBIDEM_GATEWAY_INDEXES=* opens all indexes",
        )
    return index, action, id_


def check_documents(body: Mapping[str, Any], index: str, settings: Settings) -> None:
    """Check the documents that `_mget` names.

    Raises:
        HttpError: One in an index that is not open, or in none.
    """
    documents = body.get("docs", [])
    if body.keys() - {"docs", "ids"} or not isinstance(documents, list):
        raise HttpError(400, "parsing_exception", "_mget takes docs or ids")
    if not index and "ids" in body:
        raise HttpError(400, "illegal_argument_exception", "ids without an index", "name the index in the path")
    for each in documents:
        check_meta(each, index, settings)


def check_meta(meta: Any, index: str, settings: Settings) -> None:
    """Check what a document is named by.

    Raises:
        HttpError: An index that is not open, or none, or what nobody knows.
    """
    if not isinstance(meta, dict) or meta.keys() - META:
        raise HttpError(400, "parsing_exception", f"a document is named by {', '.join(sorted(META))} alone")
    named = meta.get("_index", index)
    if not isinstance(named, str) or not named:
        raise HttpError(400, "illegal_argument_exception", "a document without an index", 'write {"_index": "NAME"}')
    check_indexes(named, settings)


def bulk_lines(content: bytes, index: str, settings: Settings) -> Iterator[bytes]:
    """Yield the lines of `_bulk`, each written again.

    Raises:
        HttpError: What it does is not known, or in an index that is not open.
    """
    lines = iter(content.split(b"\n"))
    for line in lines:
        if not line.strip():
            continue
        action = as_object(line)
        if len(action) != 1 or next(iter(action)) not in OPERATIONS:
            raise HttpError(400, "illegal_argument_exception", f"a line does one of {', '.join(OPERATIONS)}")
        ((operation, meta),) = action.items()
        check_meta(meta, index, settings)
        yield written(action) + b"\n"
        if operation != "delete":
            yield written(as_object(next(lines, b""))) + b"\n"
