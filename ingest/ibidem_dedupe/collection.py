"""Figures of a collection, counted without labels, and the rule that its documents can be trusted with.

Runs of characters and rare terms find misread copies, and join unlike texts where nothing is misread. A pair does not
show which of the two it is, a collection does: of the documents with a noise block, at most .03 have many unknown words
in collections of clean text, and at least .16 in scanned ones. Likewise, long texts that share few runs are versions of
one text where such pairs are about as frequent as closer ones; where they are more frequent, they share a form.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Self

import numpy as np

from ibidem_dedupe.column_rules import Bools, Figures, Rows, is_noisy
from ibidem_dedupe.pairs import (
    SLICE,
    CandidateRanges,
    build_key_index,
    count_earlier,
    expand_pairs,
    pairs_sharing_values,
)
from ibidem_dedupe.policy import CLEAN, LONG_TOKENS, MISREAD, Policy, Slots
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.minhash import found_share
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.schema import SLOTS

LEAVE_MISREAD, BECOME_MISREAD = 0.03, 0.16  # the shares at which the rule of an index changes

VERSION_SLOTS = slice(50, 65)  # equal slots of pairs that are versions in any collection
MIN_CLOSE = 40  # long pairs of 50 equal slots or more, below which the figure of long texts stays
STEPS = (40, 30, 20)  # equal slots, from which on and of nine more, of pairs that may be versions
MORE_FREQUENT = 1.3  # how many times as frequent as close pairs are those that only share a form
MIN_LONG = 25  # the fewest equal slots of long texts
PARTNERS = 100  # texts before it with which a text is paired by one band, so that a crowded band costs no square

RUNS_ALONE = replace(CLEAN, fingerprint=None, characters=None)


@dataclass(frozen=True, slots=True)
class CollectionFigures:
    blocks: int  # documents with a noise block
    misread: int  # how many of them look misread
    long: int | None  # the least number of equal slots of two long texts; None: as many as of others

    @classmethod
    def count(cls, columns: PackedColumns) -> Self:
        """Count the figures of signed documents."""
        blocks = int((columns.noise[:, noise.SLOTS] > 0).sum())
        found = np.zeros(SLOTS + 1)
        for equal in long_pairs(columns):
            found += np.bincount(equal, minlength=len(found))
        return cls(blocks, int(look_misread(columns).sum()), least_long_slots(found))

    def policy(self, earlier: Policy | None = None) -> Policy:
        """Return the rule for the collection; that of an index changes only where the share is clear.

        >>> figures = CollectionFigures(1000, 90, None)
        >>> figures.policy() == MISREAD, figures.policy(CLEAN) == CLEAN
        (True, True)
        """
        share = self.misread / self.blocks if self.blocks >= noise.MIN_DOCUMENTS else 0.0
        if earlier is None:
            is_misread = share >= noise.MISREAD_SHARE
        else:
            is_misread = share > LEAVE_MISREAD if earlier.terms else share >= BECOME_MISREAD
        return replace(MISREAD if is_misread else CLEAN, slots=Slots(long=self.long))

    def rule(self, earlier: Policy | None) -> Policy | None:
        """Return the policy, as above; None where too few documents can be counted."""
        return self.policy(earlier) if self.blocks >= noise.MIN_DOCUMENTS else None


def choose_policy(columns: PackedColumns) -> Policy:
    """Return the policy of a collection without an index."""
    return CollectionFigures.count(columns).rule(None) or Policy()


def look_misread(columns: PackedColumns) -> Bools:
    """Return which documents look misread among others."""
    return is_noisy(columns.noise, noise.UNKNOWN, noise.UNKNOWN_DENSE)


def least_long_slots(found: Figures) -> int | None:
    """Return the least number of equal slots of two long texts that are versions of one text; None: as any.

    `found` is the number of pairs that have each number of equal slots.
    """
    pairs = found / np.array([max(0.01, found_share(equal)) for equal in range(len(found))])
    if pairs[VERSION_SLOTS.start :].sum() < MIN_CLOSE:
        return None
    limit = MORE_FREQUENT * pairs[VERSION_SLOTS].mean()
    versions = [*takewhile(lambda step: pairs[step : step + 10].mean() <= limit, STEPS)]
    return max(MIN_LONG, versions[-1]) if versions else None


def long_pairs(columns: PackedColumns) -> Iterator[Rows]:
    """Yield, in portions, the equal slots of pairs of long texts that share a band."""
    is_short = columns.length < LONG_TOKENS
    if loops.IN_USE is None:
        portions = pairs_sharing_values(columns, RUNS_ALONE, np.flatnonzero(~is_short), PARTNERS)
    else:
        entries = build_key_index(columns, RUNS_ALONE, is_short)
        ranges = CandidateRanges.build(entries, np.minimum(count_earlier(entries), PARTNERS))
        portions = expand_pairs(entries, ranges, len(columns))
    for pairs in portions:
        for start in range(0, len(pairs), SLICE):
            a, b = np.divmod(pairs[start : start + SLICE], len(columns))
            yield (columns.slots[a] == columns.slots[b]).sum(axis=1)
