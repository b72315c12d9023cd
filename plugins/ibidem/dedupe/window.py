"""A window of hits with its groups, and what can be said of a row in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xxhash

from ibidem.dedupe.grouping import Grouping, group
from ibidem.dedupe.overrides import Name, Override, Spoken, heard
from ibidem_engines.engine import Hit
from ibidem_ingest.decision import Evidence, Policy, decide
from ibidem_ingest.signatures.packed import Packed
from ibidem_ingest.signatures.packed_columns import PackedColumns


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """The top of a ranking, grouped; documents that a scope found may stand behind it.

    Args:
        hits: In rank order, then those found.
        ranked: How many of them are the ranking's.
        policy: The decision for a pair.
        columns: Their packed values, maybe with those of rows that were cut off.
        spoken: Readers' words about pairs of them.
        grouping: Who joins whom.
    """

    hits: Sequence[Hit]
    ranked: int
    policy: Policy
    columns: PackedColumns
    spoken: Spoken
    grouping: Grouping

    @classmethod
    def of(cls, hits: Sequence[Hit], policy: Policy, overrides: Iterable[Override] = (), ranked: int = -1) -> "Window":
        """Group hits.

        Args:
            hits: In rank order, then those that a scope found.
            policy: The decision for a pair.
            overrides: Readers' words.
            ranked: How many hits are the ranking's; all when negative.
        """
        columns = PackedColumns.of([hit.packed for hit in hits])
        spoken = heard(overrides, [(hit.index, hit.id) for hit in hits], columns)
        grouping = group(columns, policy, spoken.said)
        return cls(hits, len(hits) if ranked < 0 else ranked, policy, columns, spoken, grouping)

    def first(self, rows: int) -> "Window":
        """Return the first rows of the window; their groups are the same without what follows."""
        if rows >= len(self.hits):
            return self
        kept = Grouping(self.grouping.lead[:rows], self.grouping.evidence[:rows])
        return replace(self, hits=self.hits[:rows], ranked=rows, grouping=kept)

    def name(self, row: int) -> Name:
        """Return index and id of a row."""
        return self.hits[row].index, self.hits[row].id

    def group_id(self, lead: int) -> str:
        """Return the name of the group that begins with a row: it stays while that is the group's first occurrence."""
        parts = (self.hits[lead].index, self.policy.level, self.hits[lead].id)
        return xxhash.xxh3_64_hexdigest("\0".join(parts).encode())[:12]

    def packed(self, row: int) -> Packed | None:
        """Return a row's packed value; None when it is not signed."""
        return self.columns.packed(row)

    def evidence(self, row: int, other: int) -> Evidence | None:
        """Return what makes two rows duplicates: the signatures' evidence, or a reader's word where there is none."""
        word = self.spoken.valid.get((min(row, other), max(row, other)))
        if word is not None and word.verdict == "not":
            return None
        a, b = self.packed(row), self.packed(other)
        evidence = decide(a, b, self.policy) if a is not None and b is not None else None
        return evidence or (word.evidence(self.policy.level) if word else None)

    @property
    def unsigned(self) -> int:
        """How many ranked hits carry no signatures, or have no words to sign."""
        return int(np.count_nonzero(self.columns.length[: self.ranked] == 0))
