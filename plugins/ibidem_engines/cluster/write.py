"""Conditional writes: create or read the version, decide, write only over that version, retry on a conflict.

The engine's own `_version` is never used, since others may write to the index too: a document is replaced by its
sequence number, and a write that finds another state than the one it was decided on is decided again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ibidem_core.errors import Unavailable
from ibidem_engines import ledger
from ibidem_engines.cluster.client import CONFLICT, NOT_FOUND, Action, ActionOutcome, ClusterClient, read_docs, run
from ibidem_engines.cluster.dsl import state_of
from ibidem_engines.cluster.index import write_order
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.source import as_source, led_group, version_update
from ibidem_engines.engine import Outcome, Record, WriteStatus
from ibidem_engines.ledger import LookupValues, StoredVersion
from ibidem_engines.requests import Json


def read_versions(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the current versions of some ids, whether or not visible to searches."""
    stored_versions: dict[str, StoredVersion] = {}
    parts = "ibidem.version,ibidem.record,ibidem.origin,ibidem.group,ibidem.lead"
    for each in get_many(cluster, indices, ids, parts):
        own_fields = each.get("_source", {}).get("ibidem", {})
        version, digest, origin = own_fields.get("version"), own_fields.get("record", ""), own_fields.get("origin", "")
        stored = StoredVersion(version, digest, state_of(each), origin, each["_index"], led_group(own_fields))
        known = stored_versions.setdefault(each["_id"], stored)
        if known is not stored:
            stored_versions[each["_id"]] = replace(known, others=(*known.others, each["_index"]))
    return stored_versions


def get_many(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str], parts: str) -> list[Json]:
    """Read parts of documents by id, index by index; missing documents are omitted."""
    docs = [{"_index": index, "_id": id_} for index in indices for id_ in ids]
    answer = cluster.hold(read_docs(docs, {"_source_includes": parts})) if docs else {"docs": ()}
    return [each for each in answer["docs"] if each.get("found")]


@dataclass(slots=True)
class WriteMode:
    """Whether a write reads the stored version first, depending on this process's recent writes."""

    # Skip the read while most documents are new. The first write always reads: a missing shard then fails at once, not
    # after the one-minute write timeout.
    expects_new: bool = False


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The index and connection for writing documents."""

    cluster: ClusterClient
    index: str  # the index that new documents are written to, or the data stream
    layout: str  # `full` or `lean`
    ledgers: LedgerStore  # the records next to the index
    mode: WriteMode  # whether a write reads first
    indices: tuple[str, ...]  # all indexes of the name, the newest last: a document is replaced where it is

    def source(self, record: Record, values: LookupValues, group: str = "") -> bytes:
        """Return a document; a lead keeps the name of its group, so that its followers are found."""
        return as_source(record, self.cluster.address.fields, self.layout, values, group=group)

    def stored_versions(self, ids: Sequence[str]) -> dict[str, StoredVersion]:
        return read_versions(self.cluster, self.indices, ids)

    def tombstones(self, ids: Sequence[str]) -> dict[str, int]:
        return ledger.tombstone_versions(self.ledgers.read_states("tombstones", ids)[0])

    def run(self, actions: Sequence[Action]) -> list[ActionOutcome]:
        return run(self.cluster, actions)


ROUNDS = 9  # how often a write is decided again; each time another writer was faster


@dataclass(frozen=True, slots=True)
class _Ready:
    """A valid record, as JSON."""

    record: Record
    source: bytes
    values: LookupValues  # its look-up values


def write(target: WriteTarget, records: Sequence[Record]) -> list[Outcome]:
    return ledger.write_in_turns(
        records, lambda record, values: _Ready(record, target.source(record, values), values), partial(_write, target)
    )


def delete(target: WriteTarget, ids: Sequence[str], version: int, *, any_version: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`.

    The tombstone is written before the document is deleted: a writer that comes between the two finds it afterwards. Of
    a document that was not there, one that came before the tombstone is looked for once more.
    """
    remaining = list(dict.fromkeys(ids))
    outcomes: dict[str, Outcome] = {}
    for _ in _rounds(target, remaining):
        stored_versions = target.stored_versions(remaining)
        versions, decisions = ledger.decide_deletions(remaining, stored_versions, version, any_version=any_version)
        missing = [id_ for id_ in remaining if decisions[id_].status is WriteStatus.MISSING]
        deletions = [id_ for id_ in remaining if decisions[id_].status is WriteStatus.DELETED]
        _write_tombstones(target, {id_: versions[id_] for id_ in (*deletions, *missing)})
        results = target.run([_deletion(id_, stored_versions[id_]) for id_ in deletions])
        conflicts = {id_ for id_, each in zip(deletions, results, strict=True) if each.status in (CONFLICT, NOT_FOUND)}
        conflicts |= target.stored_versions(missing).keys()
        outcomes |= {id_: decisions[id_] for id_ in {*remaining} - conflicts}
        remaining[:] = sorted(conflicts)
    return [outcomes[id_] for id_ in ids]


def _rounds(target: WriteTarget, remaining: Sequence[str], turns: range = range(1, ROUNDS + 1)) -> Iterator[int]:
    """Yield the number of each round, as long as ids remain, of which the caller takes those without a conflict.

    After the first rounds it waits for a short, random time, so that several writers of one document do not collide
    again.
    """
    for turn in turns:
        if remaining:
            yield turn
        if remaining and turn > 1 and target.cluster.waits:
            target.cluster.wait(0)
    if remaining:
        raise Unavailable(
            f"{target.cluster.label}: other writers keep changing document {remaining[0]!r} in index {target.index!r}",
            "try again, or let one writer at a time change it",
        )


