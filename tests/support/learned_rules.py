"""Learned rules made for tests."""

import random

from ibidem_dedupe.policy import FIGURES, Learned, Weight


def make_rule(seed: int = 0, intercept: float = 0.5) -> Learned:
    """Make a rule that weighs every figure, shared text the most."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    weights = {name: rng.uniform(-0.5, 0.5) for name in FIGURES} | {"runs": 6.0, "terms": 2.0, "title": 1.5}
    return Learned(intercept, tuple(Weight(name, weight, rng.uniform(0, 0.5)) for name, weight in weights.items()))
