"""Service of stored groups: follows the writes to an index, and settles its groups portion after portion.

Any number of processes may follow the same index. Each settles a portion against leads that no longer change, so all
of them write the same, and a write fails when its document has changed since it was read.

One process at a time settles: the one that holds the lease. Two that settle at the same time do no harm, they only do
the work twice. So two may take the lease in the same moment: the last one holds it, and the other one stops when it
renews the lease.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import cast
from uuid import uuid4

import orjson
from xxhash import xxh3_64_hexdigest

from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.reindex import SeqNoRange, ShardRef
from ibidem_engines.stored_groups import Assignment, GroupedDocument, StoredGroups, WithGroups
from ibidem_workers.brokers.lease import has_exited, this_process
from ibidem_workers.groups.checkpoint import (
    Checkpoint,
    has_settled,
    marks_as_record,
    parse_marks,
    parse_policy,
    policy_as_record,
)
from ibidem_workers.groups.portion import Name, Overrides
from ibidem_workers.groups.settle import Settler, start_group

SIZE = 1_000
"""Documents in a portion."""

REFRESH = 20
"""Portions after which searches are brought up to date."""

ROUNDS = 10
"""Looks for new writes before the rest is left to the next follower: a writer that never stops would keep this one."""

Report = Callable[[int], None]
"""Called with the number of documents that were looked at."""


def group_store(engine: Engine) -> StoredGroups:
    """Return the store of an index's groups."""
    return cast("WithGroups", engine).groups()


@dataclass(slots=True)
class Follower:
    """Settles the groups of one index.

    Args:
        engine: The index; its ledger keeps the checkpoint.
        report: Called with the progress.
        size: Documents in a portion.
        stop: Returns whether to stop before the next portion.
    """

    engine: Engine
    report: Report = lambda _: None
    size: int = SIZE
    stop: Callable[[], bool] = lambda: False

    def catch_up(self) -> Checkpoint:
        """Settle all documents; returns when nothing is new, after so many rounds, or when it is stopped."""
        for _ in range(ROUNDS):
            if not self.step() or self.stop():
                break
        return Checkpoint.read(self.engine)

    def step(self) -> bool:
        """Settle the documents that are new since the last time; returns whether there were any."""
        checkpoint = Checkpoint.read(self.engine)  # before the refresh: searches then see all joins up to it
        store = group_store(self.engine)
        overrides = Overrides.read(self.engine)
        has_changes = self._follow_changes(store, checkpoint)
        upto = store.newest()
        if not has_changes and marks_as_record(upto) == checkpoint.seen:
            return False
        if any(checkpoint.settled_write(part) > number for part, number in upto.items()):
            checkpoint.done = {}  # another index was made under this name
        settler = Settler(store, parse_policy(checkpoint.policy), overrides)
        for part in upto:
            self._settle_part(settler, checkpoint, part, upto[part])
        if all(checkpoint.settled_write(part) >= number for part, number in upto.items()):
            checkpoint.seen = marks_as_record(upto)
        checkpoint.save(self.engine)
        return True

    def _settle_part(self, settler: Settler, checkpoint: Checkpoint, part: ShardRef, upto: int) -> None:
        """Settle one part up to a number."""
        portions = 0
        while not self.stop() and ((pending := checkpoint.in_hand(part)) or checkpoint.settled_write(part) < upto):
            stretch = SeqNoRange(part, checkpoint.settled_write(part), pending.upto if pending else upto)
            portion = settler.store.leads(stretch, self.size)
            last = portion[-1].name.order if len(portion) == self.size and not pending else stretch.upto
            if portion:
                self._settle(settler, checkpoint, part, portion, last)
            checkpoint.settle(part, last)
            self.report(len(portion))
            portions += 1
            if portions % REFRESH == 0:
                checkpoint.save(self.engine)
                settler.refresh()

    def _settle(
        self, settler: Settler, checkpoint: Checkpoint, part: ShardRef, portion: Sequence[GroupedDocument], last: int
    ) -> None:
        """Settle a portion; the checkpoint is noted before anything is written."""

        def plan(joining: Counter[str]) -> None:
            checkpoint.plan(part, last, joining)
            checkpoint.save(self.engine)

        settler.settle(portion, {each: checkpoint.settled_write(each) for each in settler.store.parts()}, plan)

    def _follow_changes(self, store: StoredGroups, checkpoint: Checkpoint) -> bool:
        """Follow deletions and manual decisions, which no write of a document shows."""
        has_changes = False
        deletions = store.deletions()
        if deletions != checkpoint.deletions:
            inherit(store)
            checkpoint.deletions, has_changes = deletions, True
        overrides = override_hashes(self.engine)
        if overrides != checkpoint.overrides:
            keys = {key for key, _ in overrides.items() ^ checkpoint.overrides.items()}
            revisit(store, [(index, name) for key in keys for index, name in orjson.loads(key)])
            checkpoint.overrides, has_changes = overrides, True
        return has_changes


def override_hashes(engine: Engine) -> dict[str, str]:
    """Hash each manual decision, by its key."""
    return {key: xxh3_64_hexdigest(orjson.dumps(entry)) for key, entry in engine.get_records("overrides")}


