"""Tuning: choose the thresholds of the decision from a user's labelled pairs, with cross-validation.

Tried are the default figures and those of each built-in preset, each at several similarities (signatures.md,
"Similarity"), with all of their evidence and without some of it; and, where it is asked for, a rule that is learned
from the labels. The duplicate sets of the labels are dealt into folds; for each fold the figures are chosen that have
the highest F1 on all others, and what they reach on the fold is counted. So each pair is judged by figures that it had
no part in choosing, and the sum is what to expect of the choice on documents of the same kind. The default is the rule
that an index of these documents is settled by (`collection`). Thresholds have to be better than it over all folds, and
worse in none, and a learned rule better than both.

Learning: fit a rule to labelled pairs, and measure it on held-out sets.

Candidates are the pairs that share enough for a learned rule to weigh them; a true pair that is none of them is missed.
Some random pairs are added as others that are no duplicates.

The fit is a logistic regression with a ridge penalty, by Newton's method, for about thirty weights and a few thousand
pairs. Each step is halved until the penalised likelihood rises, so that it converges where labels are separable
(Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 4.4.1).
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.api import format_count
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.column_rules import Bools, Pairs, Rows
from ibidem_dedupe.learned_evidence import add_up, measure_columns
from ibidem_dedupe.pairs import duplicates, verify
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import FIGURES, Learned, Policy, Weight
from ibidem_ingest.errors import UsageError
from ibidem_lab.evaluate import FOLDS, Collection, Counts, PairFigures, Truth, components, f1, score
from ibidem_lab.labels import MAX_CONTRADICTIONS, Labels, Pair

Floats = NDArray[np.float64]

RANDOM_PAIRS = 400  # random pairs that are taken as no duplicates

RIDGE = 1.0  # penalty on squared weights of standardised figures: that of one pair

MAX_STEPS = 50
TOLERANCE = 1e-8

# A rule that accepts whatever it may weigh.
EVERY_CANDIDATE = Policy.from_rule(Learned(1.0, tuple(Weight(name, 0.0, 0.0) for name in FIGURES)))


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Pairs with their figures and labels."""

    a: Rows  # (m,) the earlier rows
    b: Rows  # (m,) the later rows
    figures: Floats  # (m, 29) figures
    is_duplicate: Bools  # (m,) labels
    weights: Floats  # (m,) how many pairs of the whole collection each stands for

    @classmethod
    def build(cls, truth: Truth) -> "Examples":
        """Collect all judged candidates, and random pairs."""
        columns = truth.collection.columns
        pairs = duplicates(columns, EVERY_CANDIDATE)
        # the same pairs each time
        random = np.random.default_rng(1).choice(np.flatnonzero(columns.length > 0), (2, RANDOM_PAIRS))
        random = np.sort(random[:, random[0] != random[1]], axis=0)
        a, b = np.hstack([(pairs.earlier, pairs.row), random]).astype(np.int64)
        judged = np.flatnonzero(~np.isin(truth.code(a, b), truth.unjudged))
        a, b = a[judged], b[judged]
        is_duplicate = np.isin(truth.code(a, b), truth.true)
        if is_duplicate.all() or not is_duplicate.any():
            what = f"of {len(a):,} pairs that share text, {is_duplicate.sum():,} are duplicates by the labels"
            remedy = "a rule is learned from both: label pairs that are duplicates, and pairs that are not"
            raise UsageError(what, remedy)
        return cls(a, b, measure_columns(Pairs(columns, a, b)), is_duplicate, truth.weigh(a, b, is_duplicate))


def cross_learn(examples: Examples, truth: Truth) -> Counts:
    """Count the results in each fold of the rule learned on all other folds."""
    total = np.zeros(3)
    for fold in range(FOLDS):
        taught = (truth.fold[examples.a] != fold) & (truth.fold[examples.b] != fold)
        found = np.zeros(len(examples.a), bool)
        if len(np.unique(examples.is_duplicate[taught])) > 1:
            rule = fit(examples.figures[taught], examples.is_duplicate[taught], examples.weights[taught])
            found = add_up(rule, examples.figures) >= 0
        total += truth.counts(examples.a[found], examples.b[found])[fold]
    return total


