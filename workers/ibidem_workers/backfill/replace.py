"""Backfill into a new index that then replaces the original; concurrent writes are carried over.

A pass copies all documents written before it began; passes follow each other until few writes are left. Then the alias
moves in one step, and the last writes to the first index are carried over, except to documents that were written to the
new one through the alias. Documents deleted from the first index are deleted from the new one.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, get_args

import orjson
from xxhash import xxh3_64_intdigest

from ibidem_core.settings import Settings
from ibidem_engines import ledger as groups
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, ReindexSource
from ibidem_engines.ledger import Tombstone, read_entries
from ibidem_engines.stored_groups import Ledger, Marks, marks_as_record, parse_marks, rename
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import KEYS, Checkpoint, delete_by_version, find_survivors, load_checkpoint, paginate
from ibidem_workers.backfill.run import Backfill, Report, check_copy, check_fields, look_through
from ibidem_workers.ingest import new_run

LEDGERS: tuple[Ledger, ...] = get_args(Ledger)
AT_ONCE = 1_000
OWN_KEYS = (KEYS, "groups/")  # of runs that concern the first index alone

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
            for portion in paginate((each for each in self._records(ledger) if each[0] in there), AT_ONCE):
                pending = self._pending(portion, there) if ledger == "tombstones" else ()
                yield from (((ledger, key), _hash(entry)) for key, entry in portion if key not in pending)

    def _pending(self, tombstones: Iterable[tuple[str, Any]], there: Mapping[str, Any]) -> set[str]:
        """Return the ids whose deletion is incomplete: the copied tombstone is older, or the document still exists."""
        stones = dict(read_entries(tombstones, Tombstone.from_record))
        known = dict(read_entries(((key, there[key]) for key in stones), Tombstone.from_record))
        older = {key for key, stone in stones.items() if key not in known or known[key].version < stone.version}
        return older | find_survivors(self.engine, stones)

    def _copy_changes(self, *, deletes: bool = False) -> None:
        removed = set(self.copied)
        for ledger in LEDGERS:
            for portion in paginate(self._changes(ledger, removed), AT_ONCE):
                is_deletion = deletes and ledger == "tombstones"
                stones = dict(read_entries(portion, Tombstone.from_record)) if is_deletion else {}
                delete_by_version(self.engine, stones)
                self.engine.put_records(ledger, {key: entry for key, entry in portion if key not in stones})
        for ledger, key in removed:
            entry = self.engine.get_record(ledger, key)
            if _hash(entry) == self.copied.pop((ledger, key)):
                self.engine.delete_unchanged(ledger, {key: entry})

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
        names = dict.fromkeys((part.index for part in self.source.parts()), self.engine.index)
        for key, entry in self.source.get_records(ledger):
            if ledger == "groups":
                self._settled = groups.checkpoint_of(entry)
            elif ledger != "runs" or not key.startswith(OWN_KEYS):
                yield rename(ledger, key, entry, names.get)


def _hash(entry: object) -> int:
    return xxh3_64_intdigest(orjson.dumps(entry))


ON_THE_WAY = 0.5  # seconds in which a write arrives that went to the first index before its alias moved

MAX_LOOKS = 60  # how often to look for such writes at most: others may go on writing to the first index by its own name


# The checkpoint of a backfill into a new index, and how many documents were deleted from the first index meanwhile.
Replacement = tuple[Checkpoint, int]


def replace_index(settings: Settings, into: str, alias: str = "", report: Report = lambda *_: None) -> Replacement:
    """Copy an index into a new, signed one, and replace it.

    At the end an alias points to the new index: the one that is given, or the name in the settings if it is an alias.
    """

    def open_source(name: str) -> ReindexSource:
        return open_engine(settings.address, name).reindex_source()

    with closing(open_engine(settings.address, into)) as engine:
        return replace_opened(engine, open_source, settings, alias, report)


def replace_opened(
    engine: Engine,
    open_source: Callable[[str], ReindexSource],
    settings: Settings,
    alias: str = "",
    report: Report = lambda *_: None,
) -> Replacement:
    """Copy an index into that of an open engine."""
    checkpoint = load_checkpoint(engine, engine.index)
    has_swapped = checkpoint is not None and checkpoint.state == "swapped"
    name = checkpoint.source if checkpoint is not None and has_swapped else settings.index
    with closing(open_source(name)) as source:
        source.check("copy")
        return _Replacing(engine, source, alias, settings, report).run(checkpoint)


class _Replacing:
    """Replacement of one index by another, in progress."""

    def __init__(self, engine: Engine, source: ReindexSource, alias: str, settings: Settings, report: Report) -> None:
        self._engine, self._source, self._into = engine, source, engine.index
        self._settings, self._report = settings, report
        self._alias = alias or source.alias
        self._prune_count = 0
        self._copy = source.copy_to(self._into)
        self._records = RecordCopy(source, engine)

    def run(self, checkpoint: Checkpoint | None) -> Replacement:
        """Copy, catch up with writes, and switch over."""
        if checkpoint is not None and checkpoint.state == "swapped":
            self._alias = checkpoint.alias
        self._check()
        checkpoint = self._checkpoint(checkpoint)
        backfill = Backfill(self._engine, self._source, checkpoint, self._settings, self._report)
        if checkpoint.state != "swapped":
            checkpoint.state = "open"
            backfill.run()
            self._prune(backfill)
            check_copy(self._source, self._copy, parse_marks(checkpoint.upto))
            checkpoint.joined = self._records.copy()
            checkpoint.marks, checkpoint.alias = marks_as_record(self._copy.newest()), self._alias
            checkpoint.state = "swapped" if self._alias else "done"
            backfill.note()
        self._copy.finish(self._alias)
        if self._alias:
            self._follow(backfill)
        checkpoint.state = "done"
        backfill.note("submitted")
        return checkpoint, self._prune_count

    def _check(self) -> None:
        """Refuse an impossible request before anything is written."""
        check_fields(self._source)
        if (into := self._into) in {part.index for part in self._source.parts()}:
            is_alias = f"{self._settings.index!r} is already an alias of {into!r}"
            what = is_alias if self._source.alias else f"{into!r} is the index to be copied"
            raise UsageError(what, "name a new one with --into")
        if self._alias:
            self._copy.check_alias(self._alias)

    def _checkpoint(self, checkpoint: Checkpoint | None) -> Checkpoint:
        tables = Tables(self._settings.tables, self._settings.index)
        if not self._settings.broker:
            look_through(self._source, tables, self._settings.index, self._into)
        into, (source, *_) = self._into, [part.index for part in self._source.parts()]
        if self._copy.exists() and (checkpoint is not None or not self._copy.is_unfilled()):
            if checkpoint is None or checkpoint.source != source:
                raise UsageError(f"index {into!r} already exists", "name a new one with --into")
            if not checkpoint.signs_alike(tables):
                what = f"index {into!r} was started with another idf table"
                raise UsageError(what, "delete it, or name a new one with --into")
            return checkpoint
        deletions = self._source.deletions()
        self._copy.create()
        self._engine.create()
        now = dict(tables.current())
        return Checkpoint(new_run(), time.time(), source, into, tables=now, deletions=deletions)

    def _follow(self, backfill: Backfill) -> None:
        """Copy the writes that reached the original index while the alias moved."""
        last_marks: Marks | None = None
        for _ in range(MAX_LOOKS):
            if (now := self._source.newest()) == last_marks:
                return
            backfill.sign(now, switch_marks=parse_marks(backfill.checkpoint.marks))
            self._prune(backfill, after_swap=True)
            self._records.copy_changes()
            last_marks = now
            time.sleep(ON_THE_WAY)

    def _prune(self, backfill: Backfill, *, after_swap: bool = False) -> None:
        """Delete from the new index the documents that were deleted from the original one."""
        checkpoint = backfill.checkpoint
        deletions = self._source.deletions()
        if deletions != checkpoint.deletions:
            self._prune_count += self._copy.prune(parse_marks(checkpoint.marks) if after_swap else self._copy.newest())
            checkpoint.deletions = deletions
