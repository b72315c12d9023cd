"""Learning: fit a rule to labelled pairs, and measure it on held-out sets.

Candidates are the pairs that share enough for a learned rule to weigh them; a true pair that is none of them is missed.
Some random pairs are added as others that are no duplicates.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.column_rules import Figures, Pairs, Rows
from ibidem_dedupe.learned import FIGURES, Learned, Weight
from ibidem_dedupe.learned_evidence import add_up
from ibidem_dedupe.pair_figures import measure_columns
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.policy import Policy
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_lab.logistic import fit
from ibidem_lab.truth import FOLDS, Counts, Truth

RANDOM_PAIRS = 400  # random pairs that are taken as no duplicates

# A rule that accepts whatever it may weigh.
EVERY_CANDIDATE = Policy.from_rule(Learned(1.0, tuple(Weight(name, 0.0, 0.0) for name in FIGURES)))

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Pairs with their figures and labels."""

    a: Rows  # (m,) the earlier rows
    b: Rows  # (m,) the later rows
    figures: Figures  # (m, 29) figures
    is_duplicate: Bools  # (m,) labels
    weights: Figures  # (m,) how many pairs of the whole collection each stands for

    @classmethod
    def build(cls, truth: Truth) -> "Examples":
        """Collect all judged candidates, and random pairs."""
        columns = truth.collection.columns
        a, b = (np.concatenate(each) for each in zip(find_candidates(columns), draw_pairs(columns), strict=True))
        judged = np.flatnonzero(~np.isin(truth.code(a, b), truth.unjudged))
        a, b = a[judged], b[judged]
        is_duplicate = np.isin(truth.code(a, b), truth.true)
        if is_duplicate.all() or not is_duplicate.any():
            raise UsageError(
                f"of {len(a):,} pairs that share text, {is_duplicate.sum():,} are duplicates by the labels",
                "a rule is learned from both: label pairs that are duplicates, and pairs that are not",
            )
        return cls(a, b, measure_columns(Pairs(columns, a, b)), is_duplicate, truth.weigh(a, b, is_duplicate))

    def learn(self, mask: Bools) -> Learned:
        """Fit a rule to some of the pairs."""
        return fit(self.figures[mask], self.is_duplicate[mask], self.weights[mask])


def find_candidates(columns: PackedColumns) -> tuple[Rows, Rows]:
    """Return the pairs that a learned rule may weigh: earlier and later rows."""
    pairs = duplicates(columns, EVERY_CANDIDATE)
    return pairs.earlier.astype(np.int64), pairs.row.astype(np.int64)


def draw_pairs(columns: PackedColumns) -> tuple[Rows, Rows]:
    """Draw random pairs of texts with words; the seed is fixed."""
    rows = np.flatnonzero(columns.length > 0)
    a, b = np.random.default_rng(1).choice(rows, (2, RANDOM_PAIRS))
    distinct = a != b
    return np.minimum(a, b)[distinct], np.maximum(a, b)[distinct]


def cross_learn(examples: Examples, truth: Truth) -> Counts:
    """Count the results in each fold of the rule learned on all other folds."""
    total = np.zeros(3)
    for fold in range(FOLDS):
        taught = (truth.fold[examples.a] != fold) & (truth.fold[examples.b] != fold)
        if len(np.unique(examples.is_duplicate[taught])) > 1:
            found = add_up(examples.learn(taught), examples.figures) >= 0
            total += truth.counts(examples.a[found], examples.b[found])[fold]
        else:
            total += truth.counts(examples.a[:0], examples.b[:0])[fold]
    return total
