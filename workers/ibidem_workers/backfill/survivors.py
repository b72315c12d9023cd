"""Survivors: documents in a new index that exist despite a newer tombstone.

A copy outlives its tombstone if it was written later, or its deleter crashed.
"""

from collections.abc import Mapping, Sequence

from ibidem_engines.engine import Engine, Outcome, ReindexSource, Signed, WriteStatus
from ibidem_engines.ledger import Tombstone, read_entries


def find_survivors(engine: Engine, tombstones: Mapping[str, Tombstone]) -> set[str]:
    """Return the ids of documents in an index that are no newer than their tombstones.

    A document without a version is none: another program has written it since.
    """
    if not tombstones:
        return set()
    engine.refresh()
    documents = engine.fetch([(engine.index, id_) for id_ in tombstones])
    versions = {each.document.id: each.version for each in documents}
    return {id_ for id_, version in versions.items() if 0 < version <= tombstones[id_].version}


def delete_survivors(
    engine: Engine, source: ReindexSource, copies: Sequence[Signed], outcomes: Sequence[Outcome]
) -> list[Outcome]:
    """Delete late copies of documents that were deleted from the new index; returns them as stale.

    A document without a version was written by another program, whatever tombstones say of earlier ones: it is deleted
    where the first index does not know of the deletion. A copy that was there already is of another process, which may
    have ended before it looked for a tombstone.
    """
    written = {outcome.id for outcome in outcomes if outcome.order}
    documents = [document for document, _ in copies if document.version or document.name.id in written]
    entries = engine.get_records_by_key("tombstones", [document.name.id for document in documents])
    tombstones = dict(read_entries(entries.items(), Tombstone.from_record))
    unversioned = {each.name.id for each in documents if not each.version and each.name.id in tombstones}
    known = {id_: entry for id_, entry in source.get_records("tombstones") if unversioned and id_ in unversioned}
    deleted = {
        id_: tombstones[id_]
        for document in documents
        if (id_ := document.name.id) in tombstones
        and (tombstones[id_].version >= document.version if document.version else known.get(id_) != entries[id_])
    }
    earlier = {id_: tombstone for id_, tombstone in deleted.items() if id_ not in written}
    for id_ in earlier.keys() - find_survivors(engine, earlier):
        del deleted[id_]
    for version in {each.version for each in deleted.values()}:
        engine.delete([id_ for id_, each in deleted.items() if each.version == version], version)
    return [_stale(each, deleted[each.id].version) if each.id in deleted else each for each in outcomes]


def _stale(outcome: Outcome, version: int) -> Outcome:
    return Outcome(outcome.id, WriteStatus.STALE, field="version", why=f"it was deleted with version {version}")
