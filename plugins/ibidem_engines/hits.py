"""Hits of a ranking: in columns, from which each is made when it is asked for, or grouped by a plugin.

A cursor is text for a URL: parts as JSON behind a checksum, with digests of the index and query they belong to.
"""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload

import numpy as np
import orjson
from typing_extensions import override
from xxhash import xxh3_64_digest, xxh3_64_hexdigest

from ibidem_engines.engine import Engine, Hit, StoredDocument
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed_values import IdColumn, PackedValues

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
    content = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if xxh3_64_digest(content[_CHECK:]) != content[:_CHECK] or _as_text(content) != text.rstrip("="):
        raise ValueError("damaged")
    parts = orjson.loads(content[_CHECK:])
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


def _as_text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def no_cursor(text: str) -> UsageError:
    """Return the error of a text that is no cursor of a ranking."""
    return UsageError(f"cursor {text!r} is none that a search has given", _START_OVER)


@dataclass(frozen=True, eq=False, slots=True)
class HitColumns(Sequence[Hit]):
    """The fields of n hits; a window of some hundred is grouped without a Python object for each.

    Args:
        indices: (n) as `Hit.index`.
        ids: (n) as `Hit.id`.
        scores: (n) as `Hit.score`.
        packed: (n) as `Hit.packed`.
        orders: (n) as `Hit.order`; empty where none has one.
        sorts: (n) as `Hit.sort`; empty where none has any.
        cache: The hits that were asked for so far, by their row.
    """

    indices: Sequence[str]
    ids: IdColumn
    scores: Sequence[float]
    packed: PackedValues
    orders: Sequence[int] = ()
    sorts: Sequence[tuple[object, ...]] = ()
    cache: dict[int, Hit] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.indices)

    @overload
    def __getitem__(self, row: int) -> Hit: ...

    @overload
    def __getitem__(self, row: slice) -> "HitColumns": ...

    @override
    def __getitem__(self, row: int | slice) -> "Hit | HitColumns":
        """Make one hit, or give some of them."""
        if isinstance(row, slice):
            return HitColumns(
                self.indices[row],
                self.ids[row],
                self.scores[row],
                self.packed[row],
                self.orders[row],
                self.sorts[row],
            )
        row = range(len(self))[row]
        if row not in self.cache:
            self.cache[row] = Hit(
                self.indices[row],
                self.ids[row],
                self.scores[row],
                self.packed[row],
                self.orders[row] if self.orders else 0,
                self.sorts[row] if self.sorts else (),
            )
        return self.cache[row]

    def take(self, rows: Sequence[int]) -> "HitColumns":
        """Give some of the hits, in another order."""
        return HitColumns(
            [self.indices[row] for row in rows],
            self.ids.take(rows),
            [self.scores[row] for row in rows],
            self.packed.take(rows),
            [self.orders[row] for row in rows] if self.orders else (),
            [self.sorts[row] for row in rows] if self.sorts else (),
        )

    def sort(self) -> "HitColumns":
        """Put hits in the order of a ranking by score: equal ones by index and id."""
        worse = -np.array(self.scores, np.float64)
        if (worse[1:] > worse[:-1]).all():
            return self
        keys = self.ids.keys
        if keys is None:
            return self.take(sorted(range(len(self)), key=lambda row: (worse[row], self.indices[row], self.ids[row])))
        place = {index: number for number, index in enumerate(sorted(set(self.indices)))}
        index = [np.array([place[each] for each in self.indices])] if len(place) > 1 else []
        rows: list[int] = np.lexsort([*reversed(keys), *index, worse]).tolist()
        return self.take(rows)


def read_packed(hits: Sequence[Hit]) -> PackedValues:
    """Give the packed values of hits."""
    return hits.packed if isinstance(hits, HitColumns) else PackedValues.join([hit.packed for hit in hits])


@dataclass(frozen=True, eq=False, slots=True)
class HitNames(Sequence[tuple[str, str]]):
    """Index and id of hits, each made when it is asked for.

    Args:
        hits: The hits.
    """

    hits: Sequence[Hit]

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.hits)

    @overload
    def __getitem__(self, row: int) -> tuple[str, str]: ...

    @overload
    def __getitem__(self, row: slice) -> "HitNames": ...

    @override
    def __getitem__(self, row: "int | slice") -> "tuple[str, str] | HitNames":
        """Name one hit, or some."""
        if isinstance(row, slice):
            return HitNames(self.hits[row])
        hit = self.hits[row]
        return hit.index, hit.id


@dataclass(frozen=True, slots=True)
class PluginNode:
    """A node of a cluster, with the versions of engine and plugin.

    Args:
        name: The node's name.
        engine: Version of the engine.
        plugin: Version of the plugin; empty where it has none.
    """

    name: str
    engine: str
    plugin: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupedHits:
    """A page that the plugin grouped.

    Args:
        hits: As the server gives them, each with its `_dedupe`.
        documents: The documents that are still there, by index and id.
        account: Counts of what the page is based on.
        total: Number of documents that match.
        best: The highest score.
        cursor: As in `Ranking`.
    """

    hits: Sequence[dict[str, Any]]
    documents: Mapping[tuple[str, str], StoredDocument]
    account: dict[str, Any]
    total: int
    best: float | None
    cursor: str


class PluginEngine(Engine, Protocol):
    """An engine that a plugin may be installed in."""

    def search_grouped(
        self, query: Query, options: Mapping[str, object], first: int, size: int, cursor: str = ""
    ) -> GroupedHits | None:
        """Let the plugin search and group; None where not every node has it.

        Args:
            query: For what; not in the engine's own language.
            options: How to group, as the plugin reads it.
            first: How many groups come before the page's.
            size: Groups on the page.
            cursor: As in `search`.
        """

    def plugin_nodes(self) -> list[PluginNode]:
        """List the nodes, each with the plugin that it has; none where the caller may not know them."""
