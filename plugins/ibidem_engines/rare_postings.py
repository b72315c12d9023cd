"""Postings of rare terms: the leads with each term, kept in memory while settling many documents.

An engine's look-up of the terms of one document costs as much as some leads to read, and more with each segment of its
index. The postings are held as sorted runs, of which two alike in size are merged (O'Neil et al. 1996, "The
log-structured merge-tree"), up to a bound: a document's terms are written again a few times, whatever the number of
documents.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem_engines.bloom_filter import marks

MAX_RUN = 1_000_000  # terms in a run that is merged no further, which would take the memory of both once more

SPARE = 1  # how many shared terms more than one a lead needs before its most frequent ones are looked at

AT_ONCE = 250_000  # carriers that are counted at once: bounds the memory

Words = NDArray[np.uint64]
Places = NDArray[np.int64]

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)

LAST_PLACE = 0xFFFFFFFF  # the highest number of a lead that can be held


class RarePostings:
    """The leads with each rare term."""

    def __init__(self) -> None:
        self._runs: list[Words] = []

    @property
    def size(self) -> int:
        """Number of stored terms, 8 bytes each."""
        return sum(each.size for each in self._runs)

    def learn(self, places: Sequence[int], terms: Sequence[Sequence[str]]) -> None:
        """Add leads."""
        values = marks([term for lead_terms in terms for term in lead_terms]).astype(np.uint64) << _HALF
        run = np.sort(values | np.repeat(np.array(places, np.uint64), [len(lead_terms) for lead_terms in terms]))
        if not run.size:
            return
        while self._runs and self._runs[-1].size <= min(2 * run.size, MAX_RUN - run.size):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        self._runs.append(run)

    def sharing(self, terms: Sequence[Sequence[str]], min_shared: Sequence[int]) -> list[Places]:
        """Return for each document the leads that share enough of its terms, ascending."""
        if not self._runs or not terms:
            return [np.empty(0, np.int64)] * len(terms)
        sizes = np.array([len(lead_terms) for lead_terms in terms], np.int64)
        values = marks([term for lead_terms in terms for term in lead_terms]).astype(np.uint64) << _HALF
        questions = _Asking(values, np.repeat(np.arange(len(terms)), sizes), np.array(min_shared))
        pairs = [questions.pairs(run) for run in self._runs]  # a lead's terms are all in one run
        rows, places = (np.concatenate([each[side] for each in pairs] or [np.empty(0, np.int64)]) for side in (0, 1))
        order = np.lexsort((places, rows))
        ends = np.searchsorted(rows[order], np.arange(1, len(terms)))
        return np.split(places[order], ends)


class _Asking:
    """The terms of some documents to look up."""

    def __init__(self, values: Words, owners: Places, min_shared: Places) -> None:
        self._values, self._owners, self._min_shared = values, owners, min_shared
        self._sizes = np.bincount(owners, minlength=len(min_shared))
        self._spare = np.minimum(SPARE, min_shared - 1)

    def pairs(self, run: Words) -> tuple[Places, Places]:
        """Return pairs of documents and leads of a run that share enough terms, each pair once.

        What shares `min_shared` of n terms shares one more than k of any n - `min_shared` + 1 + k. So the rarest are
        counted, and the others only looked through for what was found by them (Li, Lu, Lu 2008, "Efficient merging and
        filtering algorithms for approximate string searches").
        """
        start = np.searchsorted(run, self._values)
        times = np.searchsorted(run, self._values | _LOW, "right") - start
        frequent = self._frequent(times)
        counts = np.where(frequent, 0, times)
        budget = np.cumsum(np.bincount(self._owners, counts, len(self._sizes))) // AT_ONCE
        term_parts = budget.astype(np.int64)[self._owners]
        parts = [
            self._part(run, start, np.where(term_parts == part, counts, 0), frequent) for part in np.unique(budget)
        ]
        rows, places = (np.concatenate([each[side] for each in parts] or [np.empty(0, np.int64)]) for side in (0, 1))
        return rows, places

    def _frequent(self, times: Places) -> NDArray[np.bool_]:
        """Select the most frequent terms of each document, which are not counted."""
        order = np.lexsort((times, self._owners))
        number = np.arange(len(order)) - np.repeat(np.cumsum(self._sizes) - self._sizes, self._sizes)
        frequent = np.empty(len(order), bool)
        frequent[order] = number >= np.repeat(self._sizes - (self._min_shared - 1 - self._spare), self._sizes)
        return frequent

    def _part(self, run: Words, start: Places, times: Places, frequent: NDArray[np.bool_]) -> tuple[Places, Places]:
        """Count the leads with some terms, and filter them by the frequent terms."""
        ends = np.cumsum(times)
        positions = np.arange(int(times.sum())) + np.repeat(start - ends + times, times)
        pair_keys = np.repeat(self._owners.astype(np.uint64) << _HALF, times)
        pairs, shared_counts = np.unique(pair_keys | (run[positions] & _LOW), return_counts=True)
        likely = shared_counts > self._spare[(pairs >> _HALF).astype(np.int64)]
        pairs, shared_counts = pairs[likely], shared_counts[likely]
        rows, places = (pairs >> _HALF).astype(np.int64), pairs & _LOW
        for values, has_value in self._columns(frequent):
            keys = values[rows] | places
            is_carried = run[np.minimum(np.searchsorted(run, keys), len(run) - 1)] == keys
            shared_counts += is_carried & has_value[rows]
        is_match = shared_counts >= self._min_shared[rows]
        return rows[is_match], places[is_match].astype(np.int64)

    def _columns(self, mask: NDArray[np.bool_]) -> Iterator[tuple[Words, NDArray[np.bool_]]]:
        """Yield the first chosen term of each document, then the second, with the documents that have it."""
        values, owners = self._values[mask], self._owners[mask]
        sizes = np.bincount(owners, minlength=len(self._sizes))
        begin = np.cumsum(sizes) - sizes
        for number in range(int(sizes.max(initial=0))):
            have = sizes > number
            yield values[np.where(have, begin + number, 0)], have
