"""Verification that documents were read completely: `_source` has every field of the index.

An answer shows what a server chooses to show. Whether a document has a field is known to its index too, so that the two
can be compared: for each document before it is written from what was read, and for whole indexes before and after.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import ClusterClient, build_failure, to_engine_error
from ibidem_engines.cluster.index import refresh_index
from ibidem_engines.cluster.source_storage import SourceStorage, read_storages
from ibidem_engines.engine import FieldCounts
from ibidem_engines.requests import WHOLE, Target, answer_to, quote_index

_State = tuple[str, int, int]  # id, sequence number and primary term of a document

MAX_SEARCHES = 100  # searches in one request

BAD_REQUEST = 400


def check_whole(
    cluster: ClusterClient, storage: SourceStorage, documents: Iterable[Mapping[str, Any]], max_hits: int
) -> None:
    """Compare the vectors of the documents that were read with those in the index.

    A document that was changed since it was read is not found in that state; no write onto the state can succeed.
    """
    remaining = {_state(document): document for document in documents}
    for turn in range(2):
        if not remaining:
            return
        if turn:
            refresh_index(cluster, storage.index)
        for hit in _search(cluster, storage, [state[0] for state in remaining], max_hits):
            document = remaining.pop(_state(hit), None)
            if document is not None:
                _check_document(storage, document, hit.get("matched_queries", ()))


def _search(
    cluster: ClusterClient, storage: SourceStorage, ids: Sequence[str], max_hits: int
) -> Sequence[Mapping[str, Any]]:
    """Search for documents by id; each hit lists its fields."""
    named = [{"bool": {"filter": [field.exists], "_name": field.name}} for field in storage.unsure]
    body = {
        "query": {"bool": {"filter": [{"ids": {"values": list(ids)}}], "should": named}},
        "size": max_hits,
        "_source": False,
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }
    answer = cluster.ask("POST", f"/{quote_index(storage.index)}/_search", body, **WHOLE)
    hits: Sequence[Mapping[str, Any]] = answer["hits"]["hits"]
    return hits


def _check_document(storage: SourceStorage, document: Mapping[str, Any], names: Iterable[str]) -> None:
    fields = {field.name: field for field in storage.unsure}
    for name in names:
        if not holds(document["_source"], fields[name].path.split(".")):
            raise Permanent(
                f"index {storage.index!r}: document {document['_id']!r} has a value in field {name!r} "
                f"({fields[name].type}) that the server leaves out of `_source`, so it would be lost by a write",
                "nothing of it was written; copy the index by the server's own _reindex",
            )


def holds(source: object, names: Sequence[str]) -> bool:
    """Return whether `_source` has a value at a path; names may contain dots, and lists several objects.

    >>> holds({"a.b": [{"c": 1}]}, ["a", "b", "c"]), holds({"a": {"b": None}}, ["a", "b"])
    (True, False)
    """
    if isinstance(source, list):
        return any(holds(each, names) for each in source)
    if not names:
        return source is not None
    if not isinstance(source, Mapping):
        return False
    return any(
        holds(source[name], names[end:])
        for end in range(1, len(names) + 1)
        if (name := ".".join(names[:end])) in source
    )


def _state(document: Mapping[str, Any]) -> _State:
    return document["_id"], document["_seq_no"], document["_primary_term"]


def count_fields(cluster: ClusterClient, index: str) -> FieldCounts:
    """Count the documents with each field that a response may leave out.

    A field that the server cannot ask for (`exists`) is not counted.
    """
    fields = {field.name: field for each in read_storages(cluster, index).values() for field in each.at_risk}
    if not fields:
        return FieldCounts()
    refresh_index(cluster, index)
    names = list(fields)
    total, *counts = _counts(cluster, index, [{"match_all": {}}, *(fields[name].exists for name in names)])
    by_field = {name: count for name, count in zip(names, counts, strict=True) if count is not None}
    return FieldCounts(total or 0, by_field)


def _counts(cluster: ClusterClient, index: str, queries: Sequence[Mapping[str, Any]]) -> list[int | None]:
    counts: list[int | None] = []
    for start in range(0, len(queries), MAX_SEARCHES):
        bodies = [
            {"query": query, "size": 0, "track_total_hits": True} for query in queries[start : start + MAX_SEARCHES]
        ]
        answer = cluster.hold(answer_to(Target(index).searches(bodies)))
        counts += [_count(each, cluster.label) for each in answer["responses"]]
    return counts


def _count(response: Mapping[str, Any], location: str) -> int | None:
    """Read the count of one search; None if the server refuses the request."""
    if "error" not in response:
        return int(response["hits"]["total"]["value"])
    failure = build_failure(int(response.get("status", 0)), response)
    if failure.status != BAD_REQUEST:
        raise to_engine_error(failure, location)
    return None
