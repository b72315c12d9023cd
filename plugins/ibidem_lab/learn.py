"""Learning: fit a rule to labelled pairs, and measure it on held-out sets.

Candidates are the pairs that share enough for a learned rule to weigh them; a true pair that is none of them is missed.
Some random pairs are added as others that are no duplicates.

The fit is a logistic regression with a ridge penalty, by Newton's method, for about thirty weights and a few thousand
pairs. Each step is halved until the penalised likelihood rises, so that it converges where labels are separable
(Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 4.4.1).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.column_rules import Figures, Pairs, Rows
from ibidem_dedupe.learned import FIGURES, Learned, Weight
from ibidem_dedupe.learned_evidence import add_up, measure_columns
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.policy import Policy
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_lab.evaluate import FOLDS, Counts, Truth

RANDOM_PAIRS = 400  # random pairs that are taken as no duplicates

RIDGE = 1.0  # penalty on squared weights of standardised figures: that of one pair

MAX_STEPS = 50
TOLERANCE = 1e-8

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
        pairs = duplicates(columns, EVERY_CANDIDATE)
        found = pairs.earlier.astype(np.int64), pairs.row.astype(np.int64)
        a, b = (np.concatenate(each) for each in zip(found, draw_pairs(columns), strict=True))
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


def fit(figures: Figures, is_duplicate: NDArray[np.bool_], weights: Figures) -> Learned:
    """Fit a rule to labelled pairs."""
    centres, scales = figures.mean(axis=0), figures.std(axis=0)
    scales[scales < TOLERANCE] = 1.0
    standardised = np.column_stack((np.ones(len(figures)), (figures - centres) / scales))
    coefficients = maximise(standardised, is_duplicate.astype(np.float64), weights)
    slopes = (coefficients[1:] / scales).tolist()
    weighed = zip(FIGURES, slopes, centres.tolist(), strict=True)
    return Learned(float(coefficients[0]), tuple(Weight(*each) for each in weighed))


def maximise(figures: Figures, labels: Figures, weights: Figures) -> Figures:
    """Return the coefficients with the highest penalised likelihood; the first is the intercept.

    >>> maximise(np.ones((4, 1)), np.array([1.0, 1, 1, 0]), np.ones(4)).round(3)  # the logarithm of 3
    array([1.099])
    """
    penalty = np.full(figures.shape[1], RIDGE)
    penalty[0] = 0.0
    coefficients = np.zeros(figures.shape[1])
    best = likelihood(figures, labels, weights, coefficients, penalty)
    for _ in range(MAX_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(figures @ coefficients, -500, 500)))
        gradient = figures.T @ (weights * (labels - chances)) - penalty * coefficients
        curvature = (figures * (weights * chances * (1 - chances))[:, None]).T @ figures
        step = np.linalg.solve(curvature + np.diag(penalty + TOLERANCE), gradient)
        while (value := likelihood(figures, labels, weights, coefficients + step, penalty)) < best - TOLERANCE:
            step /= 2
        coefficients, gain, best = coefficients + step, value - best, value
        if gain < TOLERANCE * (1 + abs(best)):
            break
    return coefficients


def likelihood(figures: Figures, labels: Figures, weights: Figures, coefficients: Figures, penalty: Figures) -> float:
    """Return the logarithm of the penalised likelihood."""
    totals = figures @ coefficients
    fits = weights * (labels * totals - np.logaddexp(0, totals))
    return float(fits.sum() - (penalty * coefficients**2).sum() / 2)