def _write(target: WriteTarget, ready: Mapping[str, _Ready]) -> dict[str, Outcome]:
    """Write until there is no conflict with another writer; see `WriteMode` for when stored versions are read first."""
    outcomes: dict[str, Outcome] = {}
    remaining = list(ready)
    # With several indexes, only a read shows where a document is.
    reads_first = len(target.indices) > 1 or not target.mode.expects_new
    sent_again, first_round = target.cluster.resend_count, 1 if reads_first else 0
    for turn in _rounds(target, remaining, range(first_round, ROUNDS)):
        tombstones = target.tombstones(remaining)
        # A deleted document may still exist: an earlier try may have written it, although its response was lost.
        stored_versions = target.stored_versions(remaining if turn else list(tombstones))
        retry = turn > 1 or target.cluster.resend_count > sent_again
        acting: dict[str, Action] = {}
        for id_ in remaining:
            record, stored, tombstone = ready[id_].record, stored_versions.get(id_), tombstones.get(id_)
            outcomes[id_] = ledger.decide(record, stored, tombstone, retry=retry)
            if action := _action(target, ready[id_], outcomes[id_].status, stored, tombstone):
                acting[id_] = action
            elif stored and outcomes[id_].status is WriteStatus.INDEXED:
                outcomes[id_] = replace(outcomes[id_], order=write_order(stored.state[0]))
        results = dict(zip(acting, target.run(list(acting.values())), strict=True))
        remaining[:] = [id_ for id_, each in results.items() if each.status == CONFLICT]
        written = [id_ for id_, each in results.items() if each.status != CONFLICT]
        for id_ in written:
            before, result = outcomes[id_], results[id_]
            if reason := result.reason:
                at_fault, version = refused_field(reason), before.previous_version
                outcomes[id_] = Outcome(id_, WriteStatus.REFUSED, 0, version, field=at_fault, why=reason)
            elif before.status is WriteStatus.INDEXED:
                outcomes[id_] = replace(before, order=write_order(result.place))
        _check_tombstones(target, ready, outcomes, written)
        if turn == first_round:
            known = len(stored_versions) if turn else len(remaining)  # how many of the documents there were
            target.mode.expects_new = 2 * known <= len(ready)
    return outcomes


def _action(
    target: WriteTarget, ready: _Ready, status: WriteStatus, stored: StoredVersion | None, tombstone: int | None
) -> Action | None:
    """Return the action of a decision; None if there is nothing to write.

    A stored version that was deleted was written by a process that ended before it looked for tombstones once more.
    """
    record = ready.record
    id_ = record.document.id
    is_deleted = tombstone is not None and stored and stored.version is not None and stored.version <= tombstone
    if status is WriteStatus.STALE and stored and is_deleted and not stored.others:
        return _deletion(id_, stored)
    if status is WriteStatus.UNCHANGED and stored and stored.version != record.version:
        body = version_update(record, target.layout, ready.values)
        return Action("update", stored.index, id_, body, stored.state)
    if status is not WriteStatus.INDEXED:
        return None
    if stored is None:
        return Action("create", target.index, id_, ready.source)
    if stored.digest == record.digest:
        return None
    source = target.source(record, ready.values, stored.group) if stored.group else ready.source
    return Action("index", stored.index, id_, source, stored.state)


def refused_field(reason: str) -> str:
    """Return the field named as invalid in a server's message.

    >>> refused_field("failed to parse field [meta.pages] of type [long] in document with id_ 'a'")
    'meta.pages'
    """
    _, mark, tail = reason.partition("field [")
    return tail.partition("]")[0] if mark else ""


def _check_tombstones(
    target: WriteTarget, ready: Mapping[str, _Ready], outcomes: dict[str, Outcome], written: Sequence[str]
) -> None:
    """Check for tombstones again: a deletion may have happened between the read and the write.

    One of an older version stays until its time is over: a newer one may take its place at any moment.
    """
    buried = target.tombstones([id_ for id_ in written if outcomes[id_].status is WriteStatus.INDEXED])
    stale = {id_: ready[id_].record for id_, version in buried.items() if version >= ready[id_].record.version}
    _delete_own_writes(target, stale)
    for id_, record in stale.items():
        reason = f"version {record.version} was deleted with version {buried[id_]}"
        previous = outcomes[id_].previous_version
        outcomes[id_] = Outcome(id_, WriteStatus.STALE, previous_version=previous, field="version", why=reason)


def _delete_own_writes(target: WriteTarget, records: Mapping[str, Record]) -> None:
    """Delete records that were just written; one whose group was settled meanwhile is read and deleted again."""
    remaining = list(records)
    for _ in _rounds(target, remaining):
        stored = target.stored_versions(remaining)
        own_writes = {id_: each for id_, each in stored.items() if _is_of(each, records[id_])}
        results = target.run([_deletion(id_, each) for id_, each in own_writes.items()])
        remaining[:] = [id_ for id_, each in zip(own_writes, results, strict=True) if each.status == CONFLICT]


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
    for _ in _rounds(target, remaining):
        entries, states = target.ledgers.read_states("tombstones", remaining)
        wanted = {id_: versions[id_] for id_ in remaining}
        stones = ledger.new_tombstones(wanted, ledger.tombstone_versions(entries))
        remaining[:] = target.ledgers.put_onto("tombstones", stones, states)
