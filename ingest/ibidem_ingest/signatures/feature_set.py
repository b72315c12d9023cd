"""Feature set: the 60 terms with the highest idf (Conrad, Guo and Schriber 2003, section 7).

A term is coded as its rank in the idf table, so a sorted set has its rarest terms first. A document with 20 to 59
candidates is padded with its terms that are not in the table, coded by hash above the table's range, lowest code first.
With fewer than 20 there is no set. Score = |A ∩ B| / min(|A|, |B|); the minimum is ours.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.idf.rarest_terms import RarestTerms, candidates
from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.word_hash import Places

Flags = NDArray[np.bool_]

TERMS = 60
LEAST = 20
_CODE_BITS = 24
_CODES = 1 << _CODE_BITS


class FeatureSet(NamedTuple):
    """The feature set of one document.

    Args:
        codes: Codes of 24 bits, ascending, at most 60; empty when there is no set.
        full: Whether all 60 are within the table's range.
    """

    codes: tuple[int, ...]
    full: bool


NONE = FeatureSet((), full=False)


def sign(tokens: Sequence[str], table: Table) -> FeatureSet:
    """Collect the feature set of one document.

    Args:
        tokens: Its tokens.
        table: The idf table of its language.

    >>> words = [f"{a}{b}" for a in "abcd" for b in ("one", "two", "six", "ten", "ate")]
    >>> table = Table.of("en", 99, {word: 5.0 for word in words}, "twenty words")
    >>> sign(words, table).codes[:3], sign(words[1:], table).codes
    ((0, 1, 2), ())
    """
    known, strange = candidates(tokens, table)
    return _set([candidate.rank for candidate in known[:TERMS]], strange, table.size)


class FeatureColumns(NamedTuple):
    """The feature sets of several documents.

    Args:
        codes: Their codes, document by document, ascending within each.
        counts: (n,) how many each has.
        full: (n,) whether all 60 are within the table's range.
    """

    codes: Places
    counts: Places
    full: Flags

    def rows(self) -> list[FeatureSet]:
        """Return the feature sets document by document."""
        codes, ends = self.codes.tolist(), self.counts.cumsum().tolist()
        bounds = zip([0, *ends], ends, self.full.tolist(), strict=False)
        return [FeatureSet(tuple(codes[start:end]), full) for start, end, full in bounds]


def none_batch(documents: int) -> FeatureColumns:
    """Return the value for documents without feature sets."""
    return FeatureColumns(np.zeros(0, np.int64), np.zeros(documents, np.int64), np.zeros(documents, bool))


def sign_batch(rarest: RarestTerms, table: Table) -> FeatureColumns:
    """Collect the feature sets of several documents, as `sign` does each."""
    counts = np.minimum(np.diff(rarest.offsets), TERMS)
    full = counts == TERMS
    counts[counts < LEAST] = 0
    known = np.repeat(np.arange(counts.size), counts) << _CODE_BITS
    known |= rarest.rank.take(_first(rarest.offsets[:-1], counts))
    pads = _pads(rarest, table.size, np.where(full | (counts == 0), 0, TERMS - counts))
    codes = np.concatenate((known, pads))
    codes.sort()
    return FeatureColumns(codes & (_CODES - 1), np.bincount(codes >> _CODE_BITS, minlength=counts.size), full)


def _pads(rarest: RarestTerms, size: int, room: Places) -> Places:
    """Code terms that are not in the table, the lowest codes of each document that has room.

    Returns:
        The document's number, and in the lowest bits the code; ascending.
    """
    open_ = np.where(room > 0, np.diff(rarest.strange_offsets), 0)
    strange = rarest.strange.take(_first(rarest.strange_offsets[:-1], open_))
    codes = np.uint64(size) + strange % np.uint64(_CODES - size)
    keys = np.unique(np.repeat(np.arange(room.size), open_) << _CODE_BITS | codes.view(np.int64))
    counts = np.bincount(keys >> _CODE_BITS, minlength=room.size)
    return keys.take(_first(counts.cumsum() - counts, np.minimum(counts, room)))


def _first(starts: Places, counts: Places) -> Places:
    """Return the places of so many entries from each start on."""
    ends = counts.cumsum()
    places: Places = np.arange(counts.sum())
    places += np.repeat(starts - ends + counts, counts)
    return places


def score(a: FeatureSet, b: FeatureSet) -> float:
    """Return the share of the smaller set that both have; 0.0 when a document has none.

    >>> score(FeatureSet((1, 2, 3), full=False), FeatureSet((2, 3, 4, 5), full=False))
    0.6666666666666666
    """
    smaller = min(len(a.codes), len(b.codes))
    return len(set(a.codes) & set(b.codes)) / smaller if smaller else 0.0


def shares(a: FeatureSet, b: FeatureSet, least: int) -> bool:
    """Return whether two sets share at least `least` terms, comparing the rarest first.

    It stops as soon as the rest cannot reach, or need not; the paper needed 15 comparisons on average.

    >>> shares(FeatureSet((1, 2, 3), full=False), FeatureSet((2, 3, 4), full=False), 2)
    True
    """
    shared = left = right = 0
    while shared < least:
        if shared + min(len(a.codes) - left, len(b.codes) - right) < least:
            return False
        mine, other = a.codes[left], b.codes[right]
        shared += mine == other
        left += mine <= other
        right += other <= mine
    return True


def _set(ranks: list[int], strange: Sequence[int], size: int) -> FeatureSet:
    if len(ranks) < LEAST:
        return NONE
    pads = sorted({size + hash_ % (_CODES - size) for hash_ in strange})[: TERMS - len(ranks)]
    return FeatureSet((*ranks, *pads), full=len(ranks) == TERMS)
