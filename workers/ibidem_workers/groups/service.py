"""Service of stored groups: settles new documents, or all again, unless another process does.

Lease on settling an index, held by one process at a time. Two that settle at the same time do no harm: one of them
finds that the other has written the checkpoint, and its work was in vain. So two may take the lease in the same moment:
the last one holds it, and the other one stops when it renews the lease.
"""

import time
from dataclasses import dataclass, field
from math import inf
from uuid import uuid4

from ibidem_core.errors import EngineError
from ibidem_dedupe.policy import Policy
from ibidem_engines import ledger
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import marks_as_record, parse_marks
from ibidem_workers.executors import has_exited, this_process
from ibidem_workers.groups.follower import SIZE, Follower, Report, SettleEverything, settle_everything
from ibidem_workers.groups.settle import promote

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
        expiry, process = entry.get("until", 0.0), str(entry.get("process", ""))
        if entry.get("name", self.name) == self.name or not isinstance(expiry, int | float):
            return False
        # No holder renews it for longer: a later end was written before the clock was set back.
        return 0 < expiry - time.time() < 2 * SECONDS and not has_exited(process)

    def take(self) -> bool:
        """Take the lease, unless another process holds it or takes it at the same time."""
        if self.is_taken():
            return False
        self._note(time.time() + SECONDS)
        time.sleep(RACE_SECONDS)  # else every process that saw it free would settle a portion before it sees the holder
        self.is_lost = self.is_taken()
        return not self.is_lost

    def renew(self) -> bool:
        """Renew the lease, unless another process has taken it; returns whether it was renewed."""
        self.is_lost = self.is_lost or self.is_taken()
        if not self.is_lost and time.monotonic() - self._renewal > SECONDS / 4:
            self._note(time.time() + SECONDS)
        return not self.is_lost

    def has_passed(self) -> bool:
        """Renew the lease; returns whether another process has taken it."""
        return not self.renew()

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
        return lease.has_passed() or time.monotonic() > deadline

    if lease.is_taken() or (not has_new and is_settled(engine)):  # no refresh, which would slow down that process
        return
    if lease.take():
        try:
            Follower(engine, report, stop=stop, is_lost=lease.has_passed).catch_up()
        finally:
            lease.give_back()


def settle_all(engine: Engine, report: Report = lambda _: None) -> None:
    """Settle all documents written before the call, or wait until another process has settled them."""
    goal = engine.group_set().groups().newest()
    settle(engine, inf, report)
    while True:
        together = engine.group_set()
        parts = together.groups().parts()  # an index may be deleted at any time
        if ledger.has_settled(together, {part: number for part, number in goal.items() if part in parts}):
            return
        settle(engine, inf, report)
        time.sleep(PAUSE)


DECISION_S = 5.0  # seconds for which a decision waits until the groups that it concerns are settled


def follow_decisions(engine: Engine, seconds: float = DECISION_S) -> bool:
    """Settle the groups affected by new manual decisions, if groups are stored; returns whether all are settled.

    What cannot be settled now, such as by a user who may not write documents, is when groups are settled next.
    """
    deadline = time.monotonic() + seconds
    try:
        engine = engine.group_set()
        while (checkpoint := ledger.GroupCheckpoint.read(engine)).done and not follows_all(engine, checkpoint):
            if time.monotonic() > deadline:
                return False
            settle(engine, max(0.0, deadline - time.monotonic()))
            if ledger.GroupCheckpoint.read(engine).overrides == checkpoint.overrides:  # another process settles
                time.sleep(PAUSE)
    except EngineError:
        return False
    return True


def follows_all(engine: Engine, checkpoint: ledger.GroupCheckpoint) -> bool:
    """Return whether groups follow all current manual decisions, and none that was withdrawn."""
    return ledger.override_hashes(ledger.load_overrides(engine)) == checkpoint.overrides


def is_settled(engine: Engine) -> bool:
    """Return whether all documents, deletions and manual decisions of a group set are settled."""
    checkpoint, store = ledger.GroupCheckpoint.read(engine), engine.groups()
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
) -> ledger.GroupCheckpoint:
    """Settle all groups again, or resume: leads that are duplicates are joined, and followers compared again."""
    engine = engine.group_set(takes_over=everything)
    if not everything:
        promote(engine.groups())
    while not resumes and not begin_again(engine, everything=everything, policy=policy):
        time.sleep(PAUSE)
    while True:
        lease = SettlingLease(engine)
        if not lease.take():
            time.sleep(PAUSE)
            continue
        try:
            is_lost = lease.has_passed
            follower = Follower(engine, report, size, stop=is_lost, is_lost=is_lost, settle_everything=settle)
            checkpoint = follower.catch_up()
        finally:
            lease.give_back()
        if not lease.is_lost:
            return checkpoint


def begin_again(engine: Engine, *, everything: bool, policy: Policy | None) -> bool:
    """Record that all groups are to be settled again; returns whether no other process wrote meanwhile."""
    checkpoint = ledger.GroupCheckpoint.read(engine)
    if policy is not None:
        checkpoint.policy = ledger.policy_as_record(policy)
        checkpoint.origin = "default" if policy == ledger.POLICY else "named"
    checkpoint.done, checkpoint.seen = {}, {}
    checkpoint.everything = everything
    if everything:
        checkpoint.joined = {}
    try:
        checkpoint.save(engine)
    except ledger.Conflict:
        return False
    return True
