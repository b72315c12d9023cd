"""Bodies of requests: unpacked, read so strictly that there is one way to read them, and written again.

The engine is sent what was read here, never the caller's own bytes: two readers of one text may differ, a writer and a
reader of plain JSON do not.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from ibidem.gateway.errors import HttpError
from ibidem_workers.settings import Settings

GZIP = 31
"""zlib's way to say: gzip, with the largest window."""

Values = Mapping[str, Any]


def read_body(content: bytes, headers: Mapping[str, str], settings: Settings) -> Values | None:
    """Read a body that is a JSON object; None where there is no body.

    Args:
        content: The body's bytes.
        headers: Names in small letters.
        settings: The settings in force.

    Raises:
        Answered: It is none, or in another form.
    """
    plain = unpacked(content, headers, settings)
    if not plain:
        return None
    check_type(headers.get("content-type", ""), ("json",))
    return as_object(plain)


def check_type(named: str, endings: Iterable[str]) -> None:
    """Refuse a body in a form that cannot be looked into.

    Args:
        named: The content type.
        endings: How the name of the form may end.

    Raises:
        Answered: Another form than JSON.
    """
    kind = named.partition(";")[0].strip().lower()
    if not any(kind == f"application/{ending}" or kind.endswith(f"+{ending}") for ending in endings):
        raise HttpError(
            406, "media_type_header_exception", f"content type {named!r} is not taken here", "send application/json"
        )


def unpacked(content: bytes, headers: Mapping[str, str], settings: Settings) -> bytes:
    """Undo what a client did to make a body short, up to the length that a body may have.

    Raises:
        Answered: Another way than gzip, damaged, too long, or with anything behind its one member.
    """
    way = headers.get("content-encoding", "identity").strip().lower()
    if way == "identity" or not content:
        return content
    if way != "gzip":
        raise HttpError(415, "media_type_header_exception", f"content encoding {way!r} is not taken here", "send gzip")
    reader = zlib.decompressobj(GZIP)
    try:
        plain = reader.decompress(content, settings.gateway_body)
    except zlib.error as error:
        raise HttpError(400, "parse_exception", f"the body is not gzip: {error}") from error
    if reader.unconsumed_tail or not reader.eof:
        raise HttpError(
            413,
            "content_too_long_exception",
            f"the body, unpacked, is broken off or longer than {settings.gateway_body:,} bytes",
            "send less; IBIDEM_GATEWAY_BODY allows more",
        )
    if reader.unused_data:
        raise HttpError(
            400, "parse_exception", "something follows the packed body", "pack all of it as one gzip member"
        )
    return plain


def as_object(content: bytes) -> Values:
    """Read a JSON object in which every name occurs once.

    Raises:
        Answered: It is none.

    >>> as_object(b'{"size": 1}')
    {'size': 1}
    """
    try:
        orjson.loads(content)  # stricter: nothing but UTF-8, no halves of characters, no NaN, nothing behind the end
        read = json.loads(content, object_pairs_hook=each_once)
    except (ValueError, RecursionError) as error:
        raise HttpError(400, "parse_exception", f"the body is not JSON: {error}") from error
    if not isinstance(read, dict):
        raise HttpError(400, "parse_exception", "the body is no JSON object", 'write {"query": {…}}')
    return read


def each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs.

    Raises:
        ValueError: A name occurs twice; readers differ in which value they take.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return made


def written(value: object) -> bytes:
    """Write a value as JSON, in one line.

    >>> written({"size": 10**20})
    b'{"size": 100000000000000000000}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer over 64 bits, which the engines take
        try:
            return json.dumps(value, allow_nan=False).encode()
        except ValueError as error:
            raise HttpError(400, "parse_exception", f"the body is not JSON: {error}") from error
