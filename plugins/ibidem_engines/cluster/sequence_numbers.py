"""Sequence numbers of each shard: the newest ones, and the documents written in a range of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from ibidem_engines.cluster.bulk import State
from ibidem_engines.cluster.client import ClusterClient, Failure, to_engine_error
from ibidem_engines.cluster.dsl import Clause, ids_query
from ibidem_engines.cluster.index import Layout, refresh_index
from ibidem_engines.requests import WHOLE, quote_index
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef


def write_order(seq_no: int) -> int:
    """Return a sequence number counted from one; zero means that nothing was written."""
    return seq_no + 1


NONE = 0  # number before the first write: sequence numbers are counted from one here, as `Outcome.order` is


def newest(cluster: ClusterClient, parts: Sequence[ShardRef], marks: Marks | None = None) -> dict[ShardRef, int]:
    """Return for each part the number up to which all writes are complete and visible.

    A search may find a write while one with a lower number is still under way; up to the global checkpoint none is.
    """
    stats = primaries(cluster, parts)
    numbers = {
        part: write_order(int(shard_stats["seq_no"]["global_checkpoint"])) for part, shard_stats in stats.items()
    }
    if numbers != marks:
        refresh_index(cluster, _names(parts))
    return numbers


def primaries(cluster: ClusterClient, parts: Sequence[ShardRef]) -> dict[ShardRef, Mapping[str, Any]]:
    """Read the statistics of the primary shard of each part."""
    path = f"/{quote_index(_names(parts))}/_stats/indexing"
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
            raise to_engine_error(failure, cluster.label) from failure
    return {part: stats[part] for part in parts}


def shards(layout: Layout) -> list[ShardRef]:
    """Return the shards of each index of a layout."""
    return [ShardRef(index, shard) for index, number in layout.shard_counts.items() for shard in range(number)]


def identities(cluster: ClusterClient, layout: Layout) -> dict[str, str]:
    """Return the identity of each index of a layout: its UUID, and a hash of the history UUIDs of its shards.

    An index that is restored over a closed one keeps its UUID and goes back to an earlier sequence number, and so does
    a shard that is brought back from a stale copy; both begin another history.
    """
    parts = shards(layout)
    histories: dict[str, list[str]] = {index: [] for index in layout.indices}
    for part, shard_stats in (primaries(cluster, parts) if parts else {}).items():
        histories[part.index].append(shard_stats["commit"]["user_data"].get("history_uuid", ""))
    return {
        index: f"{layout.uuids[index]}/{xxh3_64_hexdigest(' '.join(uuids).encode())}"
        for index, uuids in histories.items()
    }


def deletions(cluster: ClusterClient, parts: Sequence[ShardRef]) -> int:
    """Return a number that changes with every deletion in these parts.

    A shard's count of deletions is that of its copy in memory: it starts at 0 again when the node restarts, another
    copy becomes the primary, or the index is closed and opened. The start of the copy's recovery tells these apart.
    """
    counts = {
        str(part): shard_stats["indexing"]["delete_total"] for part, shard_stats in primaries(cluster, parts).items()
    }
    path = f"/{quote_index(_names(parts))}/_recovery"
    answer = cluster.ask("GET", path, filter_path="*.shards.id,*.shards.primary,*.shards.start_time_in_millis")
    starts = sorted(
        (index, shard["id"], shard["start_time_in_millis"])
        for index, each in answer.items()
        for shard in each["shards"]
        if shard["primary"]
    )
    return xxh3_64_intdigest(orjson.dumps([counts, starts], option=orjson.OPT_SORT_KEYS)) >> 1


def count(cluster: ClusterClient, seq_range: SeqNoRange) -> int:
    """Count the documents written in a range of sequence numbers."""
    path = f"/{quote_index(seq_range.part.index)}/_search"
    body: Clause = {"query": _in_range(seq_range), "size": 0, "track_total_hits": True}
    answer = cluster.ask("POST", path, body, preference=f"_shards:{seq_range.part.shard}", **WHOLE)
    return int(answer["hits"]["total"]["value"])


def states(cluster: ClusterClient, seq_range: SeqNoRange, size: int, ids: Sequence[str] | None = None) -> list[State]:
    """Return the first documents written in a range of sequence numbers, in order, with their versions."""
    query = _in_range(seq_range)
    if ids is not None:
        query["bool"]["filter"].append(ids_query(ids))
    body: Clause = {
        "query": query,
        "sort": [{"_seq_no": "asc"}],
        "size": size,
        "_source": False,
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }
    path = f"/{quote_index(seq_range.part.index)}/_search"
    answer = cluster.ask("POST", path, body, preference=f"_shards:{seq_range.part.shard}", **WHOLE)
    return [_state(hit) for hit in answer["hits"]["hits"]]


def _state(hit: Mapping[str, Any]) -> State:
    name = Name(hit["_index"], hit["_id"], write_order(hit["_seq_no"]), hit.get("_routing", ""))
    return name, (hit["_seq_no"], hit["_primary_term"])


def _names(parts: Sequence[ShardRef]) -> str:
    """Return the distinct index names of parts."""
    return ",".join({part.index: None for part in parts})


def _in_range(seq_range: SeqNoRange) -> Clause:
    return {"bool": {"filter": [{"range": {"_seq_no": {"gte": seq_range.after, "lt": seq_range.end}}}]}}
