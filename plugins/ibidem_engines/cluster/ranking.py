"""Ranking: the top hits with packed signatures, ties ordered by index and id, read from one view of the index.

Packed values are not in `_source`, and only a search reads doc values, also of documents that were read by id.

A packed value holds an id, which spares a window the engine's own: to read those takes as long as the search. But
whoever may write a document may write any value into it, so that id is a claim. What is read by it is compared with the
window by `is_same_state`; where the engine gives its own id, a value that names another document counts as missing.
"""

import dataclasses
from binascii import a2b_base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.dsl import LONG, PACKED, Clause
from ibidem_engines.cluster.index import write_order
from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import SourceDocument
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.stored_groups import Hit, HitColumns
from ibidem_ingest.signatures.packed import ROOM, IdColumn, PackedValues, read_id

# Decodes a window's values in a thirtieth of the time; the extra `fast` installs it.
FAST_BASE64: Any = import_module("pybase64") if find_spec("pybase64") else None

# Padding to whole quads of a value without any, by its characters beyond them; one character is no base64.
FILLING = ("", "===", "AA", "A")

ROOM_AS_BASE64 = "A" * -(-ROOM // 3 * 4)


def read_hits(answer: Mapping[str, Any]) -> HitColumns:
    hits: Sequence[Mapping[str, Any]] = answer["hits"]["hits"]
    packed, claimed_ids = read_packed(hits), None
    if hits and "_id" in hits[0]:
        ids = [hit["_id"] for hit in hits]
        packed, claimed_ids = packed.keep_own(ids), IdColumn.join(ids)
    return HitColumns(
        [hit["_index"] for hit in hits],
        packed.ids if claimed_ids is None else claimed_ids,
        [hit.get("_score") or 0.0 for hit in hits],
        packed,
        [write_order(hit["_seq_no"]) for hit in hits] if hits and "_seq_no" in hits[0] else (),
        [tuple(hit["sort"]) for hit in hits] if hits and "sort" in hits[0] else (),
    )


def read_hit(hit: Mapping[str, Any], sorted_by: int) -> Hit:
    """Parse a single hit with the engine's own id, as `read_hits` parses the hits of a window."""
    packed = read_binary(hit, PACKED)
    return Hit(
        hit["_index"],
        hit["_id"],
        hit.get("_score") or 0.0,
        packed if packed and read_id(packed) == hit["_id"] else None,
        write_order(hit["_seq_no"]) if "_seq_no" in hit else 0,
        tuple(hit.get("sort", ())[:sorted_by]),
    )


def read_packed(hits: Sequence[Mapping[str, Any]]) -> PackedValues:
    """Decode the packed values of hits at once; one by one if a value is missing or not base64."""
    try:
        values = [hit["fields"][PACKED][0].rstrip("=") for hit in hits]
        base64 = "".join([*(value + FILLING[len(value) % 4] for value in values), ROOM_AS_BASE64])
        text = decode_strictly(base64.replace("-", "+").replace("_", "/"))
    except (LookupError, AttributeError, ValueError):
        return PackedValues.join([read_binary(hit, PACKED) for hit in hits])
    length = np.array([len(value) for value in values], np.int64)
    room = (length + 3) // 4 * 3
    return PackedValues(text, np.cumsum(room) - room, length * 3 // 4)


def decode_strictly(text: str) -> bytes:
    """Decode a text that must be pure base64."""
    if FAST_BASE64 is None:
        return a2b_base64(text, strict_mode=True)
    content: bytes = FAST_BASE64.b64decode(text, validate=True)
    return content


def is_same_state(raw: Mapping[str, Any], hit: Hit) -> bool:
    """Return whether a document is the hit's document: a packed id may be false.

    The engine numbers the writes of a shard, so no two of its documents have one number; those of two shards may, and
    then have different packed values, unless one was copied.
    """
    return write_order(raw["_seq_no"]) == hit.order and hit.packed in (None, read_binary(raw, PACKED))


def read_binary(hit: Mapping[str, Any], field: str) -> bytes | None:
    """Decode a binary value: Elasticsearch uses standard base64, OpenSearch the URL-safe form without padding.

    One that is no base64 counts as missing, so its document as unsigned.
    """
    values = hit.get("fields", {}).get(field)
    try:
        return a2b_base64(f"{values[0]}==".replace("-", "+").replace("_", "/")) if values else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class RankedHits:
    """The hits of one response."""

    answer: Mapping[str, Any]  # as the server gave it
    hits: HitColumns  # its hits in rank order


def rank(target: Target, body: Mapping[str, Any], limit: int, *, ids: bool = False) -> RequestFlow[RankedHits]:
    """Search for a window of `limit` hits.

    Without a sort some more hits are asked for, so that equal scores are put in order here, unless even they all score
    as the last one: a hit that was left out might then precede one that was not.
    """
    size = body["size"]
    if ids:
        body = dsl.with_ids(body)
    if "sort" in body:
        return (yield from window(target, body))
    depth = min(limit, size + max(20, size // 10))
    ranking = yield from window(target, {**body, "size": depth})
    hits = ranking.hits
    if len(hits) < depth or hits.scores[-1] != hits.scores[size - 1]:
        return replace(ranking, hits=hits.sort()[:size])
    ranking = yield from window(target, dsl.with_full_order(body, size))
    return replace(ranking, hits=replace(ranking.hits, sorts=()).sort())


def window(target: Target, body: Mapping[str, Any]) -> RequestFlow[RankedHits]:
    """Search for packed signatures; repeat with ids if a hit has no signatures and therefore no id."""
    answer = yield target.search_packed(body)
    hits = read_hits(answer)
    if not hits.ids.complete:
        answer = yield target.search_packed(dsl.with_ids(body))
        hits = read_hits(answer)
    return RankedHits(answer, hits)


AT_ONCE = 200  # documents in a request: the long signatures of a book take some 100 KB


def long_values(target: Target, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
    """Read the long signatures of documents by (index, id); documents without any are omitted."""
    return read_long((yield from long_hits(target, ids)))


def long_hits(
    target: Target, ids: Sequence[tuple[str, str]], matching: Clause | None = None
) -> RequestFlow[list[Mapping[str, Any]]]:
    """Read documents with long signatures by (index, id), with their packed values and sequence numbers."""
    hits: list[Mapping[str, Any]] = []
    distinct_ids = list(dict.fromkeys(ids))
    for start in range(0, len(distinct_ids), AT_ONCE):
        body = dsl.long_signatures(distinct_ids[start : start + AT_ONCE], matching)
        hits += (yield target.search(body))["hits"]["hits"]
    return hits


def read_long(hits: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], bytes]:
    values = {(hit["_index"], hit["_id"]): read_binary(hit, LONG) for hit in hits}
    return {name: value for name, value in values.items() if value}


NEWEST: Clause = {"ibidem": {"max": {"field": "_seq_no"}}}  # aggregation of the highest sequence number among matches


def limit_writes(query: Clause, newest: int) -> Clause:
    """Restrict a query to the writes up to a sequence number."""
    return {"bool": {"must": [query], "filter": [{"range": {"_seq_no": {"lte": newest}}}]}}


def apply_view(body: Mapping[str, Any], view: ReadView) -> Clause:
    """Restrict a search to a view; without one, request the newest sequence number."""
    if view.newest is not None:
        return {**body, "query": limit_writes(body["query"], view.newest)}
    return {**body} if view.point else {**body, "aggs": NEWEST}


def next_view(view: ReadView, answer: Mapping[str, Any]) -> ReadView:
    if view.newest is not None:
        return view
    return ReadView(None if view.point else read_newest(answer), answer.get("pit_id", view.point))


def read_newest(answer: Mapping[str, Any]) -> int:
    """Read the result of the aggregation; -1 if nothing matched, or no index was searched."""
    value = answer["aggregations"]["ibidem"]["value"] if "aggregations" in answer else None
    return -1 if value is None else int(value)


PACKED_AT_ONCE = 500
# Index, id and routing of a document, sequence number and primary term of its state.
State = tuple[str, str, str, int, int]


def fill_packed(
    documents: Sequence[SourceDocument], search: Callable[[dsl.Clause], Any], refresh: Callable[[], None]
) -> list[SourceDocument]:
    """Fill in the packed values of signed documents that are missing in `_source`, as in older indexes.

    A document that another writer changes at the same time stays without: it counts as unsigned, and is signed again.
    """
    incomplete = [each for each in documents if each.schema and not each.packed]
    packed_by_state: dict[State, bytes] = {}
    for turn in range(2):
        missing = [each for each in incomplete if _state(each) not in packed_by_state]
        if missing and turn:
            refresh()
        for start in range(0, len(missing), PACKED_AT_ONCE):
            packed_by_state |= _read(missing[start : start + PACKED_AT_ONCE], search)
    return [
        each if each.packed else dataclasses.replace(each, packed=packed_by_state.get(_state(each), b""))
        for each in documents
    ]


def _read(documents: Sequence[SourceDocument], search: Callable[[dsl.Clause], Any]) -> dict[State, bytes]:
    names = [(each.name.index, each.name.id) for each in documents]
    body = {
        **dsl.fetch_by_name(names),
        "_source": False,
        "docvalue_fields": [dsl.PACKED],
        "seq_no_primary_term": True,
    }
    return {_hit_state(hit): read_binary(hit, dsl.PACKED) or b"" for hit in search(body)["hits"]["hits"]}


def _state(document: SourceDocument) -> State:
    name = document.name
    return name.index, name.id, name.routing, *document.state


def _hit_state(hit: Mapping[str, Any]) -> State:
    return hit["_index"], hit["_id"], hit.get("_routing", ""), hit["_seq_no"], hit["_primary_term"]
