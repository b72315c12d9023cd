"""The writes of a shard by their sequence numbers: which are done, and which documents come from them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.dsl import Clause, by_id
from ibidem_engines.holding import Marks, Name, Part, Stretch
from ibidem_engines.target import WHOLE, in_path
from ibidem_engines.wire import Cluster
from ibidem_engines.writing import order_of

NONE = 0
"""Number before the first write: sequence numbers are counted from one here, as `Outcome.order` is."""

State = tuple[Name, tuple[int, int]]
"""Where a document stands, and the sequence number and primary term of its last write."""


def newest(cluster: Cluster, parts: Sequence[Part], since: Marks | None = None) -> dict[Part, int]:
    """Tell for each part up to which number its writes are done, once these can all be read.

    A search may find a write while one with a lower number is still under way; up to the global checkpoint none is.
    """
    indices = in_path(",".join({part.index: None for part in parts}))
    told = cluster.ask("GET", f"/{indices}/_stats", level="shards", filter_path="indices.*.shards")["indices"]
    done = {
        Part(index, int(number)): order_of(int(copy["seq_no"]["global_checkpoint"]))
        for index, each in told.items()
        for number, copies in each["shards"].items()
        for copy in copies
        if copy["routing"]["primary"]
    }
    numbers = {part: done.get(part, NONE) for part in parts}
    if numbers != since:
        cluster.ask("POST", f"/{indices}/_refresh")
    return numbers


def count(cluster: Cluster, stretch: Stretch) -> int:
    """Count the documents that come from the writes of a stretch."""
    path = f"/{in_path(stretch.part.index)}/_count"
    told = cluster.ask("POST", path, {"query": _within(stretch)}, preference=f"_shards:{stretch.part.shard}")
    return int(told["count"])


def states(cluster: Cluster, stretch: Stretch, size: int, among: Sequence[str] | None = None) -> list[State]:
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


def _within(stretch: Stretch) -> Clause:
    return {"bool": {"filter": [{"range": {"_seq_no": {"gte": stretch.after, "lt": stretch.upto}}}]}}
