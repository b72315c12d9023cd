"""Cursors as text for a URL: parts as JSON behind a checksum, with digests of the index and query they belong to."""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

import orjson
from xxhash import xxh3_64_digest, xxh3_64_hexdigest

from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError

LONGEST = 16_384
"""Characters of a cursor; a longer text is none."""

_CHECK = 8
_START_OVER = "leave it out to start over"


def encode_cursor(parts: Sequence[Any]) -> str:
    """Write parts as one string."""
    body = orjson.dumps(parts)
    return _as_text(xxh3_64_digest(body) + body)


def decode_cursor(text: str) -> list[Any]:
    """Read the parts of a cursor.

    Raises:
        ValueError: It is too long, damaged or no cursor.
    """
    if len(text) > LONGEST:
        raise ValueError("too long")
    whole = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if xxh3_64_digest(whole[_CHECK:]) != whole[:_CHECK] or _as_text(whole) != text.rstrip("="):
        raise ValueError("damaged")
    parts = orjson.loads(whole[_CHECK:])
    if not isinstance(parts, list):
        raise ValueError("no list")  # noqa: TRY004 - to callers one more text that is no cursor
    return parts


def query_digest(query: Query) -> str:
    """Return a hash of what a query means; how it was typed does not matter."""
    native = b"" if query.native is None else orjson.dumps(query.native, option=orjson.OPT_SORT_KEYS, default=str)
    return xxh3_64_hexdigest(repr(query.meaning).encode() + native)


def write_ranking_cursor(parts: Sequence[Any], index: str, query: Query) -> str:
    """Write the cursor of an engine's ranking, with the index and the query that it belongs to."""
    return encode_cursor([*parts, xxh3_64_hexdigest(index.encode()), query_digest(query)])


def read_ranking_cursor(text: str, index: str, query: Query, size: int) -> list[Any]:
    """Read the parts of the cursor of an engine's ranking.

    Args:
        text: The cursor.
        index: The index that is searched.
        query: The query of this search.
        size: How many parts the engine's cursors have.

    Raises:
        UsageError: It is none, or belongs to another index or query.
    """
    try:
        parts = decode_cursor(text)
    except ValueError as error:
        raise no_cursor(text) from error
    if len(parts) != size + 2:
        raise no_cursor(text)
    if parts[size] != xxh3_64_hexdigest(index.encode()):
        raise UsageError(f"cursor {text!r} belongs to another index", _START_OVER)
    if parts[size + 1] != query_digest(query):
        raise UsageError(f"cursor {text!r} belongs to another query or other filters", _START_OVER)
    return parts[:size]


def _as_text(whole: bytes) -> str:
    return urlsafe_b64encode(whole).decode().rstrip("=")


def no_cursor(text: str) -> UsageError:
    """Return the error of a text that is no cursor of a ranking."""
    return UsageError(f"cursor {text!r} is none that a search has given", _START_OVER)
