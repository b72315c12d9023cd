"""Tuning: choose the figures of the decision on a user's own labelled pairs, with cross-validation.

Tried are the default figures and those of each built-in preset, each at several similarities (signatures.md,
"Similarity"). The duplicate sets of the labels are dealt into folds; for each fold the figures are chosen that have the
highest F1 on all others, and what they reach on the fold is counted. So each pair is judged by figures that it had no
part in choosing, and the sum is what to expect of the choice on documents of the same kind. Where it is no better
than the default figures on the same folds, the default figures are best.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ibidem.evaluation.evaluate import EVERY, Collection, Labels
from ibidem.evaluation.labels import (
    Pair,
    PairFigures,
    components,
    count_labelled,
    labelled_ids,
    parse_condition,
    read_pairs,
)
from ibidem_dedupe.pair_rules import verify
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_ingest.errors import UsageError

FOLDS = 5
SIMILARITIES = (*range(25, 65, 5), 66, *range(70, 100, 5))
DEFAULT = 66
"""The similarity of the default figures."""

LEAST_SETS = 10
"""Duplicate sets without which nothing is chosen: two for each fold."""

MANY_SETS = 50
"""Duplicate sets from which on the figures of presets are chosen from as well."""

OTHERS = tuple(name for name, each in PRESETS.items() if each.policy.terms is not None and each.policy.terms.full)
"""Presets that are chosen from: all whose duplicates can be looked up in every scope."""

GAIN = 0.005
"""How much higher F1 has to be for other figures than the default ones."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, order=True)
class Figures:
    """Figures that may be chosen.

    Args:
        preset: The preset whose other figures they are; empty: the default ones.
        similarity: The least share of common text, in percent.
    """

    preset: str = ""
    similarity: int = DEFAULT

    @property
    def policy(self) -> Policy:
        """The decision for a pair."""
        return (PRESETS[self.preset].policy if self.preset else Policy()).similar(self.similarity)

    def __str__(self) -> str:
        """Write them as they are asked for.

        >>> str(Figures("law", 40))
        '--preset law --similarity 40'
        """
        return (
            f"--preset {self.preset} --similarity {self.similarity}"
            if self.preset
            else f"--similarity {self.similarity}"
        )


