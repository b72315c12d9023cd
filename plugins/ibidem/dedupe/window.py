"""Window: the hits that were read, their packed columns, groups and evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xxhash

from ibidem.dedupe.leader_clustering import Grouping, group
from ibidem.dedupe.long_texts import LongSignatureCache, LongTextMatcher, no_long_signatures
from ibidem.dedupe.overrides import AppliedOverrides, DocumentRef, Override, Pair, apply_overrides
from ibidem.dedupe.pairs import encode_pairs, pair_keys
from ibidem_engines.engine import Hit
from ibidem_engines.hit_columns import HitNames, packed_of
from ibidem_ingest.pairs.decision import Evidence, Policy
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import LONG, Packed
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.packed_values import MISSING


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """The top of a ranking, grouped; documents that a scope found may be behind it.

    Args:
        hits: In rank order, then those found.
        ranked: How many of them are the ranking's.
        policy: The decision for a pair.
        columns: Their packed values, maybe with those of rows that were cut off.
        spoken: Manual decisions about pairs of them.
        grouping: Who joins whom.
        related: Who decides on pairs.
        stored: Names of groups that are stored, by the row of their first occurrence.
    """

    hits: Sequence[Hit]
    ranked: int
    policy: Policy
    columns: PackedColumns
    spoken: AppliedOverrides
    grouping: Grouping
    related: LongTextMatcher
    stored: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(  # noqa: PLR0913 - what follows a ranking, by name
        cls,
        hits: Sequence[Hit],
        policy: Policy,
        overrides: Iterable[Override] = (),
        *,
        ranked: int = -1,
        long_signatures: LongSignatureCache | None = None,
        suspected: Iterable[Pair] = (),
    ) -> "Window":
        """Group hits.

        Args:
            hits: In rank order, then those that a scope found.
            policy: The decision for a pair.
            overrides: Manual decisions.
            ranked: How many hits are the ranking's; all when negative.
            long_signatures: Long signatures, for `partial`; without them long texts are at most `near`.
            suspected: Pairs of rows that a look-up brought together.
        """
        columns = PackedColumns.of(packed_of(hits))
        names = HitNames(hits)
        spoken = apply_overrides(overrides, names, columns)
        related = LongTextMatcher(
            names,
            columns.packed,
            policy,
            LongSignatureCache(no_long_signatures) if long_signatures is None else long_signatures,
        )
        looked_up = pair_keys(encode_pairs(frozenset(suspected), len(hits)), len(hits))
        grouping = group(columns, policy, spoken.said, related, looked_up)
        return cls(hits, len(hits) if ranked < 0 else ranked, policy, columns, spoken, grouping, related)

    def first(self, rows: int) -> "Window":
        """Return the first rows of the window; their groups are the same without what follows."""
        if rows >= len(self.hits):
            return self
        grouping = Grouping(self.grouping.lead[:rows], self.grouping.evidence[:rows], self.grouping.crowded[:rows])
        return replace(self, hits=self.hits[:rows], ranked=rows, spoken=self.spoken.within(rows), grouping=grouping)

    def name(self, row: int) -> DocumentRef:
        """Return index and id of a row."""
        return self.hits[row].index, self.hits[row].id

    def group_id(self, lead: int) -> str:
        """Return the name of the group that begins with a row: it stays while that is the group's first occurrence."""
        if lead in self.stored:
            return self.stored[lead]
        parts = (self.hits[lead].index, self.policy.level, self.hits[lead].id)
        return xxhash.xxh3_64_hexdigest("\0".join(parts).encode())[:12]

    def packed(self, row: int) -> Packed | None:
        """Return a row's packed value; None when it is not signed."""
        return self.columns.packed(row)

    def read_long(self, rows: Iterable[int]) -> None:
        """Read the long signatures of rows, where they matter, all in one go."""
        if self.policy.level == "partial" and self.policy.related is not None:
            self.related.want(row for row in rows if self.columns.flags[row] & LONG)

    def long(self, row: int) -> LongSignatures | None:
        """Return a row's long signatures, where they matter."""
        wanted = self.policy.level == "partial" and self.policy.related is not None
        return self.related.long_signatures.of(self.name(row)) if wanted and self.columns.flags[row] & LONG else None

    def evidence(self, row: int, other: int) -> Evidence | None:
        """Return what makes two rows duplicates: the signatures' evidence, or a manual decision where there is none."""
        word = self.spoken.valid.get((min(row, other), max(row, other)))
        if word is not None and word.verdict == "not":
            return None
        evidence = self.related.evidence(row, other)
        return evidence or (word.evidence(self.policy.level) if word else None)

    @property
    def lacks_signatures(self) -> bool:
        """Whether some ranked hit carries no packed value at all."""
        return bool((packed_of(self.hits).size[: self.ranked] == MISSING).any())

    @property
    def unsigned(self) -> int:
        """How many ranked hits carry no signatures, or have no words to sign."""
        return int(np.count_nonzero(self.columns.length[: self.ranked] == 0))
