"""Figures of a collection, counted without labels, and the rule that its documents can be trusted with.

Runs of characters and rare terms find misread copies, and join unlike texts where nothing is misread. A pair does not
show which of the two it is, a collection does: of the documents with a noise block, at most .03 have many unknown words
in collections of clean text, and at least .16 in scanned ones. Likewise, long texts that share few runs are versions of
one text where such pairs are about as frequent as closer ones; where they are more frequent, they share a form.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ibidem_dedupe.column_rules import Rows
from ibidem_dedupe.pair_rules import SLICE
from ibidem_dedupe.pairs import CandidateRanges, count_earlier, expand_pairs
from ibidem_dedupe.policy import CLEAN, LONG_TOKENS, MISREAD, Policy, Slots
from ibidem_dedupe.shared_keys import build_key_index
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.minhash import BAND_ROWS, found_share
from ibidem_ingest.signatures.noise import SLOTS
from ibidem_ingest.signatures.noise_columns import is_noisy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.schema import BANDS
from ibidem_ingest.signatures.schema import SLOTS as SLOTS_OF_TEXT

MIN_DOCUMENTS = 200  # with a noise block, below which a collection counts as clean
UNKNOWN, UNKNOWN_DENSE = 0.10, 0.35  # the least share of unknown words, or bigrams, of a document that looks misread
MISREAD_SHARE = 0.08  # the least share of such documents in a misread collection
LEAVE_MISREAD, BECOME_MISREAD = 0.03, 0.16  # the shares at which the rule of an index changes

CLOSE = (50, 65)  # equal slots of pairs that are versions in any collection
MIN_CLOSE = 40  # long pairs of 50 equal slots or more, below which the figure of long texts stays
STEPS = ((40, 50), (30, 40), (20, 30))  # equal slots of pairs that may be versions, the closest first
MORE_FREQUENT = 1.3  # how many times as frequent as close pairs are those that only share a form
MIN_LONG = 25  # the fewest equal slots of long texts
PARTNERS = 100  # texts before it with which a text is paired by one band, so that a crowded band costs no square

_RUNS_ALONE = replace(CLEAN, fingerprint=None, characters=None)


@dataclass(frozen=True, slots=True)
class CollectionFigures:
    """Figures of a collection."""

    blocks: int  # documents with a noise block
    misread: int  # how many of them look misread
    long: int  # the least number of equal slots of two long texts

    @classmethod
    def count(cls, columns: PackedColumns) -> Self:
        """Count the figures of signed documents."""
        misread = is_noisy(columns.noise, UNKNOWN, UNKNOWN_DENSE)
        return cls(int((columns.noise[:, SLOTS] > 0).sum()), int(misread.sum()), min_long_slots(columns))

    @property
    def share(self) -> float:
        """Share of the documents that look misread; 0 where too few have a noise block."""
        return self.misread / self.blocks if self.blocks >= MIN_DOCUMENTS else 0.0

    def policy(self, earlier: Policy | None = None) -> Policy:
        """Return the rule for the collection; that of an index changes only where the share is clear.

        >>> CollectionFigures(1000, 90, 50).policy().terms is None
        False
        >>> CollectionFigures(1000, 90, 50).policy(CLEAN).terms is None
        True
        """
        if earlier is not None and earlier.terms is not None:
            base = MISREAD if self.share > LEAVE_MISREAD else CLEAN
        else:
            base = MISREAD if self.share >= (BECOME_MISREAD if earlier else MISREAD_SHARE) else CLEAN
        return replace(base, slots=Slots(long=None if self.long == CLOSE[0] else self.long))


def min_long_slots(columns: PackedColumns) -> int:
    """Return the least number of equal slots of two long texts that are versions of one text."""
    found = np.zeros(SLOTS_OF_TEXT + 1)
    for equal in long_pairs(columns):
        found += np.bincount(equal, minlength=len(found))
    pairs = found * np.array([1 / max(0.01, found_share(equal)) for equal in range(len(found))])
    if pairs[CLOSE[0] :].sum() < MIN_CLOSE:
        return CLOSE[0]
    least = CLOSE[0]
    for first, end in STEPS:
        if pairs[first:end].mean() > MORE_FREQUENT * pairs[slice(*CLOSE)].mean():
            break
        least = first
    return max(MIN_LONG, least)


def long_pairs(columns: PackedColumns) -> Iterator[Rows]:
    """Yield, in portions, the equal slots of pairs of long texts that share a band."""
    if loops.IN_USE is None:
        rows = np.flatnonzero((columns.length >= LONG_TOKENS) & (columns.slot_count > 0))
        for at, row in enumerate(rows.tolist()):
            equal = columns.slots[rows[:at]] == columns.slots[row]
            bands = equal[:, : BAND_ROWS * BANDS].reshape(at, BANDS, BAND_ROWS)
            yield equal.sum(axis=1)[bands.all(axis=2).any(axis=1)]
        return
    entries = build_key_index(columns, _RUNS_ALONE, columns.length < LONG_TOKENS)
    ranges = CandidateRanges.build(entries, np.minimum(count_earlier(entries), PARTNERS))
    for pairs in expand_pairs(entries, ranges, len(columns)):
        for start in range(0, len(pairs), SLICE):
            a, b = np.divmod(pairs[start : start + SLICE], len(columns))
            yield (columns.slots[a] == columns.slots[b]).sum(axis=1)
