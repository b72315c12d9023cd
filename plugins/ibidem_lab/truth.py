"""Labelled pairs of a collection in folds, and which of them a policy finds."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.column_rules import Bools, Rows
from ibidem_lab.evaluate import Collection, PairFigures
from ibidem_lab.labels import Pair

FOLDS = 5

Counts = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """The labelled pairs of a collection, in folds."""

    collection: Collection  # signed documents
    part: Rows  # (n,) the number of each document's duplicate set
    fold: Rows  # (n,) the fold of each document: that of its duplicate set
    true: Rows  # pairs of rows that are duplicates, as `smaller * size + larger`
    unjudged: Rows  # pairs without a label
    # How many documents of the whole collection each of these stands for. Sets are drawn whole, so a wrong pair of two
    # sets stands for as many pairs: half of the sets have half of the duplicates, and a quarter of the pairs of
    # different sets.
    sampled: float = 1.0

    @classmethod
    def build(
        cls,
        collection: Collection,
        part: Sequence[int],
        true: set[Pair],
        unjudged: set[Pair],
        collection_size: int = 0,
    ) -> "Truth":
        """Split the sets into folds by a hash of their first id, so that the order of the files does not matter."""
        row = {name: at for at, name in enumerate(collection.ids)}
        first: dict[int, str] = {}
        for name, position in zip(collection.ids, part, strict=True):
            first[position] = min(name, first.get(position, name))
        fold = np.array([zlib.crc32(first[at].encode()) % FOLDS for at in part], np.int64)
        judged, not_judged = (cls.number_pairs(pairs, row) for pairs in (true, unjudged))
        return cls(collection, np.array(part), fold, judged, not_judged, max(1.0, collection_size / len(row)))

    @staticmethod
    def number_pairs(pairs: set[Pair], row: Mapping[str, int]) -> Rows:
        """Encode pairs of ids as ascending numbers."""
        rows = ((row[a], row[b]) for a, b in pairs)
        return np.array(sorted(min(each) * len(row) + max(each) for each in rows), np.int64)

    def code(self, a: Rows, b: Rows) -> Rows:
        """Encode pairs of rows as numbers."""
        codes: Rows = np.minimum(a, b) * len(self.fold) + np.maximum(a, b)
        return codes

    def weigh(self, a: Rows, b: Rows, is_true: Bools) -> Counts:
        """Return how many pairs of the whole collection each pair represents, relative to a duplicate."""
        return np.where(is_true | (self.part[a] == self.part[b]), 1.0, self.sampled)

    def counts(self, a: Rows, b: Rows) -> Counts:
        """Count found and true, found, and true pairs for each fold."""
        size = len(self.fold)
        codes = np.setdiff1d(self.code(a, b), self.unjudged)
        is_true = np.isin(codes, self.true)
        weights = self.weigh(*np.divmod(codes, size), is_true)
        parts = ((codes[is_true], None), (codes, weights), (self.true, None))
        columns = [np.bincount(self.fold[pairs // size], each, minlength=FOLDS) for pairs, each in parts]
        return np.stack(columns, axis=1).astype(np.float64)


def f1(counts: Counts) -> float:
    """Return the harmonic mean of precision and recall, from the counts of correct, found and true pairs."""
    hits, reported, true = counts.tolist()
    return 2 * hits / (reported + true) if hits else 0.0


def score(counts: Counts) -> PairFigures:
    """Return precision, recall and F1 of counts."""
    hits, reported, true = counts.tolist()
    shares = hits / max(1, reported), hits / max(1, true), f1(counts)
    return PairFigures(round(true), round(reported), *(round(each, 4) for each in shares))
