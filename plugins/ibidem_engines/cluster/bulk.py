"""Bulk requests, and the sequence numbers and versions on which conditional writes depend.

Busy actions are retried, oversized requests are split, each action has an outcome.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import BULK, ClusterClient, Failure, build_failure, find_fault, to_engine_error
from ibidem_engines.cluster.dsl import Clause, ids_query
from ibidem_engines.cluster.index import Layout, refresh_index
from ibidem_engines.cluster.source import led_group
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef
from ibidem_engines.requests import BUSY, WHOLE, quote_index


def write_order(place: int) -> int:
    """Count sequence numbers from one, since an order of zero says that nothing was written."""
    return place + 1


NONE = 0
"""Number before the first write: sequence numbers are counted from one here, as `Outcome.order` is."""

State = tuple[Name, tuple[int, int]]
"""Where a document is, and the sequence number and primary term of its last write."""


def newest(cluster: ClusterClient, parts: Sequence[ShardRef], marks: Marks | None = None) -> dict[ShardRef, int]:
    """Return for each part up to which number its writes are done, once these can all be read.

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
    """Read the server's statistics of the primary shard of each part.

    Raises:
        Unavailable: One of them is not there.
    """
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
    """Name the shards of each index of a layout."""
    return [ShardRef(index, shard) for index, number in layout.shard_counts.items() for shard in range(number)]


def identities(cluster: ClusterClient, layout: Layout) -> dict[str, str]:
    """Return the identity of each index of a layout: its UUID, and a hash of the history UUIDs of its shards.

    An index that is restored over a closed one keeps its UUID and goes back to an earlier sequence number, and so does
    a shard that is brought back from a stale copy; both begin another history.

    Raises:
        Unavailable: A primary shard is not there.
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
    """Return a number that changes with every deletion from these parts.

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


def count(cluster: ClusterClient, stretch: SeqNoRange) -> int:
    """Count the documents that come from the writes of a stretch."""
    path = f"/{quote_index(stretch.part.index)}/_search"
    body: Clause = {"query": _in_range(stretch), "size": 0, "track_total_hits": True}
    answer = cluster.ask("POST", path, body, preference=f"_shards:{stretch.part.shard}", **WHOLE)
    return int(answer["hits"]["total"]["value"])


def states(cluster: ClusterClient, stretch: SeqNoRange, size: int, ids: Sequence[str] | None = None) -> list[State]:
    """Name the first documents that come from the writes of a stretch, in the order of writing, each with its state.

    Args:
        cluster: The cluster.
        stretch: Writes.
        size: How many documents at most.
        ids: Only documents with these ids; None for all.
    """
    query = _in_range(stretch)
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
    path = f"/{quote_index(stretch.part.index)}/_search"
    answer = cluster.ask("POST", path, body, preference=f"_shards:{stretch.part.shard}", **WHOLE)
    return [_state(hit) for hit in answer["hits"]["hits"]]


def _state(hit: Mapping[str, Any]) -> State:
    name = Name(hit["_index"], hit["_id"], write_order(hit["_seq_no"]), hit.get("_routing", ""))
    return name, (hit["_seq_no"], hit["_primary_term"])


def _names(parts: Sequence[ShardRef]) -> str:
    """Name the indexes of parts, each once."""
    return ",".join({part.index: None for part in parts})


def _in_range(stretch: SeqNoRange) -> Clause:
    return {"bool": {"filter": [{"range": {"_seq_no": {"gte": stretch.after, "lt": stretch.upto}}}]}}


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A document as far as a write needs it.

    Args:
        version: Its version; None when ibidem never wrote it.
        digest: Of its record.
        origin: Where it was read; empty when that is not known.
        state: Sequence number and primary term.
        index: The index that holds it.
        group: Name of the group that it leads; empty where it leads none.
        others: Other indexes that hold a document with its id.
    """

    version: int | None
    digest: str
    state: tuple[int, int]
    origin: str = ""
    index: str = ""
    group: str = ""
    others: tuple[str, ...] = ()


def read_versions(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the present state of these ids, visible to searches or not.

    Args:
        cluster: The cluster.
        indices: The indexes that may hold them; the first one that does is read.
        ids: The ids.
    """
    stored_versions: dict[str, StoredVersion] = {}
    parts = "ibidem.version,ibidem.record,ibidem.origin,ibidem.group,ibidem.lead"
    for each in get_many(cluster, indices, ids, parts):
        known = stored_versions.setdefault(each["_id"], _standing(each))
        if known.index != each["_index"]:
            stored_versions[each["_id"]] = replace(known, others=(*known.others, each["_index"]))
    return stored_versions


def get_many(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str], parts: str) -> list[Mapping[str, Any]]:
    """Read parts of documents by id, index by index; missing documents are left out."""
    found: list[Mapping[str, Any]] = []
    for index in indices if ids else ():
        answer = cluster.ask("POST", f"/{quote_index(index)}/_mget", {"ids": list(ids)}, _source_includes=parts)
        check_each(answer["docs"], cluster.label)
        found += [each for each in answer["docs"] if each.get("found")]
    return found


def check_each(docs: Iterable[Mapping[str, Any]], place: str) -> None:
    """Refuse an answer in which documents are neither there nor missing.

    Args:
        docs: Of an answer to `_mget`.
        place: The cluster's address without secrets.
    """
    for each in docs:
        if "error" in each:
            raise to_engine_error(build_failure(503, each), place)


