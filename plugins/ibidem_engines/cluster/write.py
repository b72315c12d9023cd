"""Conditional writes: create, or read the stored version, decide, write only onto that version, retry on a conflict.

The engine's own `_version` is never used, since others may write to the index too: a document is replaced by its
sequence number, and a write that finds another state than the one it was decided on is decided again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ibidem_engines.address import Fields
from ibidem_engines.cluster import records as ledgers
from ibidem_engines.cluster.bulk import (
    CONFLICT,
    MISSING,
    Action,
    ActionOutcome,
    StoredVersion,
    order_of,
    read_versions,
    run,
)
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.source import as_source, version_update
from ibidem_engines.engine import Outcome, Record, WriteStatus, next_version
from ibidem_engines.errors import Unavailable
from ibidem_engines.records import UnstorableRecord, clash, find_superseded, values_of_records

_AT_FAULT = {WriteStatus.STALE: "version", WriteStatus.REFUSED: "id"}

ROUNDS = 9
"""How often a write is decided again; each time another writer was faster."""


@dataclass(slots=True)
class Habit:
    """Recent outcomes of this process's writes.

    Args:
        new: Whether most documents were new: then they are written without a look at what is there. The first write
            looks, which also tells an index of which parts are away in less than the minute that writing takes to.
    """

    new: bool = False

    def learn(self, there: int, documents: int) -> None:
        """Learn how many of some documents were there already."""
        self.new = 2 * there <= documents


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Index, fields and connection that documents are written by.

    Args:
        cluster: The cluster.
        index: The index.
        fields: What it calls a document's fields.
        layout: `full` or `lean`.
        habit: What this process found there of late.
    """

    cluster: ClusterClient
    index: str
    fields: Fields
    layout: str
    habit: Habit = field(default_factory=Habit)

    def standing(self, ids: Sequence[str]) -> dict[str, StoredVersion]:
        """Read what is under these ids."""
        return read_versions(self.cluster, self.index, ids)

    def graves(self, ids: Sequence[str]) -> dict[str, int]:
        """Read the versions with which these ids were deleted."""
        stones = ledgers.read(self.cluster, self.index, "tombstones", ids) if ids else {}
        return {id_: version for id_, stone in stones.items() if isinstance(version := stone.get("version"), int)}

    def run(self, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Do actions."""
        return run(self.cluster, actions)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A record that fits, as JSON."""

    record: Record
    source: bytes

    @property
    def id(self) -> str:
        """The id of its document."""
        return self.record.document.id


def write(place: WriteTarget, records: Sequence[Record]) -> list[Outcome]:
    """Store records; see `Engine.write`."""
    outcomes = find_superseded(records)
    ready: dict[int, _Ready] = {}
    for at, (record, values) in enumerate(zip(records, values_of_records(records), strict=True)):
        if at not in outcomes:
            try:
                ready[at] = _Ready(record, as_source(record, place.fields, place.layout, values))
            except UnstorableRecord as unfit:
                outcomes[at] = Outcome(record.document.id, WriteStatus.REFUSED, field=unfit.field, why=unfit.why)
    if ready:
        outcomes |= _write(place, ready)
    return [outcomes[at] for at in range(len(records))]


def delete(place: WriteTarget, ids: Sequence[str], version: int, *, beats: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`.

    The tombstone is written before the document is deleted: a writer that comes between the two finds it afterwards.
    """
    left = list(dict.fromkeys(ids))
    outcomes: dict[str, Outcome] = {}
    for turn in range(ROUNDS):
        there = place.standing(left)
        versions = {id_: _version_of_deletion(there.get(id_), version, beats=beats) for id_ in left}
        fates = {id_: _fate_of_deletion(there.get(id_), versions[id_]) for id_ in left}
        _bury(place, {id_: versions[id_] for id_ in left if fates[id_] is not WriteStatus.STALE})
        doomed = [id_ for id_ in left if fates[id_] is WriteStatus.DELETED]
        done = place.run([Action("delete", place.index, id_, state=there[id_].state) for id_ in doomed])
        again = {id_ for id_, each in zip(doomed, done, strict=True) if each.status in (CONFLICT, MISSING)}
        for id_ in left:
            if id_ not in again:
                before = there[id_].version if id_ in there else None
                stale = fates[id_] is WriteStatus.STALE
                why = f"version {version} is older than the one in the index, {before}" if stale else ""
                outcomes[id_] = Outcome(id_, fates[id_], before=before, field="version" if stale else "", why=why)
        left = sorted(again)
        if not left:
            return [outcomes[id_] for id_ in ids]
        _give_way(place, turn)
    raise _contended(place, left)


def _write(place: WriteTarget, ready: Mapping[int, _Ready]) -> dict[int, Outcome]:
    """Write until no other writer was faster.

    Where most documents were new of late, they are created without a look first; it is taken at those that are there.
    """
    outcomes: dict[int, Outcome] = {}
    left = dict(ready)
    sent_again, first = place.cluster.resend_count, 0 if place.habit.new else 1
    for turn in range(first, ROUNDS):
        ids = [each.id for each in left.values()]
        there, graves = place.standing(ids) if turn else {}, place.graves(ids)
        retry = turn > 1 or place.cluster.resend_count > sent_again
        decided = {
            at: _decide(each.record, there.get(each.id), graves.get(each.id), retry=retry) for at, each in left.items()
        }
        acting = {at: action for at, each in left.items() if (action := _action(place, each, decided[at], there))}
        done = dict(zip(acting, place.run(list(acting.values())), strict=True))
        for at, each in list(left.items()):
            if at not in done or done[at].status != CONFLICT:
                outcomes[at] = _outcome(each, decided[at], there.get(each.id), done.get(at))
                del left[at]
        _after(place, ready, outcomes, [at for at in done if at not in left], graves)
        if turn == first:
            place.habit.learn(len(there) if turn else len(left), len(ready))
        if not left:
            return outcomes
        _give_way(place, turn - 1)
    raise _contended(place, [each.id for each in left.values()])


def _decide(record: Record, there: StoredVersion | None, grave: int | None, *, retry: bool) -> tuple[WriteStatus, str]:
    """Decide what becomes of a record by the documents and tombstones under its id.

    Args:
        record: The record.
        there: What is there.
        grave: The version that is buried there.
        retry: Whether the response to an earlier try was lost: a stored document equal to the record is then from it.
    """
    if there and there.version is not None and there.version > record.version:
        return WriteStatus.STALE, f"version {record.version} is older than the one in the index, {there.version}"
    if grave is not None and grave >= record.version:
        return WriteStatus.STALE, f"version {record.version} was deleted with version {grave}"
    if there and there.digest == record.digest:
        return (WriteStatus.INDEXED if retry and there.version == record.version else WriteStatus.UNCHANGED), ""
    if there and (why := clash(record, there.origin)):
        return WriteStatus.REFUSED, why
    return WriteStatus.INDEXED, ""


def _action(
    place: WriteTarget, ready: _Ready, decided: tuple[WriteStatus, str], there: Mapping[str, StoredVersion]
) -> Action | None:
    """Give the action that carries a decision out; None when nothing is to be written."""
    standing = there.get(ready.id)
    if decided[0] is WriteStatus.UNCHANGED and standing and standing.version != ready.record.version:
        return Action("update", place.index, ready.id, version_update(ready.record, place.layout), standing.state)
    if decided[0] is not WriteStatus.INDEXED:
        return None
    if standing is None:
        return Action("create", place.index, ready.id, ready.source)
    if standing.digest == ready.record.digest:
        return None
    return Action("index", place.index, ready.id, ready.source, standing.state)


def _outcome(
    ready: _Ready, decided: tuple[WriteStatus, str], there: StoredVersion | None, done: ActionOutcome | None
) -> Outcome:
    fate, why = decided
    before = there.version if there else None
    if done and done.reason:
        return Outcome(ready.id, WriteStatus.REFUSED, before=before, field=field_of(done.reason), why=done.reason)
    if fate is WriteStatus.INDEXED:
        place = done.place if done else there.state[0] if there else 0
        return Outcome(ready.id, fate, order_of(place), before)
    return Outcome(ready.id, fate, before=before, field=_AT_FAULT.get(fate, ""), why=why)


def field_of(reason: str) -> str:
    """Read the field at fault out of the server's words.

    >>> field_of("failed to parse field [meta.pages] of type [long] in document with id_ 'a'")
    'meta.pages'
    """
    _, mark, rest = reason.partition("field [")
    return rest.partition("]")[0] if mark else ""


def _after(
    place: WriteTarget,
    ready: Mapping[int, _Ready],
    outcomes: dict[int, Outcome],
    written: Sequence[int],
    graves: Mapping[str, int],
) -> None:
    """Look for tombstones once more: a deletion may have come between reading them and writing."""
    indexed = {outcomes[at].id: at for at in written if outcomes[at].fate is WriteStatus.INDEXED}
    buried = place.graves(list(indexed))
    late = {id_: version for id_, version in buried.items() if version >= ready[indexed[id_]].record.version}
    if past := [id_ for id_ in buried if id_ not in late and id_ in graves]:
        ledgers.delete_records(place.cluster, place.index, "tombstones", past)
    if late:
        there = place.standing(list(late))
        mine = [id_ for id_ in late if id_ in there and there[id_].digest == ready[indexed[id_]].record.digest]
        place.run([Action("delete", place.index, id_, state=there[id_].state) for id_ in mine])
    for id_, version in late.items():
        at = indexed[id_]
        why = f"version {ready[at].record.version} was deleted with version {version}"
        outcomes[at] = Outcome(id_, WriteStatus.STALE, before=outcomes[at].before, field="version", why=why)


def _fate_of_deletion(there: StoredVersion | None, version: int) -> WriteStatus:
    if there is None:
        return WriteStatus.MISSING
    return WriteStatus.STALE if there.version is not None and there.version > version else WriteStatus.DELETED


def _version_of_deletion(there: StoredVersion | None, version: int, *, beats: bool) -> int:
    return next_version(version, there.version) if beats and there else version


def _bury(place: WriteTarget, versions: Mapping[str, int]) -> None:
    """Set tombstones, except where there is a newer one."""
    graves = place.graves(list(versions))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    stones = {
        id_: {"version": version, "at": now} for id_, version in versions.items() if graves.get(id_, version) <= version
    }
    ledgers.put_records(place.cluster, place.index, "tombstones", stones)


def _give_way(place: WriteTarget, turn: int) -> None:
    """Wait a little, so that several writers of one document do not stay in step."""
    if turn > 0 and place.cluster.waits:
        place.cluster.wait(0)


def _contended(place: WriteTarget, ids: Sequence[str]) -> Unavailable:
    return Unavailable(
        f"{place.cluster.label}: other writers change document {ids[0]!r} in index {place.index!r} all the time",
        "try again, or let one writer at a time have it",
    )