@dataclass(frozen=True, slots=True)
class Tuning:
    """The figures that labels recommend.

    Args:
        documents: How many there are.
        pairs: Pairs that are duplicates.
        sets: Sets that they make.
        curve: For each similarity, with the other figures that were chosen, precision, recall and F1 over all labels.
        chosen: The figures with the highest F1 over all labels.
        default: What the default figures reach.
        expected: What the choice reaches on labels that had no part in it.
        labelled: How many documents have labels; found pairs of the others count as wrong.
    """

    documents: int
    pairs: int
    sets: int
    curve: Mapping[int, PairFigures]
    chosen: Figures
    default: PairFigures
    expected: PairFigures
    labelled: int = 0

    @property
    def improves(self) -> bool:
        """Whether the choice is better than the default figures."""
        return self.chosen != Figures() and self.expected.f1 >= self.default.f1 + GAIN

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem tune --json` prints."""
        return {
            "documents": self.documents,
            "labelled": self.labelled,
            "pairs": self.pairs,
            "sets": self.sets,
            "curve": [{"similarity": at, **each.as_json()} for at, each in self.curve.items()],
            "chosen": {"preset": self.chosen.preset, "similarity": self.chosen.similarity},
            "expected": self.expected.as_json(),
            "default": self.default.as_json(),
            "improves": self.improves,
        }


def tune(collection: Collection, labels: Labels) -> Tuning:
    """Choose figures on labels.

    Args:
        collection: Signed documents.
        labels: Labelled pairs of the documents.

    Raises:
        UsageError: Labels that cannot be read, or of too few duplicate sets.
    """
    ids = set(collection.ids)
    labelled = count_labelled(labels.path, labelled_ids(labels.path) & ids, len(ids))
    true = read_pairs(labels.path, parse_condition(labels.positive), collection.ids)
    unjudged = set() if labels.unjudged is None else read_pairs(labels.unjudged, EVERY, collection.ids, expected=False)
    return replace(choose_figures(collection, true - unjudged, unjudged), labelled=labelled)


def choose_figures(collection: Collection, true: set[Pair], unjudged: set[Pair]) -> Tuning:
    """Choose figures on pairs.

    Args:
        collection: Signed documents.
        true: Pairs that are duplicates.
        unjudged: Pairs that nothing is known of.
    """
    part = components(collection.ids, true)
    sets = sum(count > 1 for count in np.bincount(part).tolist())
    if sets < LEAST_SETS:
        raise UsageError(
            f"{sets} sets of duplicates are too few to choose figures on",
            f"label {LEAST_SETS}, better {MANY_SETS} or more",
        )
    counts = count(Truth.build(collection, part, true, unjudged), ["", *OTHERS] if sets >= MANY_SETS else [""])
    totals = {figures: folds.sum(axis=0) for figures, folds in counts.items()}
    best_figures = best(totals)
    return Tuning(
        documents=len(collection.ids),
        pairs=len(true),
        sets=sets,
        curve={at: score(totals[Figures(best_figures.preset, at)]) for at in SIMILARITIES},
        chosen=best_figures,
        default=score(totals[Figures()]),
        expected=score(cross_validate(counts)),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """The labelled pairs of a collection, in folds.

    Args:
        collection: Signed documents.
        fold: (n,) the fold of each document: that of its duplicate set.
        true: Pairs of rows that are duplicates, as `smaller * size + larger`.
        unjudged: Pairs that nothing is known of.
    """

    collection: Collection
    fold: Counts
    true: Counts
    unjudged: Counts

    @classmethod
    def build(cls, collection: Collection, part: Sequence[int], true: set[Pair], unjudged: set[Pair]) -> "Truth":
        """Deal the sets into folds by a hash of their first id, the same for all orders of the files."""
        row = {name: at for at, name in enumerate(collection.ids)}
        first: dict[int, str] = {}
        for name, at in zip(collection.ids, part, strict=True):
            first[at] = min(name, first.get(at, name))
        fold = np.array([zlib.crc32(first[at].encode()) % FOLDS for at in part], np.int64)
        return cls(collection, fold, *(cls.number_pairs(pairs, row) for pairs in (true, unjudged)))

    @staticmethod
    def number_pairs(pairs: set[Pair], row: Mapping[str, int]) -> Counts:
        """Write pairs of ids as numbers, ascending."""
        rows = ((row[a], row[b]) for a, b in pairs)
        return np.array(sorted(min(each) * len(row) + max(each) for each in rows), np.int64)

    def counts(self, a: Counts, b: Counts) -> Counts:
        """Count, for each fold, pairs that are found and true, found, and true.

        Args:
            a: (m,) rows found.
            b: (m,) rows found.

        Returns:
            (folds, 3) counts; a pair across folds counts where its first document is.
        """
        size = len(self.fold)
        codes = np.setdiff1d(np.minimum(a, b) * size + np.maximum(a, b), self.unjudged)
        hits = np.intersect1d(codes, self.true, assume_unique=True)
        columns = [np.bincount(self.fold[pairs // size], minlength=FOLDS) for pairs in (hits, codes, self.true)]
        return np.stack(columns, axis=1)


def count(truth: Truth, presets: Sequence[str]) -> dict[Figures, Counts]:
    """Count what all figures find, for each fold; a lower similarity finds all that a higher one does."""
    counts: dict[Figures, Counts] = {}
    for preset in presets:
        columns = truth.collection.columns
        pairs = duplicates(columns, Figures(preset, SIMILARITIES[0]).policy)
        a, b = pairs.row.astype(np.int64), pairs.earlier.astype(np.int64)
        for similarity in SIMILARITIES:
            figures = Figures(preset, similarity)
            mask = verify(columns, a, b, figures.policy) > 0
            a, b = a[mask], b[mask]
            counts[figures] = truth.counts(a, b)
    return counts


def cross_validate(counts: Mapping[Figures, Counts]) -> Counts:
    """Count what is found in each fold by the figures that are best on all others."""
    total = np.zeros(3, np.int64)
    for fold in range(FOLDS):
        totals = {figures: np.delete(folds, fold, axis=0).sum(axis=0) for figures, folds in counts.items()}
        total += counts[best(totals)][fold]
    return total


def best(counts: Mapping[Figures, Counts]) -> Figures:
    """Return the figures with the highest F1; of equal ones those nearest to the default."""
    return min(counts, key=lambda each: (-f1(counts[each]), bool(each.preset), abs(each.similarity - DEFAULT), each))


def f1(counts: Counts) -> float:
    """Return the harmonic mean of precision and recall: twice the right ones, by found and true ones."""
    hits, reported, true = counts.tolist()
    return 2 * hits / (reported + true) if hits else 0.0


def score(counts: Counts) -> PairFigures:
    """Return precision, recall and F1 of counts."""
    hits, reported, true = counts.tolist()
    return PairFigures(
        true, reported, *(round(each, 4) for each in (hits / max(1, reported), hits / max(1, true), f1(counts)))
    )
