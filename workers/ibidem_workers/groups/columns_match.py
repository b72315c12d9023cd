"""Joins of many new documents, computed from the columns of all leads of the index.

Columns of stored documents: the data for settling very many documents at once. A row takes some 700 bytes of columns,
and about 150 for its id and its group. Columns beyond a limit are files that are mapped into memory; the groups are the
same.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from ibidem_core.errors import Permanent
from ibidem_dedupe.column_rules import Rows
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.stored_groups import GroupedDocument, Marks, SeqNoRange
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.settle import Join, LeadChanged, Match, Row, Rules

EMPTY = PackedColumns.decode([])
ARRAYS = [each.name for each in fields(PackedColumns) if each.name not in ("values", "ids")]  # the columns themselves

# Bytes of a row in all columns.
ROW_BYTES = sum(array.itemsize * int(np.prod(array.shape[1:])) for array in (getattr(EMPTY, name) for name in ARRAYS))

NO_GROUP = xxh3_64_intdigest(b"")  # hash of the group of a document that has none

MAX_BYTES = 1 << 30  # bytes of columns that are held in memory


class StoredColumns(ExitStack):
    """Columns of the documents of an index, in order of addition, in temporary files."""

    def __init__(self, capacity: int, max_bytes: int = MAX_BYTES) -> None:
        super().__init__()
        self.names = Names()
        self.orders = np.zeros(capacity, np.int64)
        self.groups = np.zeros(capacity, np.uint64)
        self.leads = np.zeros(capacity, bool)
        self._values: list[bytes | None] = []  # as long as the plain definition reads them, without compiled loops
        try:
            is_mapped = capacity * ROW_BYTES > max_bytes
            folder = Path(self.enter_context(TemporaryDirectory(prefix="ibidem-"))) if is_mapped else None
            self._arrays = {name: _make_array(name, capacity, folder) for name in ARRAYS}
        except OSError as error:
            self.close()
            raise Permanent(
                f"no room for the columns of settling in the folder of temporary files: {error}",
                "free space there, or name another folder in TMPDIR",
            ) from error

    def __len__(self) -> int:
        return len(self.names)

    def add(self, documents: Sequence[GroupedDocument]) -> None:
        """Add documents; documents that no longer fit wait for the next settling."""
        start = len(self)
        documents = documents[: len(self.orders) - start]
        rows = slice(start, start + len(documents))
        decoded = PackedColumns.decode([each.packed for each in documents])
        for name, array in self._arrays.items():
            array[rows] = getattr(decoded, name)
        self.orders[rows] = [each.name.order for each in documents]
        self.groups[rows] = [xxh3_64_intdigest(each.group.encode()) for each in documents]
        self.leads[rows] = [each.lead for each in documents]
        self.names.add(documents)
        if loops.IN_USE is None:
            self._values += decoded.values

    def columns(self) -> PackedColumns:
        """Return the columns of all added rows."""
        size = len(self)
        arrays = {name: array[:size] for name, array in self._arrays.items()}
        return replace(EMPTY, values=tuple(self._values), ids=self.names.ids, **arrays)

    def find(self, name: DocumentRef, order: int, bounds: tuple[int, int]) -> int | None:
        """Return the row of a document's write; None if it is missing."""
        start, end = bounds
        row = start + int(np.searchsorted(self.orders[start:end], order))
        return row if row < end and self.names[row] == name else None


def _make_array(name: str, capacity: int, folder: Path | None) -> NDArray[Any]:
    like = getattr(EMPTY, name)
    shape = (capacity, *like.shape[1:])
    if folder is None or not capacity:
        return np.empty(shape, like.dtype)
    path = folder / name
    with path.open("wb") as file:  # allocated before mapping, so that a write never finds the disk full
        os.posix_fallocate(file.fileno(), 0, int(np.prod(shape)) * like.dtype.itemsize)
    return np.memmap(path, like.dtype, "r+", shape=shape)


class Names(Sequence[DocumentRef]):
    """Index and id of rows, in a third of the memory of pairs of strings."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._indices: list[str] = []

    def add(self, documents: Iterable[GroupedDocument]) -> None:
        """Add the names of documents; documents of one index share its name."""
        for each in documents:
            last = self._indices[-1] if self._indices else ""
            self._indices.append(last if last == each.name.index else each.name.index)
            self.ids.append(each.name.id)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, row: Any) -> Any:
        """Return index and id of a row."""
        return self._indices[row], self.ids[row]

    def __iter__(self) -> Iterator[DocumentRef]:
        return zip(self._indices, self.ids, strict=True)


SLICE = 5_000  # documents that are read at once

MAX_KEPT = 30_000  # new documents that are kept from the first reading to the second: some 30 MB of news stories

# Reads the first documents of a range, in the order of writing: `StoredGroups.leads` or `StoredGroups.documents`.
Read = Callable[[SeqNoRange, int], list[GroupedDocument]]


def match_columns(
    stored: StoredColumns,
    slices: tuple[Iterable[Sequence[GroupedDocument]], Iterable[Sequence[GroupedDocument]]],
    rules: Rules,
    heartbeat: Callable[[], None],
) -> Match:
    """Find the joins of all new documents; the slices are of the settled leads, then of the new documents."""
    leads, new = slices
    add(stored, leads, heartbeat)
    settled = len(stored)
    add(stored, new, heartbeat)
    columns = stored.columns()
    columns.length[_displaced_leads(stored, settled)] = 0
    constraints = rules.constraints(stored.names, columns)
    grouping = group(columns, rules.policy, constraints, leads=settled, report=lambda _: heartbeat())

    def match(rows: Sequence[Row], _: Marks) -> list[Join]:
        joins = []
        for row in rows:
            place = stored.find(row.name, row.order, (settled, len(stored)))
            if place is None:
                raise LeadChanged
            lead = int(grouping.lead[place])
            if lead != place:
                joins.append(Join(row.name, stored.names[lead], rules.level(grouping, place)))
        return joins

    return match


def add(stored: StoredColumns, slices: Iterable[Sequence[GroupedDocument]], heartbeat: Callable[[], None]) -> None:
    for documents in slices:
        stored.add(documents)
        heartbeat()


def read_slices(read: Read, seq_ranges: Iterable[SeqNoRange], size: int = SLICE) -> Iterator[list[GroupedDocument]]:
    for seq_range in seq_ranges:
        after = seq_range.after
        while after < seq_range.end and (documents := read(SeqNoRange(seq_range.part, after, seq_range.end), size)):
            yield documents
            after = documents[-1].name.order if len(documents) == size else seq_range.end


def keeping(read: Read, room: int = MAX_KEPT) -> Read:
    """Return a reader that keeps a limited number of documents for a second read.

    What is kept may have changed since: a write onto it then fails, and the document is settled as it is now.
    """
    kept: dict[tuple[SeqNoRange, int], list[GroupedDocument]] = {}

    def read_once(seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        if (documents := kept.pop((seq_range, size), None)) is None:
            documents = read(seq_range, size)
            if len(documents) + sum(map(len, kept.values())) <= room:
                kept[seq_range, size] = documents
        return documents

    return read_once


def _displaced_leads(stored: StoredColumns, settled_count: int) -> Rows:
    """Return the new rows whose group another document leads; they leave it and are settled like new ones."""
    groups = stored.groups[: len(stored)]
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rows = np.arange(len(groups))
    displaced: Rows = rows[((first[number] < rows) | (groups == NO_GROUP)) & (rows >= settled_count)]
    return displaced
