"""Progress of settling: one record next to the index, so that any process can continue it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Literal

import orjson

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import parse_record
from ibidem_dedupe.collection import MIN_DOCUMENTS, CollectionFigures
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import check_entry
from ibidem_engines.stored_groups import Marks, RecordState, ShardRef, parse_marks
from ibidem_ingest.signatures.packed_columns import PackedColumns

KEY = "checkpoint"

# Default policy of stored groups: without look-ups by runs of characters, which only scanned collections need and which
# take SQLite several times as long as all others.
POLICY = replace(Policy(), characters=None)


class Conflict(Exception):
    """Another process has written the checkpoint since it was read."""


@dataclass(slots=True)
class GroupCheckpoint:
    """Progress of settling, and the policy of the groups."""

    done: dict[str, int] = field(default_factory=dict)  # for each part the number of the last write that is settled
    # For each part the number of the last write when the index was last followed.
    seen: dict[str, int] = field(default_factory=dict)
    joined: dict[str, int] = field(default_factory=dict)  # how many documents have joined a lead so far, by level
    # Index and id of the documents that were about to be written; a process that ended, or stands still, may have
    # written some of them, or write them yet.
    in_hand: list[tuple[str, str]] = field(default_factory=list)
    takeovers: int = 0  # how often a process has gone on where another had documents in hand
    deletions: int = 0  # the engine's count of deletions when groups without a lead were last looked for
    # A hash of each manual decision that groups follow, by its key.
    overrides: dict[str, str] = field(default_factory=dict)
    # The figures that groups are settled by.
    policy: dict[str, object] = field(default_factory=lambda: policy_as_record(POLICY))
    # Where these come from: the default, figures counted in the collection, or a command that named them.
    origin: Literal["default", "collection", "named"] = "default"
    # Whether all documents, and not the new ones alone, are still to be settled by these figures.
    everything: bool = False
    # The engine's own identity of each index when it was last followed.
    uuids: dict[str, str] = field(default_factory=dict)
    # The engine's state of the record that was read, which it is written in place of; None if there was none. It is no
    # part of the record.
    state: RecordState | None = field(default=None, compare=False)

    def follow_indices(self, parts: Iterable[ShardRef], uuids: Mapping[str, str]) -> bool:
        """Remove the progress of indexes that were deleted or created again; returns whether there were any."""
        known = {**uuids, **self.uuids}
        there = {str(part) for part in parts if known.get(part.index) == uuids.get(part.index)}
        gone = {*self.done, *self.seen} - there
        self.done = {part: number for part, number in self.done.items() if part in there}
        self.seen = {part: number for part, number in self.seen.items() if part in there}
        self.uuids = dict(uuids)
        return bool(gone)

    def choose_policy(self, columns: PackedColumns) -> Policy:
        """Return the policy for all documents: of the collection, unless it was named or too few can be counted.

        In clean text groups do without characters, as long as few documents are misread: see `POLICY`.
        """
        policy = parse_policy(self.policy)
        if self.origin == "named" or (figures := CollectionFigures.count(columns)).blocks < MIN_DOCUMENTS:
            return policy
        policy = figures.policy(policy if self.origin == "collection" else None)
        policy = policy if policy.terms else replace(policy, characters=None)
        self.policy, self.origin = policy_as_record(policy), "collection"
        return policy

    def settled_write(self, part: ShardRef) -> int:
        """Return the sequence number of the last settled write of a part."""
        return self.done.get(str(part), 0)

    def plan(self, names: Iterable[tuple[str, str]]) -> None:
        """Record the documents in progress, before any of them is written."""
        self.in_hand = list(names)

    def take_over(self, engine: Engine) -> None:
        """Take over the checkpoint, so that another process with documents in progress can no longer write it."""
        self.takeovers += 1
        self.save(engine)

    def settle(self, part: ShardRef, end: int, joins: Mapping[str, int]) -> None:
        """Mark all writes of a part up to a sequence number as settled."""
        self.joined = dict(Counter(self.joined) + Counter(joins))
        self.done[str(part)] = end
        self.in_hand = []

    @classmethod
    def read(cls, engine: Engine) -> "GroupCheckpoint":
        """Read the checkpoint of an index; a new one if there is none."""
        entry, state = engine.read_record("groups", KEY)
        checkpoint = cls() if entry is None else checkpoint_of(entry)
        checkpoint.state = state
        return checkpoint

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> "GroupCheckpoint":
        """Parse a stored checkpoint."""
        checkpoint = parse_record(cls, record)
        parse_policy(checkpoint.policy)
        parse_marks({**checkpoint.done, **checkpoint.seen})
        return checkpoint

    def save(self, engine: Engine) -> None:
        """Write the checkpoint next to the index, in place of the one that was read."""
        self.state = engine.replace_record("groups", KEY, self._as_record(), self.state)
        if self.state is None:
            raise Conflict

    def put(self, engine: Engine) -> None:
        """Write the checkpoint next to the index unconditionally; other processes that settle by it start again."""
        engine.put_records("groups", {KEY: self._as_record()})

    def _as_record(self) -> dict[str, object]:
        record = asdict(self)
        del record["state"]
        return record


def checkpoint_of(entry: object) -> GroupCheckpoint:
    """Parse a checkpoint; of a damaged one only the policy and its origin are kept: everything is settled again.

    >>> checkpoint_of({"done": "all", "policy": {"window_days": 42}}).policy["window_days"]
    42
    """
    try:
        return check_entry(entry, GroupCheckpoint.from_record)
    except DamagedRecord:
        kept = {name: entry[name] for name in ("policy", "origin") if name in entry} if isinstance(entry, dict) else {}
    try:
        return check_entry(kept, GroupCheckpoint.from_record)
    except DamagedRecord:
        return GroupCheckpoint()


def has_settled(engine: Engine, goal: Marks) -> bool:
    """Return whether the writes up to some sequence numbers are settled.

    Only these numbers of the record are read: to check the whole record takes a process as long as to settle some
    hundred documents, and most processes only wait.
    """
    entry = engine.get_record("groups", KEY)
    done = entry.get("done") if isinstance(entry, dict) else None
    numbers = done if isinstance(done, dict) else {}
    settled_numbers = {part: numbers.get(str(part), 0) for part in goal}
    return all(
        isinstance(settled_numbers[part], int) and settled_numbers[part] >= number for part, number in goal.items()
    )


def count_joined(engine: Engine) -> dict[str, int]:
    """Count the documents that have joined a group so far, by level."""
    return GroupCheckpoint.read(engine).joined


def policy_as_record(policy: Policy) -> dict[str, object]:
    """Return the stored form of a policy."""
    return asdict(policy)


def parse_policy(record: Mapping[str, object]) -> Policy:
    """Parse a policy; figures missing in the record are the default ones.

    >>> parse_policy(policy_as_record(Policy(window_days=42))) == Policy(window_days=42)
    True
    """
    return _read_policy(orjson.dumps(record))


@lru_cache(maxsize=16)
def _read_policy(record: bytes) -> Policy:
    """Parse a policy; cached, since each search by stored groups reads it."""
    return parse_record(Policy, orjson.loads(record))
