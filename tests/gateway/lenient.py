"""A reader of requests that takes all that any engine takes, in every way that any engine reads it.

It is the judge of what the gateway sends on, and shares nothing with the gateway's own readers.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

from servers.fake_server import Request

INDEXES = {"index", "indices", "indice", "_index", "target_index"}
# Parts that may name an index in another way.
ELSEWHERE = {"pit", "scroll", "template", "search_pipeline", "agentic", "ext", "project_routing"}


def reached(request: Request) -> set[str]:
    """Return every index that a request may make an engine read."""
    path, _, query = request.path.partition("?")
    parts = [unquote(part) for part in path.strip("/").split("/")]
    names = set(parts[0].split(",")) if parts[0] and (not parts[0].startswith("_") or "," in parts[0]) else set()
    headers = {name.lower(): value for name, value in request.headers.items()}
    body = unpacked(request.body) if headers.get("content-encoding", "identity") != "identity" else request.body
    for name, value in parameters(query):
        if name in INDEXES | {"scroll", "project_routing"}:
            names.add(value)
        if name == "source":
            names |= set(of_text(value))
    for line in body.decode(errors="replace").splitlines():
        names |= set(of_text(line))
    return names


def parameters(query: str) -> Iterator[tuple[str, str]]:
    """Part a query string at both marks, as the engines do."""
    for each in query.replace(";", "&").split("&"):
        name, _, value = each.partition("=")
        yield unquote_plus(name), unquote_plus(value)


def unpacked(body: bytes) -> bytes:
    """Unpack every member of a packed body, one after the other."""
    content = b""
    while body:
        reader = zlib.decompressobj(47)
        try:
            content += reader.decompress(body)
        except zlib.error:
            return content + body
        body = reader.unused_data
    return content


def of_text(text: str) -> Iterator[str]:
    """Yield what a text names, be it JSON or not."""
    try:
        # Every pair of a name and a value counts, also of names that occur twice.
        yield from of_value(json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs)))
    except ValueError:
        if text.strip():
            yield f"not JSON: {text[:80]}"


def of_value(value: object) -> Iterator[str]:
    """Yield what a value names, at any depth, and in texts that hold others."""
    if isinstance(value, list):
        for each in value:
            yield from of_value(each)
    elif isinstance(value, tuple):
        names = {name for name, _ in value[1]}
        for name, inner in value[1]:
            yield from of_pair(name, inner, names)


def of_pair(name: str, inner: object, names: set[str]) -> Iterator[str]:
    """Yield what one part of an object names."""
    if name in INDEXES and not (isinstance(inner, tuple) or (name == "_index" and names == {"_index"})):
        for each in inner if isinstance(inner, list) else str(inner).split(","):
            yield str(each)
    if name == "indexed_shape" and isinstance(inner, tuple) and "index" not in dict(inner[1]):
        yield "shapes"
    if name == "indices_boost":
        for each in inner if isinstance(inner, list) else [inner]:
            yield from (boosted for boosted, _ in each[1])
    if name in ELSEWHERE and (isinstance(inner, tuple) or name == "project_routing"):
        yield name
    if name in {"query", "source"} and isinstance(inner, str):
        yield from of_hidden(inner)
    yield from of_value(inner)


def of_hidden(text: str) -> Iterator[str]:
    """Yield what a text names that is itself a query, as it is or in base64."""
    for read in (text, decoded(text)):
        if read.lstrip().startswith("{"):
            yield from of_text(read)


def decoded(text: str) -> str:
    """Read base64; nothing where it is none."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
