"""Feature set: the 60 terms with the highest idf (Conrad, Guo and Schriber 2003, section 7).

A term is coded as its rank in the idf table, so a sorted set has its rarest terms first. A document with 20 to 59
candidates is padded with its terms that are not in the table, coded by hash above the table's range, lowest code first.
With fewer than 20 there is no set. Score = |A ∩ B| / min(|A|, |B|); the minimum is ours.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ibidem_ingest.idf.rarest_terms import RarestTerms, candidates
from ibidem_ingest.idf.table import Table

TERMS = 60
LEAST = 20
_CODES = 1 << 24


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


def sign_batch(rarest: RarestTerms, table: Table) -> list[FeatureSet]:
    """Collect the feature sets of several documents, as `sign` does each."""
    counts = np.minimum(np.diff(rarest.offsets), TERMS)
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - counts, counts)
    ranks = rarest.rank.take(np.repeat(rarest.offsets[:-1], counts) + within).tolist()
    strange, bounds = rarest.strange, rarest.strange_offsets
    return [
        FeatureSet(tuple(ranks[start:end]), full=True)
        if end - start == TERMS
        else _set(ranks[start:end], strange[bounds[document] : bounds[document + 1]].tolist(), table.size)
        for document, (start, end) in enumerate(pairwise([0, *ends.tolist()]))
    ]


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
