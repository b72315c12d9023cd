"""Progress of settling: one record next to the index, so that any process goes on where another stopped."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

import orjson

from ibidem_engines.engine import Engine
from ibidem_engines.records import parse_record
from ibidem_engines.reindex import Marks, ShardRef
from ibidem_ingest.pairs.policy import Policy

KEY = "groups/checkpoint"

POLICY = replace(Policy(), characters=None)
"""What groups are settled by unless other figures are asked for: look-ups by runs of characters, which only scanned
collections need, take SQLite several times as long as all others."""


@dataclass(slots=True)
class Pending:
    """A portion that was about to be written when the checkpoint was noted.

    Args:
        part: The part that it belongs to.
        after: Number of the last write before it.
        upto: Number of its last write.
        joined: How many of its documents join a lead, by level.
    """

    part: str
    after: int
    upto: int
    joined: dict[str, int]


@dataclass(slots=True)
class Checkpoint:
    """Progress of settling, and the policy that groups are settled by.

    Args:
        done: For each part the number of the last write that is settled.
        seen: For each part up to which number writes were looked at last.
        joined: How many documents have joined a lead so far, by level.
        pending: The portion in hand; None between two.
        deletions: What the engine counted when groups without a lead were last looked for.
        overrides: A hash of each manual decision that groups follow, by its key.
        policy: The figures that groups are settled by.
    """

    done: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    joined: dict[str, int] = field(default_factory=dict)
    pending: Pending | None = None
    deletions: int = 0
    overrides: dict[str, str] = field(default_factory=dict)
    policy: dict[str, object] = field(default_factory=lambda: as_record(POLICY))

    def after(self, part: ShardRef) -> int:
        """Return the number of the last settled write of a part."""
        return self.done.get(str(part), 0)

    def in_hand(self, part: ShardRef) -> Pending | None:
        """Return the portion that a process which ended had in hand next; None when there is none."""
        pending = self.pending
        return pending if pending and (pending.part, pending.after) == (str(part), self.after(part)) else None

    def plan(self, part: ShardRef, upto: int, joining: Mapping[str, int]) -> None:
        """Take a portion in hand; what a process that ended counted of it counts again instead."""
        if self.in_hand(part) is None:
            self.pending = Pending(str(part), self.after(part), upto, dict(joining))

    def settle(self, part: ShardRef, upto: int) -> None:
        """Take the portion in hand, if there is one, as settled, and all writes of a part up to a number."""
        if (pending := self.in_hand(part)) is not None:
            self.joined = dict(Counter(self.joined) + Counter(pending.joined))
            self.pending = None
        self.done[str(part)] = upto

    @classmethod
    def read(cls, engine: Engine) -> "Checkpoint":
        """Read what is noted next to an index; one at the beginning when there is nothing."""
        entry = engine.get_record("runs", KEY)
        return cls() if entry is None else parse_record(cls, entry)

    def save(self, engine: Engine) -> None:
        """Keep it."""
        engine.put_records("runs", {KEY: asdict(self)})


def has_settled(engine: Engine, goal: Marks) -> bool:
    """Return whether the writes up to some numbers are settled.

    Of the record nothing else is read: what checks a whole one takes a process as long to make as some hundred
    documents to settle, and most of those that ask only wait.

    Args:
        engine: The index.
        goal: The number for each part.
    """
    done = (engine.get_record("runs", KEY) or {}).get("done")
    numbers = done if isinstance(done, dict) else {}
    reached = {part: numbers.get(str(part), 0) for part in goal}
    return all(isinstance(reached[part], int) and reached[part] >= number for part, number in goal.items())


def joined(engine: Engine) -> dict[str, int]:
    """Tell how many documents have joined a group so far, by level."""
    return Checkpoint.read(engine).joined


def by_part(marks: Marks) -> dict[str, int]:
    """Write the numbers of parts as they are noted."""
    return {str(part): number for part, number in marks.items()}


def parsed(marks: Mapping[str, int]) -> dict[ShardRef, int]:
    """Read the numbers of parts."""
    return {ShardRef.parse(part): number for part, number in marks.items()}


def as_record(policy: Policy) -> dict[str, object]:
    """Write a policy as it is noted."""
    return asdict(policy)


def policy_of(record: Mapping[str, object]) -> Policy:
    """Read a policy; figures that are not in the record are the default ones.

    >>> policy_of(as_record(Policy(window_days=42))) == Policy(window_days=42)
    True
    """
    return _read_policy(orjson.dumps(record))


@lru_cache(maxsize=16)
def _read_policy(record: bytes) -> Policy:
    """Read a policy; each search by stored groups does, and an index has one."""
    return parse_record(Policy, orjson.loads(record))