def fit(figures: Floats, is_duplicate: Bools, weights: Floats) -> Learned:
    """Fit a rule to labelled pairs."""
    centres, scales = figures.mean(axis=0), figures.std(axis=0)
    scales[scales < TOLERANCE] = 1.0
    standardised = np.column_stack((np.ones(len(figures)), (figures - centres) / scales))
    coefficients = maximise(standardised, is_duplicate.astype(np.float64), weights)
    slopes = (coefficients[1:] / scales).tolist()
    weighed = zip(FIGURES, slopes, centres.tolist(), strict=True)
    return Learned(float(coefficients[0]), tuple(Weight(*each) for each in weighed))


def maximise(figures: Floats, labels: Floats, weights: Floats) -> Floats:
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


def likelihood(figures: Floats, labels: Floats, weights: Floats, coefficients: Floats, penalty: Floats) -> float:
    """Return the logarithm of the penalised likelihood."""
    totals = figures @ coefficients
    fits = weights * (labels * totals - np.logaddexp(0, totals))
    return float(fits.sum() - (penalty * coefficients**2).sum() / 2)


SIMILARITIES = (*range(25, 65, 5), 66, *range(70, 100, 5))
DEFAULT = 66  # the similarity of the default figures

MIN_SETS = 10  # duplicate sets without which nothing is chosen: two for each fold

MANY_SETS = 50  # duplicate sets from which on the figures of presets are chosen from as well

# Presets that are chosen from: all whose duplicates can be looked up in every scope.
OTHERS = tuple(name for name, each in PRESETS.items() if each.policy.terms is not None and each.policy.terms.full)

Evidence = Literal["terms", "characters"]
# Evidence that figures may do without.
SWITCHED_OFF: tuple[tuple[Evidence, ...], ...] = ((), ("characters",), ("terms",), ("terms", "characters"))

# How much higher F1 has to be for thresholds than for the default.
GAIN = 0.005


@dataclass(frozen=True, slots=True, order=True)
class Figures:
    preset: str = ""  # the preset whose other figures they are; empty: the default ones
    similarity: int = DEFAULT  # the least share of common text, in percent
    without: tuple[Evidence, ...] = ()  # evidence that does not count

    @property
    def policy(self) -> Policy:
        policy = (PRESETS[self.preset].policy if self.preset else Policy()).similar(self.similarity)
        policy = replace(policy, terms=None) if "terms" in self.without else policy
        return replace(policy, characters=None) if "characters" in self.without else policy

    def __str__(self) -> str:
        """Format the figures as options of the command line.

        >>> str(Figures("law", 40))
        '--preset law --similarity 40'
        >>> str(Figures(similarity=40, without=("terms", "characters")))
        '--similarity 40, without terms and characters'
        """
        preset = f"--preset {self.preset} " if self.preset else ""
        without = f", without {' and '.join(self.without)}" if self.without else ""
        return f"{preset}--similarity {self.similarity}{without}"


class LearnedChoice(NamedTuple):
    rule: Learned  # the rule that all labels teach
    expected: PairFigures  # what such a rule reaches on labels that had no part in it


