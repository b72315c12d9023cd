"""Differences of two idf tables: the order of their terms, and the fingerprints that change (Conrad 2003, 6.2).

A signature is only as stable as the table behind it. Spearman's rank correlation (the paper's formula 2, with ties)
measures the similarity of two tables, but hides its effect: at .99 one short fingerprint in six changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.idf.table import ABSENT, Table
from ibidem_ingest.signatures.feature_set import candidates
from ibidem_ingest.text.tokens import tokens

LENGTHS = range(1, 31)  # lengths of fingerprints that are compared, in terms: those of the paper's Figures 1 to 4

Ranks = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of the order of terms in two tables."""

    common: int  # number of terms that both hold
    spearman: float | None  # spearman's rank correlation of their idf; 1 for the same order, None with fewer than two


def correlation(a: Table, b: Table) -> Correlation:
    """Correlate the ranks of the terms that two tables have in common.

    >>> old = Table.build("en", 1000, {"tort": 5, "lien": 7, "court": 600}, "old")
    >>> new = Table.build("en", 1100, {"tort": 8, "lien": 7, "court": 650, "byte": 9}, "new")
    >>> correlation(old, new)
    Correlation(common=3, spearman=0.5)
    """
    rank = b.ranks(a.hashes())
    common = rank != ABSENT
    if np.count_nonzero(common) < 2:
        return Correlation(int(np.count_nonzero(common)), None)
    left, right = average_ranks(a.counts[common]), average_ranks(b.counts[rank[common]])
    if not (left.std() and right.std()):
        return Correlation(left.size, None)
    return Correlation(left.size, round(float(np.corrcoef(left, right)[0, 1]), 4))


def average_ranks(values: NDArray[np.float64]) -> Ranks:
    """Rank values; ties get their mean rank.

    >>> average_ranks(np.array([5.0, 7.0, 5.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    ranks: Ranks = (ends - (count - 1) / 2)[place]
    return ranks


def changed_fingerprints(texts: Iterable[str], a: Table, b: Table) -> Mapping[int, float]:
    """Return the share of fingerprints that differ between two tables, for fingerprints of 1 to 30 terms.

    A fingerprint of n terms is the n rarest terms in the order of their idf, as far as the text has so many.
    """
    differ = np.zeros(len(LENGTHS), np.int64)
    counts = 0
    for text in texts:
        words = tokens(text)
        left, right = ([each.term for each in candidates(words, table)[0]] for table in (a, b))
        differ += [not equal for equal in equal_prefixes(left, right)]
        counts += 1
    return (
        {length: round(int(count) / counts, 4) for length, count in zip(LENGTHS, differ, strict=True)} if counts else {}
    )


def equal_prefixes(left: list[str], right: list[str]) -> Iterable[bool]:
    """Yield for each length whether the first terms are the same in the same order."""
    pairs = (left[at : at + 1] == right[at : at + 1] for at in range(len(LENGTHS)))
    return accumulate(pairs, lambda prefix, pair: prefix and pair)
