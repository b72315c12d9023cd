"""Known defects, each put into the code under simulation: one that no schedule notices is one of the simulation."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from ibidem_engines.cluster import write as writing
from ibidem_engines.engine import Ledger
from ibidem_engines.group_checkpoint import Checkpoint
from ibidem_engines.stored_groups import StoredGroups
from ibidem_workers import tasks
from ibidem_workers.backfill import batch, record_copy, replace, run
from ibidem_workers.brokers import lease
from ibidem_workers.brokers.files import FileQueue
from ibidem_workers.groups import follower, lookup_match, settle
from simulation.memory_engine import MemoryLedgers, MemoryTarget


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def _settles_too_far(self: Checkpoint, part: object, upto: int, real: Any = Checkpoint.settle) -> None:
    real(self, part, upto + 1)


def _acknowledges_first(self: FileQueue, real: Any = FileQueue.get, **how: Any) -> object:
    entry = real(self, **how)
    if entry is not None:
        self.ack(entry)
    return entry


def _forgets_the_switch(self: run.Backfill, _: object, real: Any = run.Backfill._resume_pages) -> object:
    return real(self, None)


def _inherits_once(store: StoredGroups, real: Any = follower.inherit) -> bool:
    real(store)
    return True


def _puts_over(self: MemoryLedgers, ledger: Ledger, entries: Mapping[str, Any], _: object) -> list[str]:
    self.put(ledger, entries)
    return []


DEFECTS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "the portion in hand is not noted": lambda: patch.object(Checkpoint, "plan", _nothing),
    "the checkpoint runs ahead": lambda: patch.object(Checkpoint, "settle", _settles_too_far),
    "the lease of a message holds no one off": lambda: patch.object(lease, "has_lapsed", lambda *_: True),
    "a message is acknowledged before it is worked on": lambda: patch.object(FileQueue, "get", _acknowledges_first),
    "a tombstone is not read": lambda: patch.object(MemoryTarget, "graves", lambda *_: {}),
    "a tombstone is not looked for once more": lambda: patch.object(writing, "_check_tombstones", _nothing),
    "what was written before a tombstone stays": lambda: patch.object(writing, "_is_buried", lambda *_: False),
    "an older tombstone replaces a newer": lambda: patch.object(MemoryLedgers, "put_onto", _puts_over),
    "the account of a batch is not noted": lambda: patch.object(tasks, "_note", _nothing),
    "what an earlier try wrote is not its own": lambda: patch.object(tasks, "_own_outcome", lambda outcome, _: outcome),
    "late writes are not carried over": lambda: patch.object(replace._Replacing, "_follow", _nothing),
    "deletions are not carried over": lambda: patch.object(replace._Replacing, "_prune", _nothing),
    "records are copied once": lambda: patch.object(replace.RecordCopy, "copy_changes", _nothing),
    "late copies are not judged by their versions": lambda: patch.object(batch, "_settle_late", _nothing),
    "a tombstone carried over deletes nothing": lambda: patch.object(record_copy, "read_entries", lambda *_: ()),
    "a resumed page replaces what is newer": lambda: patch.object(run.Backfill, "_resume_pages", _forgets_the_switch),
    "an heir that has changed is forgotten": lambda: patch.object(follower, "inherit", _inherits_once),
    "followers of a lead are forgotten": lambda: patch.object(settle.Settler, "_successions", lambda *_: []),
    "settled leads are not looked up": lambda: patch.object(lookup_match.LookUpMatch, "_find", lambda *_, **__: []),
}
"""Each defect, as what puts it into the code."""

FOUND = {
    1195: "a batch that was sent again as single documents counted as unchanged what an earlier try had written",
    1471: "a write on its way to the first index came back after its deletion from the copy",
    1526: "a deletion from the first index, while the alias moved, left what came to the copy in between",
    2591: "a late copy of a newer version was left out since an older one had been written to the copy",
    2605: "a page that was resumed after the alias had moved was written over what was newer",
    4838: "a group stayed without a lead when its heir was written again at that moment",
}
"""Seeds that found something, and what it was."""
