"""Window of a ranking: the hits that were read, their packed columns, groups and evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
import xxhash

from ibidem.grouped_search.passage import NO_OVERLAPS, Overlaps
from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.overrides import AppliedOverrides, DocumentRef, Override, Pair, PairConstraints, apply_overrides
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, encode_pairs, pair_keys
from ibidem_dedupe.policy import Policy
from ibidem_engines.stored_groups import Hit, HitNames, read_packed
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import LONG, MISSING, PackedColumns


@dataclass(frozen=True, slots=True)
class MemberOrder:
    """The order of a thread or work below the document on top."""

    # Rows of the others: inclusive mails, or later versions, first, so that these are shown where few are.
    rows: tuple[int, ...]
    places: Mapping[int, int]  # place of each in the list
    depths: Mapping[int, int]  # how deep each is indented, from 1


class WindowMembers(Protocol):
    """Threads or works by which a window is grouped: the hook `window_members` of a side package."""

    is_ordered: bool  # whether the document on top is the current one

    def set_name(self, row: int) -> str:
        """Return the thread or work of a row; empty for other documents."""

    def top(self, rows: Sequence[int]) -> int:
        """Return the row to show on top."""

    def order(self, rows: Sequence[int], top: int) -> MemberOrder:
        """Return the other rows in display order."""

    def mark(self, row: int, others: Sequence[int] | None) -> dict[str, Any]:
        """Return what the hit of a row says of it; a lead gets the other rows of its group."""

    def why(self, row: int) -> dict[str, Any] | None:
        """Return why a row belongs to its thread or work."""

    def stats(self, ranked: int) -> dict[str, Any]:
        """Return the account's counts of the ranked rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """The top of a ranking, grouped; documents found by a wider scope may follow."""

    hits: Sequence[Hit]  # in rank order, then those found
    ranked: int  # how many of them are the ranking's
    policy: Policy  # the decision for a pair
    columns: PackedColumns  # their packed values, maybe with those of rows that were cut off
    overrides: AppliedOverrides  # manual decisions about pairs of them
    grouping: Grouping  # lead of each row, with the evidence
    matcher: LongTextMatcher  # decides on pairs
    # Names of groups that are stored, by the row of their first occurrence.
    group_names: Mapping[int, str] = field(default_factory=dict)
    overlaps: Overlaps = field(default_factory=dict)  # pairs of rows that overlap in their document
    # The stored memberships of its documents, if they are grouped by thread or work.
    members: WindowMembers | None = None

    @classmethod
    def group(  # noqa: PLR0913 - what follows a ranking, by name
        cls,
        hits: Sequence[Hit],
        policy: Policy,
        overrides: Iterable[Override] = (),
        *,
        ranked: int = -1,
        long_signatures: LongSignatureCache | None = None,
        candidates: Iterable[Pair] = (),
        overlaps: Overlaps = NO_OVERLAPS,
        alone: bool = False,
    ) -> "Window":
        columns = PackedColumns.decode(read_packed(hits))
        names = HitNames(hits)
        applied_overrides = apply_overrides(overrides, names, columns)
        matcher = LongTextMatcher(names, cache(columns.unpack_row), policy)
        matcher = matcher if long_signatures is None else replace(matcher, long_signatures=long_signatures)
        looked_up = pair_keys(encode_pairs(frozenset(candidates), len(hits)), len(hits))
        constraints = applied_overrides.constraints
        if overlaps:
            must_link = constraints.same | {(a, b) for a, b in overlaps if a < b}
            constraints = PairConstraints(must_link, constraints.different)
        grouping = Grouping.alone(len(hits)) if alone else group(columns, policy, constraints, matcher, looked_up)
        ranked = len(hits) if ranked < 0 else ranked
        return cls(hits, ranked, policy, columns, applied_overrides, grouping, matcher, overlaps=overlaps)

    def head(self, rows: int) -> "Window":
        """Return the first rows of the window, with the same groups."""
        if rows >= len(self.hits):
            return self
        grouping = Grouping(self.grouping.lead[:rows], self.grouping.evidence[:rows], self.grouping.crowded[:rows])
        overlaps = {pair: each for pair, each in self.overlaps.items() if max(pair) < rows}
        first = replace(self, hits=self.hits[:rows], ranked=rows, overrides=self.overrides.head(rows))
        return replace(first, grouping=grouping, overlaps=overlaps)

    def regroup(self, kind: str, members: WindowMembers, overrides: Iterable[Override]) -> "Window":
        """Group rows by stored threads or works, and the other rows by their texts."""
        names = [members.set_name(row) for row in range(len(self.hits))]
        grouping, first = Grouping.alone(len(names)), {name: row for row, name in reversed([*enumerate(names)])}
        grouping.lead[:] = [first[name] if name else row for row, name in enumerate(names)]
        others = np.array([row for row, name in enumerate(names) if not name], np.int64)
        if others.size:
            alone = Window.group([self.hits[row] for row in others.tolist()], self.policy, overrides).grouping
            grouping.lead[others], grouping.evidence[others] = others[alone.lead], alone.evidence
            grouping.crowded[others] = alone.crowded
        ids = {row: xxhash.xxh3_64_hexdigest(f"{kind}\0{name}".encode())[:12] for name, row in first.items() if name}
        return replace(self, grouping=grouping, group_names=ids, members=members)

    def name(self, row: int) -> DocumentRef:
        return self.hits[row].index, self.hits[row].id

    def group_id(self, lead: int) -> str:
        """Return the id of a row's group; it stays the same while the row is the group's first occurrence."""
        if lead in self.group_names:
            return self.group_names[lead]
        parts = (self.hits[lead].index, self.policy.level, self.hits[lead].id)
        return xxhash.xxh3_64_hexdigest("\0".join(parts).encode())[:12]

    def may_need_long(self, row: int) -> bool:
        """Return whether a row has long signatures that the policy uses."""
        has_relations = self.policy.level == "partial" and self.policy.related is not None
        return has_relations and bool(self.columns.flags[row] & LONG)

    def long_signatures(self, row: int) -> LongSignatures | None:
        return self.matcher.long_signatures.get(self.name(row)) if self.may_need_long(row) else None

    def evidence(self, row: int, other_row: int) -> Evidence | None:
        """Return the evidence for two rows: an overlap, else signatures, else a manual decision."""
        word = self.overrides.valid.get((min(row, other_row), max(row, other_row)))
        if word is not None and word.verdict == "not":
            return None
        if (overlap := self.overlaps.get((row, other_row))) is not None:
            return overlap.evidence
        evidence = self.matcher.evidence(row, other_row)
        return evidence or (word.evidence(self.policy.level) if word else None)

    @property
    def lacks_signatures(self) -> bool:
        """Whether any ranked hit has no packed value."""
        return bool((read_packed(self.hits).size[: self.ranked] == MISSING).any())

    @property
    def unsigned_count(self) -> int:
        """Number of ranked hits without signatures, or without words to sign."""
        return int(np.count_nonzero(self.columns.length[: self.ranked] == 0))
