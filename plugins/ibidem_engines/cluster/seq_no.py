"""Sequence numbers of a shard and what was written under them; versions of documents, for conditional writes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.dsl import Clause, by_id
from ibidem_engines.cluster.errors import Failure, failure_of, to_engine_error
from ibidem_engines.cluster.index import refresh_index
from ibidem_engines.cluster.requests import WHOLE, in_path
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef


def order_of(place: int) -> int:
    """Count sequence numbers from one, since an order of zero says that nothing was written."""
    return place + 1


NONE = 0
"""Number before the first write: sequence numbers are counted from one here, as `Outcome.order` is."""

State = tuple[Name, tuple[int, int]]
"""Where a document is, and the sequence number and primary term of its last write."""


def newest(cluster: ClusterClient, parts: Sequence[ShardRef], since: Marks | None = None) -> dict[ShardRef, int]:
    """Tell for each part up to which number its writes are done, once these can all be read.

    A search may find a write while one with a lower number is still under way; up to the global checkpoint none is.
    """
    stats = primaries(cluster, parts)
    numbers = {part: order_of(int(shard_stats["seq_no"]["global_checkpoint"])) for part, shard_stats in stats.items()}
    if numbers != since:
        refresh_index(cluster, _names(parts))
    return numbers


def primaries(cluster: ClusterClient, parts: Sequence[ShardRef]) -> dict[ShardRef, Mapping[str, Any]]:
    """Read what the server counts in the primary shard of each part.

    Raises:
        Unavailable: One of them is not there.
    """
    path = f"/{in_path(_names(parts))}/_stats/indexing"
    answer = cluster.ask("GET", path, level="shards", filter_path="indices.*.shards").get("indices", {})
    stats = {
        ShardRef(index, int(number)): copy
        for index, each in answer.items()
        for number, copies in each["shards"].items()
        for copy in copies
        if copy["routing"]["primary"] and "seq_no" in copy
    }
    for part in parts:
        if part not in stats:
            failure = Failure(503, "no_shard_available_action_exception", f"[{part.index}][{part.shard}]")
            raise to_engine_error(failure, cluster.shown) from failure
    return {part: stats[part] for part in parts}


def count(cluster: ClusterClient, stretch: SeqNoRange) -> int:
    """Count the documents that come from the writes of a stretch."""
    path = f"/{in_path(stretch.part.index)}/_search"
    body: Clause = {"query": _within(stretch), "size": 0, "track_total_hits": True}
    answer = cluster.ask("POST", path, body, preference=f"_shards:{stretch.part.shard}", **WHOLE)
    return int(answer["hits"]["total"]["value"])


def states(cluster: ClusterClient, stretch: SeqNoRange, size: int, among: Sequence[str] | None = None) -> list[State]:
    """Name the first documents that come from the writes of a stretch, in the order of writing, each with its state.

    Args:
        cluster: The cluster.
        stretch: Writes.
        size: How many documents at most.
        among: Only those with these ids; None for all.
    """
    query = _within(stretch)
    if among is not None:
        query["bool"]["filter"].append(by_id(among))
    body: Clause = {
        "query": query,
        "sort": [{"_seq_no": "asc"}],
        "size": size,
        "_source": False,
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }
    path = f"/{in_path(stretch.part.index)}/_search"
    answer = cluster.ask("POST", path, body, preference=f"_shards:{stretch.part.shard}", **WHOLE)
    return [_state(hit) for hit in answer["hits"]["hits"]]


def _state(hit: Mapping[str, Any]) -> State:
    name = Name(hit["_index"], hit["_id"], order_of(hit["_seq_no"]), hit.get("_routing", ""))
    return name, (hit["_seq_no"], hit["_primary_term"])


def _names(parts: Sequence[ShardRef]) -> str:
    """Name the indexes of parts, each once."""
    return ",".join({part.index: None for part in parts})


def _within(stretch: SeqNoRange) -> Clause:
    return {"bool": {"filter": [{"range": {"_seq_no": {"gte": stretch.after, "lt": stretch.upto}}}]}}


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A document as far as a write needs it.

    Args:
        version: Its version; None when ibidem never wrote it.
        digest: Of its record.
        origin: Where it was read; empty when that is not known.
        seen: Sequence number and primary term.
    """

    version: int | None
    digest: str
    seen: tuple[int, int]
    origin: str = ""


def read_versions(cluster: ClusterClient, index: str, ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the present state of these ids, visible to searches or not."""
    documents = get_many(cluster, index, ids, "ibidem.version,ibidem.record,ibidem.origin")
    return {id_: _standing(each) for id_, each in documents.items()}


def get_many(cluster: ClusterClient, index: str, ids: Sequence[str], parts: str) -> dict[str, Mapping[str, Any]]:
    """Read parts of documents by id; those that are not there are left out."""
    if not ids:
        return {}
    answer = cluster.ask("POST", f"/{index}/_mget", {"ids": list(ids)}, _source_includes=parts)
    check_each(answer["docs"], cluster.shown)
    return {each["_id"]: each for each in answer["docs"] if each.get("found")}


def check_each(docs: Iterable[Mapping[str, Any]], where: str) -> None:
    """Refuse an answer in which documents are neither there nor missing.

    Args:
        docs: Of an answer to `_mget`.
        where: The cluster's address without secrets.
    """
    for each in docs:
        if "error" in each:
            raise to_engine_error(failure_of(503, each), where)


def _standing(document: Mapping[str, Any]) -> StoredVersion:
    ours = document.get("_source", {}).get("ibidem", {})
    seen = document["_seq_no"], document["_primary_term"]
    return StoredVersion(ours.get("version"), ours.get("record", ""), seen, ours.get("origin", ""))
