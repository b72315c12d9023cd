"""Joins of many new documents, computed from the columns of all leads of the index."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ibidem_dedupe.column_rules import Rows
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_engines.stored_groups import GroupedDocument, Marks, SeqNoRange, StoredGroups
from ibidem_workers.groups.block import Join, Row, Rules
from ibidem_workers.groups.settle import LeadChanged
from ibidem_workers.groups.stored_columns import NO_GROUP, StoredColumns

SLICE = 5_000  # documents that are read at once

MAX_KEPT = 30_000  # new documents that are kept from the first reading to the second: some 30 MB of news stories

# Reads the first documents of a range, in the order of writing: `StoredGroups.leads` or `StoredGroups.documents`.
Read = Callable[[SeqNoRange, int], list[GroupedDocument]]


@dataclass(frozen=True, eq=False, slots=True)
class ColumnsMatch:
    """Precomputed joins of all new documents."""

    stored: StoredColumns  # the settled leads, then the new documents
    settled: int  # the number of settled leads
    grouping: Grouping  # the lead of each row
    rules: Rules  # the rules that rows were settled by

    @classmethod
    def find(
        cls,
        stored: StoredColumns,
        slices: tuple[Iterable[Sequence[GroupedDocument]], Iterable[Sequence[GroupedDocument]]],
        rules: Rules,
        heartbeat: Callable[[], None],
    ) -> "ColumnsMatch":
        """Find the joins of new documents."""
        leads, new = slices
        add(stored, leads, heartbeat)
        settled = len(stored)
        add(stored, new, heartbeat)
        columns = stored.columns()
        columns.length[_displaced_leads(stored, settled)] = 0
        constraints = rules.constraints(stored.names, columns)
        grouping = group(columns, rules.policy, constraints, leads=settled, report=lambda _: heartbeat())
        return cls(stored, settled, grouping, rules)

    def __call__(self, rows: Sequence[Row], marks: Marks) -> list[Join]:
        """Return the joins of new documents, in the order of writing."""
        del marks
        joins = []
        for row in rows:
            place = self.stored.find(row.name, row.order, (self.settled, len(self.stored)))
            if place is None:
                raise LeadChanged
            lead = int(self.grouping.lead[place])
            if lead != place:
                joins.append(Join(row.name, self.stored.names[lead], self.rules.level(self.grouping, place)))
        return joins


def add(stored: StoredColumns, slices: Iterable[Sequence[GroupedDocument]], heartbeat: Callable[[], None]) -> None:
    """Add documents slice by slice."""
    for documents in slices:
        stored.add(documents)
        heartbeat()


def count_leads(store: StoredGroups, seq_ranges: Iterable[SeqNoRange]) -> int:
    """Count the leads of some ranges."""
    return sum(store.count_leads(each) for each in seq_ranges)


def read_slices(read: Read, seq_ranges: Iterable[SeqNoRange], size: int = SLICE) -> Iterator[list[GroupedDocument]]:
    """Read the documents of some ranges, slice by slice."""
    for seq_range in seq_ranges:
        after = seq_range.after
        while after < seq_range.end and (documents := read(SeqNoRange(seq_range.part, after, seq_range.end), size)):
            yield documents
            after = documents[-1].name.order if len(documents) == size else seq_range.end


@dataclass(eq=False, slots=True)
class SliceCache:
    """Reader of ranges that caches a limited number of documents for a second read.

    What is kept may have changed since: a write onto it then fails, and the document is settled as it is now.
    """

    read: Read  # reads the first documents of a range
    room: int = MAX_KEPT  # documents that may still be kept
    _kept: dict[tuple[SeqNoRange, int], list[GroupedDocument]] = field(default_factory=dict)

    def __call__(self, seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        """Return the first documents of a range, at most `size` of them."""
        if (kept := self._kept.pop((seq_range, size), None)) is not None:
            return kept
        documents = self.read(seq_range, size)
        if len(documents) <= self.room:
            self.room -= len(documents)
            self._kept[seq_range, size] = documents
        return documents


def _displaced_leads(stored: StoredColumns, settled_count: int) -> Rows:
    """Return the new rows whose group another document leads; they leave it and are settled like new ones."""
    groups = stored.groups[: len(stored)]
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rows = np.arange(len(groups))
    displaced: Rows = rows[((first[number] < rows) | (groups == NO_GROUP)) & (rows >= settled_count)]
    return displaced
