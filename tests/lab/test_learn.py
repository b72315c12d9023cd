"""A rule is fitted to pairs: the likelihood is highest, weights count as repeated pairs, and separable labels end."""

import numpy as np
import pytest

from ibidem_dedupe.learned import FIGURES
from ibidem_dedupe.learned_evidence import add_up
from ibidem_lab.learn import fit, likelihood, maximise

RNG = np.random.default_rng(3)
PAIRS = RNG.normal(size=(300, len(FIGURES)))
LABELS = PAIRS[:, 0] + 0.5 * PAIRS[:, 1] + RNG.normal(size=300) > 0.4


def test_no_other_coefficients_are_more_likely() -> None:
    figures = np.column_stack((np.ones(300), PAIRS))
    labels, weights = LABELS.astype(float), np.ones(300)
    best = maximise(figures, labels, weights)
    penalty = np.array([0.0, *np.ones(len(FIGURES))])
    highest = likelihood(figures, labels, weights, best, penalty)
    for step in RNG.normal(scale=0.01, size=(50, best.size)):
        assert likelihood(figures, labels, weights, best + step, penalty) <= highest


def test_a_rule_finds_the_figures_that_matter() -> None:
    rule = fit(PAIRS, LABELS, np.ones(300))
    weights = {each.figure: abs(each.weight) for each in rule.weights}
    assert max(weights, key=lambda name: weights[name]) == "runs"
    assert ((add_up(rule, PAIRS) >= 0) == LABELS).mean() > 0.8


def test_a_heavier_pair_counts_as_several() -> None:
    doubled = maximise(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))
    weighed = maximise(np.ones((2, 1)), np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    assert weighed == pytest.approx(doubled)


def test_labels_that_a_figure_separates_give_finite_weights() -> None:
    rule = fit(PAIRS, PAIRS[:, 2] > 0, np.ones(300))
    assert ((add_up(rule, PAIRS) >= 0) == (PAIRS[:, 2] > 0)).mean() > 0.95