def inherit(store: StoredGroups) -> None:
    """Make the first remaining member the lead of each group whose lead was deleted.

    Which members duplicate the new lead is decided when it is settled.
    """
    store.newest()
    for sizes in store.sizes():
        lead_groups = {each.group for members in store.members(list(sizes), lead=True) for each in members}
        heirs = [heir for group in sizes if group not in lead_groups for heir in first_member(store, group)]
        if heirs:
            store.assign([Assignment(each, each.group, lead=True) for each in heirs])


def first_member(store: StoredGroups, group: str) -> Iterator[GroupedDocument]:
    """Yield the first document of a group, if there is one."""
    for members in store.members([group]):
        yield members[0]
        return


def revisit(store: StoredGroups, names: list[Name]) -> None:
    """Let documents be settled again; one that follows a lead leaves its group first."""
    store.newest()
    documents = store.read(sorted(set(names)))
    changes = [Assignment(each, each.group, lead=True) if each.lead else start_group(each) for each in documents]
    if changes:
        store.assign(changes)


def regroup(
    engine: Engine,
    *,
    everything: bool = False,
    policy: Policy | None = None,
    report: Report = lambda _: None,
    size: int = SIZE,
) -> Checkpoint:
    """Settle all groups again: leads that are duplicates of each other are joined, followers are compared once more.

    Args:
        engine: The index.
        everything: Whether to begin again, with each document in a group of its own.
        policy: The policy to settle groups by from now on; None keeps the index's.
        report: Called with the progress.
        size: Documents in a portion.
    """
    store = group_store(engine)
    store.newest()
    if everything:
        for sizes in store.sizes():
            for members in store.members(list(sizes), lead=False):
                store.assign([start_group(each) for each in members])
    else:
        inherit(store)
    checkpoint = Checkpoint.read(engine)
    if policy is not None:
        checkpoint.policy = policy_as_record(policy)
    checkpoint.done, checkpoint.seen, checkpoint.pending = {}, {}, None
    if everything:
        checkpoint.joined = {}
    checkpoint.save(engine)
    return Follower(engine, report, size).catch_up()


KEY = "groups/lease"

SECONDS = 30.0
"""Seconds after which a lease lapses that is not renewed."""


@dataclass(slots=True)
class Lease:
    """Lease on the settling of an index, as one process sees it.

    Args:
        engine: The index.
        name: Name of this holder.
        is_lost: Whether another one took it after this one did.
    """

    engine: Engine
    name: str = field(default_factory=lambda: uuid4().hex)
    is_lost: bool = False
    _renewal: float = 0.0

    def is_taken(self) -> bool:
        """Return whether another process holds the lease and is, as far as is known, alive."""
        entry = self.engine.get_record("runs", KEY) or {}
        expiry, process = entry.get("until", 0.0), str(entry.get("process", ""))
        if entry.get("name", self.name) == self.name or not isinstance(expiry, int | float):
            return False
        return time.time() < expiry and not has_exited(process)

    def take(self) -> bool:
        """Take the lease, unless another process holds it, or takes it in the same moment and later."""
        if self.is_taken():
            return False
        self._note(time.time() + SECONDS)
        time.sleep(MOMENT)  # else each process that saw it free settles a portion before it sees who has the lease
        self.is_lost = self.is_taken()
        return not self.is_lost

    def renew(self) -> None:
        """Renew the lease, unless another process has taken it."""
        self.is_lost = self.is_lost or self.is_taken()
        if not self.is_lost and time.monotonic() - self._renewal > SECONDS / 4:
            self._note(time.time() + SECONDS)

    def give_back(self) -> None:
        """Release the lease, unless another process has it."""
        if not self.is_taken():
            self._note(0.0)

    def _note(self, expiry: float) -> None:
        self._renewal = time.monotonic()
        self.engine.put_records("runs", {KEY: {"name": self.name, "process": this_process(), "until": expiry}})


MOMENT = 0.05
"""Seconds after which every process that saw the lease free in the same moment has taken it too."""

PAUSE = 0.2
"""Seconds between two looks while another process settles."""


def settle(engine: Engine, seconds: float, report: Report = lambda _: None) -> None:
    """Settle the new documents of an index, unless another process does.

    Args:
        engine: The index.
        seconds: For how long at most.
        report: Called with the number of documents that were looked at.
    """
    lease, deadline = Lease(engine), time.monotonic() + seconds

    def ends() -> bool:
        lease.renew()  # before the first portion too: else each process that took it in the same moment settles one
        return lease.is_lost or time.monotonic() > deadline

    if lease.is_taken() or is_settled(engine):  # no refresh, which would slow down the one that settles
        return
    if lease.take():
        try:
            Follower(engine, report, stop=ends).catch_up()
        finally:
            lease.give_back()


def settle_all(engine: Engine, report: Report = lambda _: None) -> None:
    """Settle all documents written before the call, or wait until another process has; others may go on writing."""
    goal = group_store(engine).newest()
    settle(engine, inf, report)
    while not has_settled(engine, goal):
        settle(engine, inf, report)
        time.sleep(PAUSE)


def is_settled(engine: Engine) -> bool:
    """Return whether all documents are settled and all manual decisions followed."""
    checkpoint = Checkpoint.read(engine)
    marks = marks_as_record(group_store(engine).newest(parse_marks(checkpoint.seen)))
    return marks == checkpoint.seen and override_hashes(engine) == checkpoint.overrides
