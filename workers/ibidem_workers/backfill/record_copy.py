"""Copy of an index's records for its replacement, under the new name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, get_args

import orjson
from xxhash import xxh3_64_intdigest

from ibidem_engines import ledger as groups
from ibidem_engines.cursor import KEY as CURSOR_KEY
from ibidem_engines.engine import Engine, ReindexSource
from ibidem_engines.ledger import Tombstone, read_entries
from ibidem_engines.stored_groups import Ledger, rename
from ibidem_workers.backfill.checkpoint import KEYS
from ibidem_workers.backfill.survivors import find_survivors

LEDGERS: tuple[Ledger, ...] = get_args(Ledger)
AT_ONCE = 1_000
OWN_KEYS = (KEYS, "groups/", CURSOR_KEY)  # of runs that concern the first index alone

Key = tuple[Ledger, str]


@dataclass(slots=True)
class RecordCopy:
    """The records of an index, and which of them were copied."""

    source: ReindexSource  # the index that is copied
    engine: Engine  # the new index
    copied: dict[Key, int] = field(default_factory=dict)  # hash of each record that was copied, by ledger and key
    _settled: groups.GroupCheckpoint = field(default_factory=groups.GroupCheckpoint)

    def copy(self) -> dict[str, int]:
        """Copy all records, and the settling policy; returns how many documents had joined a group.

        The groups of the new index are settled from the beginning.
        """
        self._copy_changes()
        settled = self._settled
        groups.GroupCheckpoint(policy=settled.policy, joined=settled.joined).put(self.engine)
        return settled.joined

    def copy_changes(self) -> None:
        """Copy the records written since the last copy, and remove the removed ones.

        What was deleted from the first index may have come to the new one before its tombstone does.
        """
        if not self.copied:  # another process copied them
            self.copied = dict(self._copied_before())
        self._copy_changes(deletes=True)

    def _copied_before(self) -> Iterator[tuple[Key, int]]:
        """Yield records that another process has copied; the new index may have newer versions of them."""
        for ledger in LEDGERS:
            there = dict(self.engine.get_records(ledger))
            for portion in _portions((key, entry) for key, entry in self._records(ledger) if key in there):
                pending = self._pending(portion, there) if ledger == "tombstones" else ()
                yield from (((ledger, key), _hash(portion[key])) for key in portion if key not in pending)

    def _pending(self, tombstones: Mapping[str, Any], there: Mapping[str, Any]) -> set[str]:
        """Return the ids whose deletion is incomplete: the copied tombstone is older, or the document still exists."""
        stones = dict(read_entries(tombstones.items(), Tombstone.from_record))
        known = dict(read_entries(((key, there[key]) for key in stones), Tombstone.from_record))
        older = {key for key, stone in stones.items() if key not in known or known[key].version < stone.version}
        return older | find_survivors(self.engine, stones)

    def _copy_changes(self, *, deletes: bool = False) -> None:
        removed = set(self.copied)
        for ledger in LEDGERS:
            for portion in _portions(self._changes(ledger, removed)):
                deleted = self._delete(portion) if deletes and ledger == "tombstones" else ()
                self.engine.put_records(ledger, {key: portion[key] for key in portion if key not in deleted})
        for ledger, key in removed:
            entry = self.engine.get_record(ledger, key)
            if _hash(entry) == self.copied.pop((ledger, key)):
                self.engine.delete_unchanged(ledger, {key: entry})

    def _delete(self, tombstones: Mapping[str, Any]) -> set[str]:
        """Delete documents deleted from the source, by version; returns the ids of the processed tombstones."""
        stones = dict(read_entries(tombstones.items(), Tombstone.from_record))
        ids: dict[int, list[str]] = {}
        for id_, stone in stones.items():
            ids.setdefault(stone.version, []).append(id_)
        for version, deleted in ids.items():
            self.engine.delete(deleted, version)
        return set(stones)

    def _changes(self, ledger: Ledger, removed: set[Key]) -> Iterator[tuple[str, Any]]:
        """Yield the records that differ from the new index; `removed` collects those that no longer exist."""
        for key, entry in self._records(ledger):
            removed.discard((ledger, key))
            hash_ = _hash(entry)
            if self.copied.get((ledger, key)) != hash_:
                self.copied[ledger, key] = hash_
                yield key, entry

    def _records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        """Return the records of the source, under the name of the new index."""
        names = dict.fromkeys(self.source.index_names().indices, self.engine.index)
        for key, entry in self.source.get_records(ledger):
            if ledger == "groups":
                self._settled = groups.checkpoint_of(entry)
            elif ledger != "runs" or not key.startswith(OWN_KEYS):
                yield rename(ledger, key, entry, names.get)


def _hash(entry: object) -> int:
    return xxh3_64_intdigest(orjson.dumps(entry))


def _portions(entries: Iterable[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Split records into portions."""
    entries = iter(entries)
    while portion := dict(islice(entries, AT_ONCE)):
        yield portion
