"""Logistic regression with a ridge penalty, by Newton's method, for about thirty weights and a few thousand pairs.

The core has numpy and no scipy or scikit-learn, which would weigh more than all of it; this is twenty lines. Each step
is halved until the penalised likelihood rises, so that it converges where labels are separable (Hastie, Tibshirani and
Friedman, The Elements of Statistical Learning, 4.4.1).
"""

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.learned import FIGURES, Learned, Weight

RIDGE = 1.0  # penalty on squared weights of standardised figures: that of one pair

MAX_STEPS = 50
TOLERANCE = 1e-8

Figures = NDArray[np.float64]


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