def _standing(document: Mapping[str, Any]) -> StoredVersion:
    own_fields = document.get("_source", {}).get("ibidem", {})
    state = document["_seq_no"], document["_primary_term"]
    return StoredVersion(
        own_fields.get("version"),
        own_fields.get("record", ""),
        state,
        own_fields.get("origin", ""),
        document["_index"],
        led_group(own_fields),
    )


MOST_BYTES = 8 << 20
MOST_ACTIONS = 2_000
TOO_LARGE = 413
CONFLICT = 409
MISSING = 404


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a bulk request.

    Args:
        verb: `create`, `index`, `update` or `delete`.
        index: The index, or an alias that writes into one.
        id: The document's id.
        body: The line that follows, as JSON; None for a deletion.
        state: Sequence number and primary term of the state that it acts on; another state is a conflict.
        routing: Value that chooses the document's shard instead of its id; empty for the id.
        version: The engine's own version that the document is to have; an older one than what is stored is a conflict.
        skips_pipeline: Whether the index's default pipeline is passed by.
    """

    verb: str
    index: str
    id: str
    body: bytes | None = None
    state: tuple[int, int] | None = None
    routing: str = ""
    version: int | None = None
    skips_pipeline: bool = False

    @property
    def lines(self) -> list[bytes]:
        """The one or two lines of the request."""
        head: dict[str, object] = {"_index": self.index, "_id": self.id}
        if self.state:
            head |= {"if_seq_no": self.state[0], "if_primary_term": self.state[1]}
        if self.routing:
            head["routing"] = self.routing
        if self.version is not None:
            head |= {"version": self.version, "version_type": "external_gte"}
        if self.skips_pipeline:
            head["pipeline"] = "_none"
        header = orjson.dumps({self.verb: head})
        return [header] if self.body is None else [header, self.body]


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """The outcome of one action.

    Args:
        status: HTTP status of the action: 200, 201, 400, 404 (nothing there to delete), 409 (another state).
        place: Sequence number of the write; -1 when nothing was written.
        reason: Why it was refused, in the server's words.
        term: Primary term of the write.
    """

    status: int
    place: int = -1
    reason: str = ""
    term: int = 0


def run(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
    """Do actions, in requests of some megabytes.

    Returns:
        What became of each, in the same order.

    Raises:
        EngineError: The server is away, stays busy, or takes no writes; some actions may have been done.
    """
    return [outcome for part in _parts(actions) for outcome in _run_part(cluster, part)]


def _parts(actions: Sequence[Action]) -> Iterator[list[Action]]:
    """Cut actions into requests."""
    part: list[Action] = []
    size = 0
    for action in actions:
        length = len(action.body or b"")
        if part and (size + length > MOST_BYTES or len(part) == MOST_ACTIONS):
            yield part
            part, size = [], 0
        part.append(action)
        size += length
    if part:
        yield part


def _run_part(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
    """Do the actions of one request; actions that a busy server rejects are sent again."""
    outcomes: dict[int, ActionOutcome] = {}
    remaining = list(range(len(actions)))
    turn = 0
    while True:
        with cluster.throttle():
            items = _send(cluster, [actions[position] for position in remaining])
            if any(isinstance(item, Failure) and item.status == BUSY for item in items):
                cluster.throttle.reject()
        busy: list[int] = []
        for position, item in zip(remaining, items, strict=True):
            if isinstance(item, Failure):
                busy.append(position)
                response = item
            else:
                outcomes[position] = item
        if not busy:
            return [outcomes[position] for position in range(len(actions))]
        if turn == len(cluster.waits):
            raise to_engine_error(response, cluster.label)
        cluster.wait(turn)
        remaining, turn = busy, turn + 1


def _send(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome | Failure]:
    """Send one request; where it is too large for the server, in halves."""
    try:
        answer = cluster.ask_lines(BULK, (line for action in actions for line in action.lines))
    except Permanent as error:
        cause = error.__cause__
        if not (isinstance(cause, Failure) and cause.status == TOO_LARGE):
            raise
        if len(actions) == 1:
            return [
                ActionOutcome(TOO_LARGE, reason=f"{len(actions[0].body or b''):,} bytes are more than the server takes")
            ]
        half = len(actions) // 2
        return _send(cluster, actions[:half]) + _send(cluster, actions[half:])
    return [_item(next(iter(item.values())), cluster.label) for item in answer["items"]]


def _item(item: Mapping[str, Any], where: str) -> ActionOutcome | Failure:
    """Read what became of one action; a failure that may pass soon is handed back, one of the whole request raises."""
    status = int(item["status"])
    if "error" not in item:
        return ActionOutcome(status, int(item.get("_seq_no", -1)), term=int(item.get("_primary_term", 0)))
    failure = _failure(status, item)
    if failure.kind == "document_missing_exception":
        return ActionOutcome(CONFLICT, reason=failure.reason)
    if status == CONFLICT or (status == 400 and not _concerns_all(failure)):
        return ActionOutcome(status, reason=failure.reason)
    if find_fault(failure).soon:
        return failure
    raise to_engine_error(failure, where)


def _failure(status: int, item: Mapping[str, Any]) -> Failure:
    """Read an item's error; for a document that cannot be parsed, with the cause."""
    failure = build_failure(status, item)
    cause = item["error"].get("caused_by") if isinstance(item["error"], Mapping) else None
    reason = cause.get("reason") if isinstance(cause, Mapping) else None
    return Failure(status, failure.kind, f"{failure.reason}: {reason}" if reason else failure.reason)


def _concerns_all(failure: Failure) -> bool:
    """Return whether a refusal is one of the request and not of the document."""
    return failure.kind in {"index_not_found_exception", "index_closed_exception"}
