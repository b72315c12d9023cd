"""Known defects, each put into the code under simulation: one that no schedule notices is one of the simulation."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from ibidem_engines.cluster import write as writing
from ibidem_engines.engine import Ledger
from ibidem_engines.group_checkpoint import Checkpoint
from ibidem_engines.stored_groups import StoredGroups
from ibidem_workers import tasks
from ibidem_workers.backfill import batch, record_copy, replace
from ibidem_workers.brokers import lease
from ibidem_workers.brokers.files import FileQueue
from ibidem_workers.groups import follower, lookup_match, settle
from simulation.memory_engine import MemoryLedgers, MemoryTarget
from simulation.schedules import ANY, Focus


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def _settles_too_far(self: Checkpoint, part: object, upto: int, real: Any = Checkpoint.settle) -> None:
    real(self, part, upto + 1)


def _acknowledges_first(self: FileQueue, real: Any = FileQueue.get, **how: Any) -> object:
    entry = real(self, **how)
    if entry is not None:
        self.ack(entry)
    return entry


def _inherits_once(store: StoredGroups, real: Any = follower.inherit) -> bool:
    real(store)
    return True


def _puts_over(self: MemoryLedgers, ledger: Ledger, entries: Mapping[str, Any], _: object) -> list[str]:
    self.put(ledger, entries)
    return []


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect, and the schedules that are to notice it.

    Args:
        put: Puts it into the code.
        focus: What the schedules hold.
    """

    put: Callable[[], AbstractContextManager[object]]
    focus: Focus = ANY


PLAIN = Focus(replaces=False, rewrites=False, deletions=0)
DELETION = Focus(replaces=False, rewrites=True, deletions=1)
KILLED_DELETION = Focus(replaces=False, rewrites=True, deletions=1, kills=3)
DELETIONS = Focus(rewrites=True, deletions=2)
REPLACEMENT = Focus(replaces=True, rewrites=True)
REPLACEMENT_DELETION = Focus(replaces=True, deletions=1)

DEFECTS: Mapping[str, Defect] = {
    "the portion in hand is not noted": Defect(lambda: patch.object(Checkpoint, "plan", _nothing)),
    "the checkpoint runs ahead": Defect(lambda: patch.object(Checkpoint, "settle", _settles_too_far)),
    "the lease of a message holds no one off": Defect(
        lambda: patch.object(lease, "has_lapsed", lambda *_: True), PLAIN
    ),
    "a message is acknowledged before it is worked on": Defect(
        lambda: patch.object(FileQueue, "get", _acknowledges_first)
    ),
    "a tombstone is not read": Defect(lambda: patch.object(MemoryTarget, "graves", lambda *_: {}), DELETION),
    "a tombstone is not looked for once more": Defect(
        lambda: patch.object(writing, "_check_tombstones", _nothing), DELETION
    ),
    "what was written before a tombstone stays": Defect(
        lambda: patch.object(writing, "_is_buried", lambda *_: False), KILLED_DELETION
    ),
    "an older tombstone replaces a newer": Defect(
        lambda: patch.object(MemoryLedgers, "put_onto", _puts_over), DELETIONS
    ),
    "the account of a batch is not noted": Defect(lambda: patch.object(tasks, "_note", _nothing)),
    "what an earlier try wrote is not its own": Defect(
        lambda: patch.object(tasks, "_own_outcome", lambda outcome, _: outcome)
    ),
    "late writes are not carried over": Defect(
        lambda: patch.object(replace._Replacing, "_follow", _nothing), REPLACEMENT
    ),
    "deletions are not carried over": Defect(
        lambda: patch.object(replace._Replacing, "_prune", _nothing), REPLACEMENT_DELETION
    ),
    "records are copied once": Defect(
        lambda: patch.object(replace.RecordCopy, "copy_changes", _nothing), REPLACEMENT_DELETION
    ),
    "late copies are not judged by their versions": Defect(
        lambda: patch.object(batch, "_delete_late", lambda *late: late[2]), REPLACEMENT
    ),
    "a tombstone carried over deletes nothing": Defect(
        lambda: patch.object(record_copy, "read_entries", lambda *_: ()), REPLACEMENT_DELETION
    ),
    "an heir that has changed is forgotten": Defect(
        lambda: patch.object(follower, "inherit", _inherits_once), DELETION
    ),
    "followers of a lead are forgotten": Defect(lambda: patch.object(settle.Settler, "_successions", lambda *_: [])),
    "settled leads are not looked up": Defect(
        lambda: patch.object(lookup_match.LookUpMatch, "_find", lambda *_, **__: [])
    ),
}
