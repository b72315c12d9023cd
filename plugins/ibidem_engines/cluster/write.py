"""Conditional writes: create or read the version, decide, write only over that version, retry on a conflict.

The engine's own `_version` is never used, since others may write to the index too: a document is replaced by its
sequence number, and a write that finds another state than the one it was decided on is decided again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ibidem_core.address import Fields
from ibidem_core.errors import Unavailable
from ibidem_engines import ledger
from ibidem_engines.cluster.client import CONFLICT, NOT_FOUND, Action, ActionOutcome, ClusterClient, read_docs, run
from ibidem_engines.cluster.index import write_order
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.source import as_source, led_group, version_update
from ibidem_engines.engine import Outcome, Record, WriteStatus, next_version
from ibidem_engines.ledger import Decision, LookupValues, StoredVersion
from ibidem_engines.requests import ApiRequest, quote_index


def read_versions(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the current versions of some ids, whether or not visible to searches."""
    stored_versions: dict[str, StoredVersion] = {}
    parts = "ibidem.version,ibidem.record,ibidem.origin,ibidem.group,ibidem.lead"
    for each in get_many(cluster, indices, ids, parts):
        known = stored_versions.setdefault(each["_id"], _stored_version(each))
        if known.index != each["_index"]:
            stored_versions[each["_id"]] = replace(known, others=(*known.others, each["_index"]))
    return stored_versions


def get_many(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str], parts: str) -> list[Mapping[str, Any]]:
    """Read parts of documents by id, index by index; missing documents are omitted."""
    docs: list[Mapping[str, Any]] = []
    for index in indices if ids else ():
        request = ApiRequest("POST", f"/{quote_index(index)}/_mget", {"_source_includes": parts}, {"ids": list(ids)})
        docs += [each for each in cluster.hold(read_docs(request))["docs"] if each.get("found")]
    return docs


def _stored_version(document: Mapping[str, Any]) -> StoredVersion:
    own_fields = document.get("_source", {}).get("ibidem", {})
    state = document["_seq_no"], document["_primary_term"]
    return StoredVersion(
        own_fields.get("version"),
        own_fields.get("record", ""),
        state,
        own_fields.get("origin", ""),
        document["_index"],
        led_group(own_fields),
    )


@dataclass(slots=True)
class WriteMode:
    """Whether a write reads the stored version first, depending on this process's recent writes."""

    # Skip the read while most documents are new. The first write always reads: a missing shard then fails at once, not
    # after the one-minute write timeout.
    expects_new: bool = False

    def learn(self, count: int, documents: int) -> None:
        """Record how many of some documents already existed."""
        self.expects_new = 2 * count <= documents


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The index, fields and connection for writing documents."""

    cluster: ClusterClient
    index: str  # the index that new documents are written to, or the data stream
    fields: Fields  # names of a document's fields in it
    layout: str  # `full` or `lean`
    ledgers: LedgerStore  # the records next to the index
    mode: WriteMode = field(default_factory=WriteMode)  # whether a write reads first
    indices: tuple[str, ...] = ()  # all indexes of the name, the newest last: a document is replaced where it is

    def source(self, record: Record, values: LookupValues, group: str = "") -> bytes:
        """Return a document; a lead keeps the name of its group, so that its followers are found."""
        return as_source(record, self.fields, self.layout, values, group=group)

    def stored_versions(self, ids: Sequence[str]) -> dict[str, StoredVersion]:
        return read_versions(self.cluster, self.indices or (self.index,), ids) if ids else {}

    def tombstones(self, ids: Sequence[str]) -> dict[str, int]:
        return ledger.tombstone_versions(self.ledgers.get_keys("tombstones", ids))

    def run(self, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Run actions as bulk requests."""
        return run(self.cluster, actions)


ROUNDS = 9  # how often a write is decided again; each time another writer was faster


@dataclass(frozen=True, slots=True)
class _Ready:
    """A valid record, as JSON."""

    record: Record
    source: bytes
    values: LookupValues  # its look-up values

    @property
    def id(self) -> str:
        return self.record.document.id


def write(target: WriteTarget, records: Sequence[Record]) -> list[Outcome]:
    def prepare(record: Record, values: LookupValues) -> _Ready:
        return _Ready(record, target.source(record, values), values)

    return ledger.write_in_turns(records, prepare, partial(_write, target))


