"""Known defects, each put into the code under simulation: one that no schedule notices is one of the simulation."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from ibidem_engines.cluster import write as writing
from ibidem_engines.ledger import GroupCheckpoint, load_overrides
from ibidem_engines.stored_groups import Ledger
from ibidem_workers import tasks
from ibidem_workers.backfill import batch, replace
from ibidem_workers.groups import settle
from ibidem_workers.groups.follower import Follower
from simulation.memory_engine import MemoryLedgers, MemoryTarget
from simulation.memory_queue import MemoryQueue, Messages


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def _is_not_fenced(_: object, __: object, checkpoint: GroupCheckpoint) -> bool:
    checkpoint.in_hand = []
    return True


def _settles_too_far(
    self: GroupCheckpoint, part: object, end: int, joined: object, real: Any = GroupCheckpoint.settle
) -> None:
    real(self, part, end + 1, joined)


def _acknowledges_first(self: MemoryQueue, real: Any = MemoryQueue.get) -> object:
    entry = real(self)
    if entry is not None:
        self.ack(entry)
    return entry


def _puts_over(self: MemoryLedgers, ledger: Ledger, entries: Mapping[str, Any], _: object) -> list[str]:
    self.put_records(ledger, entries)
    return []


def _reads_decisions_again(
    self: Follower, store: Any, checkpoint: Any, _: object, real: Any = Follower._follow_changes, **how: bool
) -> object:
    return real(store, checkpoint, load_overrides(self.engine), **how)


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect, and the schedules that are to notice it."""

    put: Callable[[], AbstractContextManager[object]]  # puts it into the code
    words: str  # what is said of the promise that it breaks
    focus: str = "ANY"  # name of what the schedules hold
    first: int = 0  # the first seed that is tried; more than 0 where earlier ones, which notice nothing, take long

    def is_told(self, broken: str) -> bool:
        """Return whether what broke is the promise that it breaks."""
        return self.words in broken.partition("\n")[0]


DEFECTS: Mapping[str, Defect] = {
    "the portion in hand is not noted": Defect(
        lambda: patch.object(Follower, "plan", lambda self, checkpoint, _: checkpoint.save(self.engine)),
        "documents were counted as joined",
        first=300,
    ),
    "what another process has in hand is not written again": Defect(
        lambda: patch.object(Follower, "_fence", _is_not_fenced), "a group has no lead", "HEIRS", 8000
    ),
    "who has lost the lease writes the checkpoint all the same": Defect(
        lambda: patch.object(GroupCheckpoint, "save", GroupCheckpoint.put),
        "documents were counted as joined",
        "PLAIN",
        200,
    ),
    "documents in hand are written again by who has not taken over": Defect(
        lambda: patch.object(GroupCheckpoint, "take_over", _nothing), "documents were counted as joined", "PLAIN", 4300
    ),
    "a join whose answer was lost is not looked for": Defect(
        lambda: patch.object(settle.Settler, "_find_written", lambda *_: []),
        "documents were counted as joined",
        "PLAIN",
    ),
    "the checkpoint runs ahead": Defect(
        lambda: patch.object(GroupCheckpoint, "settle", _settles_too_far),
        "lead groups of their own, and are duplicates",
    ),
    "the lease of a message holds no one off": Defect(
        lambda: patch.object(Messages, "has_lapsed", lambda *_: True), "count as indexed", "PLAIN"
    ),
    "a message is acknowledged before it is worked on": Defect(
        lambda: patch.object(MemoryQueue, "get", _acknowledges_first), "are accounted for"
    ),
    "a tombstone is not read": Defect(
        lambda: patch.object(MemoryTarget, "tombstones", lambda *_: {}), "is back", "DELETION"
    ),
    "a tombstone is not looked for once more": Defect(
        lambda: patch.object(writing, "_check_tombstones", _nothing), "is back", "DELETION"
    ),
    "what was written before a tombstone stays": Defect(
        lambda: patch.object(writing, "_action", lambda *its, act=writing._action: act(*its[:4], None)),
        "is back",
        "KILLED_DELETION",
    ),
    "an older tombstone replaces a newer": Defect(
        lambda: patch.object(MemoryLedgers, "put_onto", _puts_over), "is back", "DELETIONS", 300
    ),
    "a later version with the same text is taken for one's own": Defect(
        lambda: patch.object(writing, "_is_of", lambda entry, record: entry.digest == record.digest),
        "is lost",
        "SAME_TEXT",
        1100,
    ),
    "the account of a batch is not noted": Defect(lambda: patch.object(tasks, "_note", _nothing), "are accounted for"),
    "what an earlier try wrote is not its own": Defect(
        lambda: patch.object(tasks, "_own_outcome", lambda outcome, _: outcome), "count as indexed"
    ),
    "late writes are not carried over": Defect(
        lambda: patch.object(replace._Replacing, "_follow", _nothing), "is lost", "REPLACEMENT"
    ),
    "deletions are not carried over": Defect(
        lambda: patch.object(replace._Replacing, "_prune", _nothing), "is back", "REPLACEMENT_DELETION"
    ),
    "records are copied once": Defect(
        lambda: patch.object(replace.RecordCopy, "copy_changes", _nothing), "are accounted for", "REPLACEMENT_DELETION"
    ),
    "late copies are not judged by their versions": Defect(
        lambda: patch.object(batch, "delete_late_copies", lambda *late: late[3]), "is back", "REPLACEMENT", 450
    ),
    "a tombstone carried over deletes nothing": Defect(
        lambda: patch.object(replace, "read_entries", lambda *_: ()), "is back", "REPLACEMENT_DELETION", 150
    ),
    "a decision counts as followed though groups are settled without it": Defect(
        lambda: patch.object(Follower, "_follow_changes", _reads_decisions_again),
        "lead groups of their own, and are duplicates",
        "DECISIONS",
        6500,
    ),
    "followers of a lead are forgotten": Defect(
        lambda: patch.object(settle.Settler, "_successions", lambda *_: []), "a group has no lead"
    ),
    "settled leads are not looked up": Defect(
        lambda: patch.object(settle.Settler, "_find", lambda *_, **__: []),
        "lead groups of their own, and are duplicates",
    ),
}
