"""Follower of the writes to an index: settles the groups of new documents, portion by portion.

Any number of processes may follow the same index. Each settles a portion against leads that no longer change, and a
write fails when its document has changed since it was read. What a portion is about to write is noted in the
checkpoint, which only a process writes that has read what the last one wrote. Who goes on after a process that ended or
stands still writes that again first, so that nothing of it can come later.

Where few documents are new beside the index, the leads that they may join are looked up in the engine. Where many are
new, all leads are read once into columns. Both find the same joins.

Lease on settling an index, held by one process at a time. Two that settle at the same time do no harm: one of them
finds that the other has written the checkpoint, and its work was in vain. So two may take the lease in the same moment:
the last one holds it, and the other one stops when it renews the lease.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from math import inf
from typing import Protocol
from uuid import uuid4

import orjson

from ibidem_core.errors import EngineError, NoIndex, Unavailable
from ibidem_dedupe.collection import CollectionFigures
from ibidem_dedupe.overrides import DocumentRef, Override, Overrides
from ibidem_dedupe.policy import Policy
from ibidem_engines import ledger
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import Conflict, GroupCheckpoint
from ibidem_engines.stored_groups import (
    Assignment,
    Marks,
    SeqNoRange,
    StoredGroups,
    all_writes,
    marks_as_record,
    parse_marks,
)
from ibidem_ingest.distribution import hook
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_workers.backfill.batch import paginate
from ibidem_workers.executors import has_exited, this_process
from ibidem_workers.groups import settle as settling

# Settles all documents, as `settle_everything` does.
SettleEverything = Callable[["Follower", settling.Settler, GroupCheckpoint, Marks], None]

NAMES_AT_ONCE = 10_000  # documents that are named together once all are written


def choose_policy(checkpoint: GroupCheckpoint, columns: PackedColumns) -> Policy:
    """Return the policy of all documents of an index."""
    guarded = bool(columns.guard.any())
    return checkpoint.choose(lambda earlier: CollectionFigures.count(columns).rule(earlier), guarded=guarded)


def settle_everything(follower: "Follower", settler: settling.Settler, checkpoint: GroupCheckpoint, end: Marks) -> None:
    """Settle all documents again, as requested by `regroup`; after an interruption it starts again."""
    store = settler.store
    with settling.StoredColumns(store.counts().documents, follower.memory) as stored:
        regrouping = settling.Regrouping(stored, settler, end, partial(choose_policy, checkpoint), follower.tell)
        for seq_range in all_writes(end):
            for documents in settling.read_slices(store.documents, [seq_range]):
                regrouping.write(store, seq_range, documents, partial(follower.plan, checkpoint))
                follower.tell(len(documents))
        checkpoint.joined = dict(settling.count_joined(regrouping.grouping, regrouping.rules))
        for names in paginate(stored.names(), NAMES_AT_ONCE):
            follower.note(names)
    checkpoint.done = {str(part): number for part, number in end.items()}
    checkpoint.everything, checkpoint.in_hand = False, []


SIZE = 1_000  # documents in a portion whose leads are looked up

FACTOR = 5  # portion size factor when leads are in columns

MAX_PORTION = 10_000  # documents in a portion at most: a server reads no more at once

MIN_NEW = 200  # new documents from which on leads may be read into columns

# Leads that are read into columns in about the time of one look-up: an estimate; groups do not depend on it.
LEADS_PER_DOCUMENT = 50

HELD_BYTES = 500  # bytes of a document that are held beside its columns: its id, its group, the keys that it shares

MEMORY_PART = 4  # that part of the machine's memory may be held beside columns, or `memory` where that is more

REFRESH = 20  # portions after which searches are brought up to date

# Looks for new writes before the rest is left to the next follower: a writer that never stops would keep this one.
ROUNDS = 10

Report = Callable[[int], None]  # called with the number of documents that were looked at


class Places(Protocol):
    """Stores what depends on other documents of an index: the hook `places` of a side package."""

    def add(self, names: Sequence[DocumentRef]) -> None:
        """Record documents whose groups are settled."""

    def place(self) -> None:
        """Store the places of the recorded documents."""


@dataclass(slots=True)
class Follower:
    """Settles the groups of one index."""

    engine: Engine  # the index; its ledger keeps the checkpoint
    report: Report = lambda _: None  # called with the progress
    size: int = SIZE  # documents in a portion whose leads are looked up
    # Returns whether to stop before the next portion whose leads are looked up.
    stop: Callable[[], bool] = lambda: False
    # Returns whether another process settles now: all that was found and is not written is given up.
    is_lost: Callable[[], bool] = lambda: False
    memory: int = settling.MAX_BYTES  # bytes of columns that are held in memory; beyond them they are mapped files
    min_new: int = MIN_NEW  # new documents from which on columns may be faster than look-ups
    settle_everything: SettleEverything = settle_everything
    _places: Places | None = field(init=False)

    def __post_init__(self) -> None:
        """Create the places of a side package."""
        places = hook("places")
        self._places = places(self.engine, self.is_lost) if places is not None else None

    def catch_up(self) -> GroupCheckpoint:
        """Settle all documents; returns when none is new, after a number of rounds, or when stopped."""
        for _ in range(ROUNDS):
            if not self.step() or self.stop():
                break
        return GroupCheckpoint.read(self.engine)

    def step(self) -> bool:
        """Settle the documents written since the last step; returns whether there were or may be any."""
        store = self.engine.groups()
        try:
            return self._step(store)
        except Conflict:
            return True  # another process has settled meanwhile; the next step settles the rest
        except (NoIndex, Unavailable):
            now = self.engine.groups()
            if now.parts() == store.parts() and now.uuids() == store.uuids():
                raise
            return True  # one of several indexes was deleted; the next step settles the others

    def _step(self, store: StoredGroups) -> bool:
        checkpoint = GroupCheckpoint.read(self.engine)  # before the refresh: searches then see all joins up to it
        overrides = ledger.load_overrides(self.engine)  # only once: settling uses the decisions recorded as followed
        has_changes = checkpoint.follow_indices(store.parts(), store.uuids()) or bool(checkpoint.in_hand)
        if not self._fence(store, checkpoint):
            return True
        has_changes |= self._follow_changes(store, checkpoint, overrides, has_changes=has_changes)
        end = store.newest()
        if not has_changes and marks_as_record(end) == checkpoint.seen:
            return False
        if any(checkpoint.settled_write(part) > number for part, number in end.items()):
            checkpoint.done = {}  # another index was created under this name, and the engine has no identities
        settler = settling.Settler(store, settling.Rules(ledger.parse_policy(checkpoint.policy), Overrides(overrides)))
        count = sum(end.values())  # figures of the collection are counted with 200 writes, then with twice as many
        if checkpoint.origin == "default" and count >= max(noise.MIN_DOCUMENTS, 2 * checkpoint.counted):
            checkpoint.everything, checkpoint.counted = True, count
        if checkpoint.everything:
            self.settle_everything(self, settler, checkpoint, end)
        for part, number in end.items():
            self._settle_part(settler, checkpoint, SeqNoRange(part, checkpoint.settled_write(part), number))
        if self._places is not None:
            self._places.place()
        if all(checkpoint.settled_write(part) >= number for part, number in end.items()):
            checkpoint.seen = marks_as_record(end)
        checkpoint.save(self.engine)
        return True

    def tell(self, documents: int = 0) -> None:
        """Report progress, unless another process has taken the lease."""
        self._go_on()
        self.report(documents)

    def note(self, names: Sequence[DocumentRef]) -> None:
        """Tell a side package of documents whose groups are settled."""
        if self._places is not None:
            self._places.add(names)

    def _settle_part(self, settler: settling.Settler, checkpoint: GroupCheckpoint, new: SeqNoRange) -> None:
        """Settle the new documents of one part."""
        count = settler.store.count_leads(new) if new.end - new.after >= self.min_new and not self.stop() else 0
        leads = settler.store.counts().groups if count >= self.min_new else inf
        held = max(self.memory, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEMORY_PART)
        if leads - count <= LEADS_PER_DOCUMENT * count and leads * HELD_BYTES <= held:
            self._settle_by_columns(settler, checkpoint, new)
        else:
            self._settle_in_portions(settler, checkpoint, new, self.size, self.stop)

    def _settle_by_columns(self, settler: settling.Settler, checkpoint: GroupCheckpoint, new: SeqNoRange) -> None:
        """Settle new documents against the columns of all leads."""
        if settler.recent_changes:  # of another part: searches still show these as leads
            settler.refresh()
        settled = [SeqNoRange(part, 0, checkpoint.settled_write(part)) for part in settler.store.parts()]
        leads, size = partial(settler.store.documents, leads=True), min(FACTOR * self.size, MAX_PORTION)
        read = settling.keeping(leads)
        with settling.StoredColumns(sum(map(settler.store.count_leads, [*settled, new])), self.memory) as stored:
            slices = settling.read_slices(leads, settled), settling.read_slices(read, [new], size)
            match = settling.match_columns(stored, *slices, settler.rules, self._go_on)
            self._settle_in_portions(settler, checkpoint, new, size, self.is_lost, match, read)

    def _go_on(self) -> None:
        """Renew the lease; give up what is found and not written if another process has taken it."""
        if self.is_lost():
            raise Conflict

    def _settle_in_portions(  # noqa: PLR0913, PLR0917 - what is settled, how much at once and until when
        self,
        settler: settling.Settler,
        checkpoint: GroupCheckpoint,
        new: SeqNoRange,
        size: int,
        stop: Callable[[], bool],
        match: settling.Match | None = None,
        read: settling.Read | None = None,
    ) -> None:
        part, portions = new.part, 0
        while not stop() and (settled := checkpoint.settled_write(part)) < new.end:
            portion = (read or partial(settler.store.documents, leads=True))(SeqNoRange(part, settled, new.end), size)
            joins: Mapping[str, int] = {}
            if portion:
                marks = {each: checkpoint.settled_write(each) for each in settler.store.parts()}
                checkpoint.guarded |= bool(PackedColumns.decode([each.packed for each in portion]).guard.any())
                joins = settler.settle(portion, marks, partial(self.plan, checkpoint), match)
                self.note([settling.ref(each) for each in portion])
            checkpoint.settle(part, portion[-1].name.order if len(portion) == size else new.end, joins)
            self.report(len(portion))
            portions += 1
            if portions % REFRESH == 0:
                checkpoint.save(self.engine)
                settler.refresh()

    def plan(self, checkpoint: GroupCheckpoint, names: Sequence[DocumentRef]) -> None:
        """Record documents in progress, unless another process wrote the checkpoint."""
        checkpoint.in_hand = list(names)
        checkpoint.save(self.engine)

    def _fence(self, store: StoredGroups, checkpoint: GroupCheckpoint) -> bool:
        """Write again the documents that another process had in progress; returns whether all were written.

        Whatever that process, which ended or stands still, writes later is then a conflict. What it wrote before is
        settled again, and a group that it left without a lead gets one.
        """
        if not checkpoint.in_hand:
            return True
        checkpoint.take_over(self.engine)
        if not (revisit(store, checkpoint.in_hand) and settling.promote(store)):
            return False
        checkpoint.in_hand = []
        return True

    @staticmethod
    def _follow_changes(
        store: StoredGroups, checkpoint: GroupCheckpoint, overrides: Sequence[Override], *, has_changes: bool
    ) -> bool:
        """Process deletions of documents and indexes, and manual decisions, which do not write documents."""
        deletions = store.deletions()
        if deletions != checkpoint.deletions or has_changes:
            if settling.promote(store):
                checkpoint.deletions = deletions
            has_changes = True
        hashes = ledger.override_hashes(overrides)
        if hashes != checkpoint.overrides:
            keys = {key for key, _ in hashes.items() ^ checkpoint.overrides.items()}
            if revisit(store, [name for key in keys for name in decided_names(key)]):
                checkpoint.overrides = hashes
            has_changes = True
        return has_changes


def decided_names(key: str) -> list[tuple[str, str]]:
    """Return the documents named by the key of a decision; none if it is damaged.

    >>> decided_names('[["news","a"],["news","b"]]'), decided_names("{")
    ([('news', 'a'), ('news', 'b')], [])
    """
    try:
        return [(str(index), str(name)) for index, name in orjson.loads(key)]
    except (ValueError, TypeError):
        return []


def revisit(store: StoredGroups, names: Sequence[tuple[str, str]]) -> bool:
    """Mark documents to be settled again; followers leave their group first."""
    store.newest()
    documents = store.read(sorted(set(names)))
    leads = [Assignment(each, each.group, lead=True) for each in documents if each.lead]
    changes = [*leads, *settling.start_groups(each for each in documents if not each.lead)]
    return not changes or all(store.assign(changes))


RACE_SECONDS = 0.05  # seconds after which every process that saw the lease free in the same moment has taken it too

KEY = "groups/lease"

SECONDS = 30.0  # seconds after which a lease lapses that is not renewed


@dataclass(slots=True)
class SettlingLease:
    """Lease on settling an index, for one process."""

    engine: Engine  # the index
    name: str = field(default_factory=lambda: uuid4().hex)  # name of this holder
    is_lost: bool = False  # whether another one took it after this one did
    _renewal: float = 0.0

    def is_taken(self) -> bool:
        """Return whether another process holds the lease and is presumed alive."""
        record = self.engine.get_record("runs", KEY)
        entry = record if isinstance(record, dict) else {}
        if entry.get("name", self.name) == self.name or not isinstance(expiry := entry.get("until", 0.0), int | float):
            return False
        # No holder renews it for longer: a later end was written before the clock was set back.
        return 0 < expiry - time.time() < 2 * SECONDS and not has_exited(str(entry.get("process", "")))

    def take(self) -> bool:
        """Take the lease, unless another process holds it or takes it at the same time."""
        if self.is_taken():
            return False
        self._note(time.time() + SECONDS)
        time.sleep(RACE_SECONDS)  # else every process that saw it free would settle a portion before it sees the holder
        self.is_lost = self.is_taken()
        return not self.is_lost

    def cannot_renew(self) -> bool:
        """Renew the lease, unless another process has taken it; returns whether one has."""
        self.is_lost = self.is_lost or self.is_taken()
        if not self.is_lost and time.monotonic() - self._renewal > SECONDS / 4:
            self._note(time.time() + SECONDS)
        return self.is_lost

    def give_back(self) -> None:
        """Release the lease, unless another process holds it."""
        if not self.is_taken():
            self._note(0.0)

    def _note(self, expiry: float) -> None:
        self._renewal = time.monotonic()
        self.engine.put_records("runs", {KEY: {"name": self.name, "process": this_process(), "until": expiry}})


PAUSE = 0.2  # seconds between two looks while another process settles


def settle(engine: Engine, seconds: float, report: Report = lambda _: None, *, has_new: bool = False) -> None:
    """Settle the new documents of an index, unless another process does; they are looked for unless `has_new`."""
    engine = engine.group_set()
    lease, deadline = SettlingLease(engine), time.monotonic() + seconds

    def stop() -> bool:  # also before the first portion, since several may take it at the same moment
        return lease.cannot_renew() or time.monotonic() > deadline

    if lease.is_taken() or (not has_new and is_settled(engine)):  # no refresh, which would slow down that process
        return
    if lease.take():
        try:
            Follower(engine, report, stop=stop, is_lost=lease.cannot_renew).catch_up()
        finally:
            lease.give_back()


def settle_all(engine: Engine, report: Report = lambda _: None) -> None:
    """Settle all documents written before the call, or wait until another process has settled them."""
    goal = engine.group_set().groups().newest()
    while True:
        settle(engine, inf, report)
        together = engine.group_set()
        parts = together.groups().parts()  # an index may be deleted at any time
        if ledger.has_settled(together, {part: number for part, number in goal.items() if part in parts}):
            return
        time.sleep(PAUSE)


DECISION_S = 5.0  # seconds for which a decision waits until the groups that it concerns are settled


def follow_decisions(engine: Engine, seconds: float = DECISION_S) -> bool:
    """Settle the groups affected by new manual decisions, if groups are stored; returns whether all are settled.

    What cannot be settled now, such as by a user who may not write documents, is when groups are settled next.
    """
    deadline = time.monotonic() + seconds
    try:
        engine = engine.group_set()
        while (checkpoint := GroupCheckpoint.read(engine)).done and not follows_all(engine, checkpoint):
            if time.monotonic() > deadline:
                return False
            settle(engine, max(0.0, deadline - time.monotonic()))
            if GroupCheckpoint.read(engine).overrides == checkpoint.overrides:  # another process settles
                time.sleep(PAUSE)
    except EngineError:
        return False
    return True


def follows_all(engine: Engine, checkpoint: GroupCheckpoint) -> bool:
    """Return whether groups follow all current manual decisions, and none that was withdrawn."""
    return ledger.override_hashes(ledger.load_overrides(engine)) == checkpoint.overrides


def is_settled(engine: Engine) -> bool:
    """Return whether all documents, deletions and manual decisions of a group set are settled."""
    checkpoint, store = GroupCheckpoint.read(engine), engine.groups()
    marks = marks_as_record(store.newest(parse_marks(checkpoint.seen)))
    is_same = marks == checkpoint.seen and store.uuids() == (checkpoint.uuids or store.uuids())
    is_followed = is_same and not checkpoint.in_hand and follows_all(engine, checkpoint)
    return is_followed and (not checkpoint.done or store.deletions() == checkpoint.deletions)


def regroup(  # noqa: PLR0913 - what is settled, by which rules and by whom
    engine: Engine,
    *,
    everything: bool = False,
    policy: Policy | None = None,
    report: Report = lambda _: None,
    size: int = SIZE,
    settle: SettleEverything = settle_everything,
    resumes: bool = False,
) -> GroupCheckpoint:
    """Settle all groups again, or resume: leads that are duplicates are joined, and followers compared again."""
    engine = engine.group_set(takes_over=everything)
    if not everything:
        settling.promote(engine.groups())
    while not resumes and not begin_again(engine, everything=everything, policy=policy):
        time.sleep(PAUSE)
    while True:
        lease = SettlingLease(engine)
        if not lease.take():
            time.sleep(PAUSE)
            continue
        is_lost = lease.cannot_renew
        try:
            follower = Follower(engine, report, size, stop=is_lost, is_lost=is_lost, settle_everything=settle)
            checkpoint = follower.catch_up()
        finally:
            lease.give_back()
        if not lease.is_lost:
            return checkpoint


def begin_again(engine: Engine, *, everything: bool, policy: Policy | None) -> bool:
    """Record that all groups are to be settled again; returns whether no other process wrote meanwhile."""
    checkpoint = GroupCheckpoint.read(engine)
    if policy is not None:
        checkpoint.policy = asdict(policy)
        checkpoint.origin = "default" if policy == ledger.POLICY else "named"
    checkpoint.done, checkpoint.seen = {}, {}
    checkpoint.everything = everything
    if everything:
        checkpoint.joined = {}
    try:
        checkpoint.save(engine)
    except Conflict:
        return False
    return True