def delete(target: WriteTarget, ids: Sequence[str], version: int, *, any_version: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`.

    The tombstone is written before the document is deleted: a writer that comes between the two finds it afterwards. Of
    a document that was not there, one that came before the tombstone is looked for once more.
    """
    remaining = list(dict.fromkeys(ids))
    outcomes: dict[str, Outcome] = {}
    for turn in range(ROUNDS):
        stored_versions = target.stored_versions(remaining)
        versions = {
            id_: next_version(version, stored_versions[id_].version)
            if any_version and id_ in stored_versions
            else version
            for id_ in remaining
        }
        decisions = {id_: ledger.decide_deletion(stored_versions.get(id_), versions[id_]) for id_ in remaining}
        fates = {id_: fate for id_, (fate, _) in decisions.items()}
        buried = (WriteStatus.DELETED, WriteStatus.MISSING)
        _write_tombstones(target, {id_: versions[id_] for id_ in remaining if fates[id_] in buried})
        deletions = [id_ for id_ in remaining if fates[id_] is WriteStatus.DELETED]
        results = target.run([_deletion(id_, stored_versions[id_]) for id_ in deletions])
        conflicts = {id_ for id_, each in zip(deletions, results, strict=True) if each.status in (CONFLICT, NOT_FOUND)}
        conflicts |= target.stored_versions([id_ for id_ in remaining if fates[id_] is WriteStatus.MISSING]).keys()
        for id_ in remaining:
            if id_ not in conflicts:
                outcomes[id_] = ledger.decided(id_, decisions[id_], stored_versions.get(id_))
        remaining = sorted(conflicts)
        if not remaining:
            return [outcomes[id_] for id_ in ids]
        _back_off(target, turn)
    raise _conflict_error(target, remaining)


def _write(target: WriteTarget, ready: Mapping[int, _Ready]) -> dict[int, Outcome]:
    """Write until there is no conflict with another writer; see `WriteMode` for when stored versions are read first."""
    outcomes: dict[int, Outcome] = {}
    remaining = dict(ready)
    # With several indexes, only a read shows where a document is.
    reads_first = len(target.indices) > 1 or not target.mode.expects_new
    sent_again, first_round = target.cluster.resend_count, 1 if reads_first else 0
    for turn in range(first_round, ROUNDS):
        ids = [each.id for each in remaining.values()]
        tombstones = target.tombstones(ids)
        # A deleted document may still exist: an earlier try may have written it, although its response was lost.
        stored_versions = target.stored_versions(ids if turn else list(tombstones))
        retry = turn > 1 or target.cluster.resend_count > sent_again
        decisions = {
            position: ledger.decide(each.record, stored_versions.get(each.id), tombstones.get(each.id), retry=retry)
            for position, each in remaining.items()
        }
        acting = {
            position: action
            for position, each in remaining.items()
            if (action := _action(target, each, decisions[position], stored_versions, tombstones))
        }
        results = dict(zip(acting, target.run(list(acting.values())), strict=True))
        for position, each in list(remaining.items()):
            if position not in results or results[position].status != CONFLICT:
                outcomes[position] = _outcome(
                    each, decisions[position], stored_versions.get(each.id), results.get(position)
                )
                del remaining[position]
        _check_tombstones(target, ready, outcomes, [position for position in results if position not in remaining])
        if turn == first_round:
            target.mode.learn(len(stored_versions) if turn else len(remaining), len(ready))
        if not remaining:
            return outcomes
        _back_off(target, turn - 1)
    raise _conflict_error(target, [each.id for each in remaining.values()])


def _action(
    target: WriteTarget,
    ready: _Ready,
    decision: Decision,
    stored_versions: Mapping[str, StoredVersion],
    tombstones: Mapping[str, int],
) -> Action | None:
    """Return the action of a decision; None if there is nothing to write.

    A stored version that was deleted was written by a process that ended before it looked for tombstones once more.
    """
    stored = stored_versions.get(ready.id)
    tombstone = tombstones.get(ready.id)
    is_deleted = tombstone is not None and stored and stored.version is not None and stored.version <= tombstone
    if decision[0] is WriteStatus.STALE and stored and is_deleted and not stored.others:
        return _deletion(ready.id, stored)
    if decision[0] is WriteStatus.UNCHANGED and stored and stored.version != ready.record.version:
        body = version_update(ready.record, target.layout, ready.values)
        return Action("update", stored.index, ready.id, body, stored.state)
    if decision[0] is not WriteStatus.INDEXED:
        return None
    if stored is None:
        return Action("create", target.index, ready.id, ready.source)
    if stored.digest == ready.record.digest:
        return None
    source = target.source(ready.record, ready.values, stored.group) if stored.group else ready.source
    return Action("index", stored.index, ready.id, source, stored.state)


def _outcome(ready: _Ready, decision: Decision, entry: StoredVersion | None, outcome: ActionOutcome | None) -> Outcome:
    old_version = entry.version if entry else None
    if outcome and outcome.reason:
        at_fault = refused_field(outcome.reason)
        return Outcome(ready.id, WriteStatus.REFUSED, 0, old_version, field=at_fault, why=outcome.reason)
    if decision[0] is WriteStatus.INDEXED:
        place = outcome.place if outcome else entry.state[0] if entry else 0
        return Outcome(ready.id, WriteStatus.INDEXED, write_order(place), old_version)
    return ledger.decided(ready.id, decision, entry)


def refused_field(reason: str) -> str:
    """Return the field named as invalid in a server's message.

    >>> refused_field("failed to parse field [meta.pages] of type [long] in document with id_ 'a'")
    'meta.pages'
    """
    _, mark, tail = reason.partition("field [")
    return tail.partition("]")[0] if mark else ""


def _check_tombstones(
    target: WriteTarget, ready: Mapping[int, _Ready], outcomes: dict[int, Outcome], positions: Sequence[int]
) -> None:
    """Check for tombstones again: a deletion may have happened between the read and the write.

    One of an older version stays until its time is over: a newer one may take its place at any moment.
    """
    indexed_positions = {
        outcomes[position].id: position for position in positions if outcomes[position].status is WriteStatus.INDEXED
    }
    buried = target.tombstones(list(indexed_positions))
    stale = {id_: version for id_, version in buried.items() if version >= ready[indexed_positions[id_]].record.version}
    _delete_own_writes(target, {id_: ready[indexed_positions[id_]].record for id_ in stale})
    for id_, version in stale.items():
        position = indexed_positions[id_]
        reason = f"version {ready[position].record.version} was deleted with version {version}"
        outcomes[position] = Outcome(
            id_, WriteStatus.STALE, previous_version=outcomes[position].previous_version, field="version", why=reason
        )


def _delete_own_writes(target: WriteTarget, records: Mapping[str, Record]) -> None:
    """Delete records that were just written; one whose group was settled meanwhile is read and deleted again."""
    remaining = list(records)
    for turn in range(ROUNDS if remaining else 0):
        stored_versions = target.stored_versions(remaining)
        own_writes = [id_ for id_ in remaining if id_ in stored_versions and _is_of(stored_versions[id_], records[id_])]
        results = target.run([_deletion(id_, stored_versions[id_]) for id_ in own_writes])
        remaining = [id_ for id_, each in zip(own_writes, results, strict=True) if each.status == CONFLICT]
        if not remaining:
            return
        _back_off(target, turn)
    if remaining:
        raise _conflict_error(target, remaining)


def _is_of(entry: StoredVersion, record: Record) -> bool:
    """Return whether a stored document is the write of a record, and not a later version with the same text."""
    return (entry.digest, entry.version) == (record.digest, record.version)


def _deletion(id_: str, entry: StoredVersion) -> Action:
    return Action("delete", entry.index, id_, state=entry.state)


def _write_tombstones(target: WriteTarget, versions: Mapping[str, int]) -> None:
    """Write tombstones, unless a newer one exists.

    Each is written onto the very tombstone that was read: of two deletions that read at the same time, the older
    version does not replace the newer.
    """
    remaining = list(versions)
    for turn in range(ROUNDS if remaining else 0):
        entries, states = target.ledgers.read_states("tombstones", remaining)
        wanted = {id_: versions[id_] for id_ in remaining}
        stones = ledger.new_tombstones(wanted, ledger.tombstone_versions(entries))
        remaining = target.ledgers.put_onto("tombstones", stones, states)
        if not remaining:
            return
        _back_off(target, turn)
    if remaining:
        raise _conflict_error(target, remaining)


def _back_off(target: WriteTarget, turn: int) -> None:
    """Wait for a short, random time, so that several writers of one document do not collide again."""
    if turn > 0 and target.cluster.waits:
        target.cluster.wait(0)


def _conflict_error(target: WriteTarget, ids: Sequence[str]) -> Unavailable:
    return Unavailable(
        f"{target.cluster.label}: other writers keep changing document {ids[0]!r} in index {target.index!r}",
        "try again, or let one writer at a time change it",
    )