Choice = Literal["default", "thresholds", "learned"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The figures that the labels recommend."""

    documents: int  # how many there are
    pairs: int  # pairs that are duplicates
    sets: int  # sets that they make
    # For each similarity, with the other figures that were chosen, precision, recall and F1 over all labels.
    curve: Mapping[int, PairFigures]
    chosen: Figures  # the figures with the highest F1 over all labels
    rule: Policy  # the default: the rule that an index of these documents is settled by
    default: PairFigures  # what the default reaches
    expected: PairFigures  # what the choice reaches on labels that had no part in it
    is_steady: bool  # whether the choice is worse than the default in no fold
    labelled: int = 0  # how many documents have labels; found pairs of the others count as wrong
    learned: LearnedChoice | None = None  # a learned rule, if requested

    @property
    def choice(self) -> Choice:
        """The recommendation: the learned rule if it is the best, else the thresholds if they are much better."""
        simple: Choice = "thresholds" if self.thresholds_improve else "default"
        known = self.expected if simple == "thresholds" else self.default
        return "learned" if self.learned is not None and self.learned.expected.f1 > known.f1 else simple

    @property
    def thresholds_improve(self) -> bool:
        """Whether the thresholds are better than the default."""
        return self.is_steady and self.expected.f1 >= self.default.f1 + GAIN

    @property
    def policy(self) -> Policy:
        if self.choice == "learned" and self.learned is not None:
            return Policy.from_rule(self.learned.rule)
        return self.chosen.policy if self.choice == "thresholds" else self.rule

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem tune --json`."""
        return {
            "documents": self.documents,
            "labelled": self.labelled,
            "pairs": self.pairs,
            "sets": self.sets,
            "curve": [{"similarity": at, **asdict(each)} for at, each in self.curve.items()],
            "chosen": asdict(self.chosen),
            "expected": asdict(self.expected),
            "default": asdict(self.default),
            "learned": asdict(self.learned.expected) if self.learned is not None else None,
            "choice": self.choice,
            "improves": self.choice != "default",
        }


def tune(collection: Collection, labels: Labels, *, learn: bool = False, collection_size: int = 0) -> Tuning:
    ids = set(collection.ids)
    if unknown := sorted(labels.ids - ids - collection.left_out):
        shown = ", ".join(map(repr, unknown[:MAX_CONTRADICTIONS]))
        what = f"{labels.path} names {format_count(len(unknown), 'id')} that no document has: {shown}"
        raise UsageError(what, "name all documents that the labels are about, or remove these lines")
    labelled, true = labels.count(ids), labels.pairs(collection.ids)
    tuning = choose_figures(collection, true, set(), learn=learn, collection_size=collection_size)
    return replace(tuning, labelled=labelled)


def choose_figures(
    collection: Collection, true: set[Pair], unjudged: set[Pair], *, learn: bool = False, collection_size: int = 0
) -> Tuning:
    part = components(collection.ids, true)
    sets = sum(count > 1 for count in np.bincount(part).tolist())
    if sets < MIN_SETS:
        what = f"{sets} sets of duplicates are too few to choose figures on"
        raise UsageError(what, f"label {MIN_SETS}, better {MANY_SETS} or more")
    truth = Truth.build(collection, part, true, unjudged, collection_size)
    presets = ["", *OTHERS] if sets >= MANY_SETS else [""]
    counts = {figures: truth.counts(a, b) for preset in presets for figures, a, b in found(truth, preset)}
    totals = {figures: folds.sum(axis=0) for figures, folds in counts.items()}
    best_figures, chosen = best(totals), cross_validate(counts)
    rule = choose_policy(collection.columns)
    pairs = duplicates(collection.columns, rule)
    default = truth.counts(pairs.row.astype(np.int64), pairs.earlier.astype(np.int64))
    learned = None
    if learn:
        examples = Examples.build(truth)
        rule_of_all = fit(examples.figures, examples.is_duplicate, examples.weights)
        learned = LearnedChoice(rule_of_all, score(cross_learn(examples, truth)))
    return Tuning(
        documents=len(collection.ids),
        pairs=len(true),
        sets=sets,
        curve={at: score(totals[replace(best_figures, similarity=at)]) for at in SIMILARITIES},
        chosen=best_figures,
        rule=rule,
        default=score(default.sum(axis=0)),
        expected=score(chosen.sum(axis=0)),
        is_steady=all(f1(fold) >= f1(other) for fold, other in zip(chosen, default, strict=True)),
        learned=learned,
    )


def found(truth: Truth, preset: str) -> Iterator[tuple[Figures, Rows, Rows]]:
    """Yield the pairs of rows that the figures of a preset find.

    A lower similarity finds all that a higher one does, and all evidence finds all that a part of it does.
    """
    columns = truth.collection.columns
    pairs = duplicates(columns, Figures(preset, SIMILARITIES[0]).policy)
    a, b = pairs.row.astype(np.int64), pairs.earlier.astype(np.int64)
    for similarity in SIMILARITIES:
        for without in SWITCHED_OFF:
            figures = Figures(preset, similarity, without)
            mask = verify(columns, a, b, figures.policy) > 0
            if not without:
                a, b, mask = a[mask], b[mask], mask[mask]
            yield figures, a[mask], b[mask]


def cross_validate(counts: Mapping[Figures, Counts]) -> Counts:
    """Count, for each fold, the results of the figures that are best on all other folds."""
    results = []
    for fold in range(FOLDS):
        others = {figures: np.delete(folds, fold, axis=0).sum(axis=0) for figures, folds in counts.items()}
        results.append(counts[best(others)][fold])
    return np.array(results)


def best(counts: Mapping[Figures, Counts]) -> Figures:
    """Return the figures with the highest F1; of equal ones, those nearest to the defaults."""
    return min(
        counts,
        key=lambda each: (
            -f1(counts[each]),
            bool(each.preset),
            len(each.without),
            abs(each.similarity - DEFAULT),
            each,
        ),
    )
