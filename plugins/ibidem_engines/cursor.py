"""Where a ranking was taken, so that it can be taken again: what was written later stays out.

An index of one shard numbers its writes, so the highest number among what matched is enough, costs no request and never
runs out. Over several shards a number says nothing, so there the servers keep a point in time, for some minutes.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from xxhash import xxh3_64_hexdigest

from ibidem_engines.dsl import Clause
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError

NEWEST: Clause = {"ibidem": {"max": {"field": "_seq_no"}}}
"""Aggregation that tells the highest number among what matches."""

ANEW = "leave it out to begin anew"


@dataclass(frozen=True, slots=True)
class Cursor:
    """One of the two.

    Args:
        newest: Highest number of a write that is let in; None with a point in time.
        point: Id of the point in time, or an empty string.
    """

    newest: int | None = None
    point: str = ""


def write_cursor(cursor: Cursor, index: str, query: Query) -> str:
    """Write a cursor as text, with what it belongs to."""
    parts = [cursor.newest, cursor.point, *marks(index, query)]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def read_cursor(text: str, index: str, query: Query) -> Cursor:
    """Read a cursor of the same index and query.

    Raises:
        UsageError: It is none, or belongs to another index or query.
    """
    newest, point, its_index, its_query = _parts(text)
    here = marks(index, query)
    if its_index != here[0]:
        raise UsageError(f"cursor {text!r} belongs to another index", ANEW)
    if its_query != here[1]:
        raise UsageError(f"cursor {text!r} belongs to another query or other filters", ANEW)
    return Cursor(newest, point)


def marks(index: str, query: Query) -> tuple[str, str]:
    """Hash what a cursor belongs to: the index, and what the query means, however it was typed."""
    meaning = query.meaning
    native = b"" if query.native is None else orjson.dumps(query.native, option=orjson.OPT_SORT_KEYS)
    return xxh3_64_hexdigest(index.encode()), xxh3_64_hexdigest(repr(meaning).encode() + native)


def up_to(query: Clause, newest: int) -> Clause:
    """Leave out what was written later."""
    return {"bool": {"must": [query], "filter": [{"range": {"_seq_no": {"lte": newest}}}]}}


def newest_of(answer: Mapping[str, Any]) -> int:
    """Read the aggregation's answer; -1 when nothing matched."""
    value = answer["aggregations"]["ibidem"]["value"]
    return -1 if value is None else int(value)


def _parts(text: str) -> tuple[int | None, str, str, str]:
    try:
        parts = orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        newest, point, index, query = parts
    except (binascii.Error, ValueError, TypeError):
        newest, point, index, query = None, None, None, None
    texts = isinstance(point, str) and isinstance(index, str) and isinstance(query, str)
    if not texts or (isinstance(newest, int) == bool(point)) or not isinstance(newest, int | None):
        raise UsageError(f"cursor {text!r} is none that a search has given", ANEW)
    return newest, point, index, query
