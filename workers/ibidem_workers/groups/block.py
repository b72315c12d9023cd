"""Block of documents that are settled together against unchanging leads, by the rules of a window.

Documents are taken in the order of writing. Each joins the first lead that it duplicates, or becomes a lead; it is
compared with leads alone, so there are no chains. Leads before the block come first, in the order of their writes. So
any cut into blocks gives the same groups as one pass over all documents.

Manual decisions on pairs are followed, unless one of the texts has changed since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ibidem_dedupe import evidence
from ibidem_dedupe.leader_clustering import Grouping, first_copies, group
from ibidem_dedupe.overrides import DocumentRef, Overrides, PairConstraints, apply_overrides
from ibidem_dedupe.pairs import PairClassifier
from ibidem_dedupe.policy import Level, Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns


@dataclass(frozen=True, slots=True)
class Row:
    name: DocumentRef  # its index and id
    order: int  # number of the write that it comes from
    value: bytes  # its packed signatures; empty when it was never signed


@dataclass(frozen=True, slots=True)
class Join:
    """The assignment of a document to a lead."""

    name: DocumentRef  # index and id of the document
    lead: DocumentRef  # index and id of the lead
    level: Level  # at which level the two are duplicates


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of settling, the same for look-ups and for columns."""

    policy: Policy  # the decision for a pair, which counts only pairs with a key that an index stores
    overrides: Overrides  # manual decisions

    def __post_init__(self) -> None:
        """Remove rules for pairs that no look-up finds."""
        object.__setattr__(self, "policy", replace(self.policy, indexed=True))

    def joins(self, leads: Sequence[Row], rows: Sequence[Row]) -> list[Join]:
        """Return the joins of a block; all its other documents become leads."""
        names = [row.name for row in (*leads, *rows)]
        columns, constraints = self._columns([*leads, *rows])
        grouping = group(columns, self.policy, constraints, leads=len(leads))
        return [
            Join(names[row], names[int(grouping.lead[row])], self.level(grouping, row))
            for row in np.flatnonzero(grouping.lead != np.arange(len(names))).tolist()
        ]

    def level(self, grouping: Grouping, row: int) -> Level:
        """Return the level at which a row duplicates its lead; for a manual decision the requested level."""
        return evidence.TABLE.level(int(grouping.evidence[row]), self.policy)

    def originals(self, leads: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
        """Return the rows that are not copies of a lead or of an earlier row, to look up leads for."""
        columns, constraints = self._columns([*leads, *rows])
        first = first_copies(columns, self.policy, len(leads), constraints)[len(leads) :]
        return [rows[at] for at in np.flatnonzero(first == len(leads) + np.arange(len(rows))).tolist()]

    def duplicates(self, lead: Row, rows: Sequence[Row]) -> list[bool]:
        columns, constraints = self._columns([lead, *rows])
        pairs = np.arange(1, len(rows) + 1) * (len(rows) + 1)
        found, _ = PairClassifier(columns, self.policy, constraints).decide(pairs)
        return [bool(each) for each in np.isin(pairs, found)]

    def _columns(self, rows: Sequence[Row]) -> tuple[PackedColumns, PairConstraints]:
        columns = PackedColumns.decode([row.value for row in rows])
        return columns, self.constraints([row.name for row in rows], columns)

    def constraints(self, names: Sequence[DocumentRef], columns: PackedColumns) -> PairConstraints:
        """Return the valid manual decisions, on pairs of rows."""
        return apply_overrides(self.overrides.words, names, columns).constraints
