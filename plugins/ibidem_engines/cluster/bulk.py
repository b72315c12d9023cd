"""Bulk requests: busy actions are retried, oversized requests are split, each action has an outcome."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import BULK, ClusterClient, Failure, build_failure, find_fault, to_engine_error
from ibidem_engines.requests import BUSY
from ibidem_engines.stored_groups import Name

State = tuple[Name, tuple[int, int]]  # where a document is, and the sequence number and primary term of its last write


MAX_BYTES = 8 << 20
MAX_ACTIONS = 2_000
TOO_LARGE = 413
CONFLICT = 409
OF_THE_INDEX = frozenset(("index_not_found_exception", "index_closed_exception"))  # refusals of a whole request
MISSING = 404


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a bulk request."""

    verb: str  # `create`, `index`, `update` or `delete`
    index: str  # the index, or an alias that writes into one
    id: str  # the document's id
    body: bytes | None = None  # the line that follows, as JSON; None for a deletion
    # Sequence number and primary term of the state that it acts on; another state is a conflict.
    state: tuple[int, int] | None = None
    routing: str = ""  # value that chooses the document's shard instead of its id; empty for the id
    # The engine's own version that the document is to have; an older one than what is stored is a conflict.
    version: int | None = None
    skips_pipeline: bool = False  # whether the index's default pipeline is passed by

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
    """The outcome of one action."""

    status: int  # HTTP status of the action: 200, 201, 400, 404 (nothing there to delete), 409 (another state)
    place: int = -1  # sequence number of the write; -1 when nothing was written
    reason: str = ""  # why it was refused, in the server's words
    term: int = 0  # primary term of the write


def run(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
    """Run actions, in requests of some megabytes."""
    return [outcome for part in _parts(actions) for outcome in _run_part(cluster, part)]


def _parts(actions: Sequence[Action]) -> Iterator[list[Action]]:
    """Split actions into requests."""
    part: list[Action] = []
    size = 0
    for action in actions:
        length = len(action.body or b"")
        if part and (size + length > MAX_BYTES or len(part) == MAX_ACTIONS):
            yield part
            part, size = [], 0
        part.append(action)
        size += length
    if part:
        yield part


def _run_part(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
    """Run the actions of one request; actions that a busy server rejects are retried."""
    outcomes: dict[int, ActionOutcome] = {}
    remaining = list(range(len(actions)))
    turn = 0
    while True:
        with cluster.throttle():
            items = _send(cluster, [actions[position] for position in remaining])
            if any(isinstance(item, Failure) and item.status == BUSY for item in items):
                cluster.throttle.reject()
        busy_positions: list[int] = []
        for position, item in zip(remaining, items, strict=True):
            if isinstance(item, Failure):
                busy_positions.append(position)
                response = item
            else:
                outcomes[position] = item
        if not busy_positions:
            return [outcomes[position] for position in range(len(actions))]
        if turn == len(cluster.waits):
            raise to_engine_error(response, cluster.label)
        cluster.wait(turn)
        remaining, turn = busy_positions, turn + 1


def _send(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome | Failure]:
    """Send one request; if it is too large for the server, in halves."""
    try:
        answer = cluster.ask_lines(BULK, (line for action in actions for line in action.lines))
    except Permanent as error:
        cause = error.__cause__
        if not (isinstance(cause, Failure) and cause.status == TOO_LARGE):
            raise
        if len(actions) == 1:
            return [
                ActionOutcome(
                    TOO_LARGE, reason=f"{len(actions[0].body or b''):,} bytes are more than the server accepts"
                )
            ]
        half = len(actions) // 2
        return _send(cluster, actions[:half]) + _send(cluster, actions[half:])
    return [_item(next(iter(item.values())), cluster.label) for item in answer["items"]]


def _item(item: Mapping[str, Any], location: str) -> ActionOutcome | Failure:
    """Read the result of one action; a temporary failure is returned, an error of the whole request is raised."""
    status = int(item["status"])
    if "error" not in item:
        return ActionOutcome(status, int(item.get("_seq_no", -1)), term=int(item.get("_primary_term", 0)))
    failure = _failure(status, item)
    if failure.kind == "document_missing_exception":
        return ActionOutcome(CONFLICT, reason=failure.reason)
    if status == CONFLICT or (status == 400 and failure.kind not in OF_THE_INDEX):
        return ActionOutcome(status, reason=failure.reason)
    if find_fault(failure).soon:
        return failure
    raise to_engine_error(failure, location)


def _failure(status: int, item: Mapping[str, Any]) -> Failure:
    """Read an item's error, with its cause if a document cannot be parsed."""
    failure = build_failure(status, item)
    cause = item["error"].get("caused_by") if isinstance(item["error"], Mapping) else None
    reason = cause.get("reason") if isinstance(cause, Mapping) else None
    return Failure(status, failure.kind, f"{failure.reason}: {reason}" if reason else failure.reason)
