"""A learned rule adds up weighted figures of a pair, alike for one pair and many, and nothing else beside it."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import reason
from ibidem_dedupe.column_rules import Pairs
from ibidem_dedupe.learned_evidence import measure, measure_columns
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import FIGURES, Learned, Policy, Weight
from ibidem_ingest.signatures.packed import Packed, PackedColumns
from support.learned_rules import make_rule
from support.some import some
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, windows

figures = st.lists(st.floats(-3, 40), min_size=len(FIGURES), max_size=len(FIGURES))


def test_weights_are_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        Learned(inf, make_rule().weights)
    with pytest.raises(ValueError, match="finite"):
        Learned(0.0, tuple(Weight(name, inf, 0.0) for name in FIGURES))


def rule_of(intercept: float, **weights: float) -> Policy:
    """Weigh some figures and no others."""
    return Policy.from_rule(Learned(intercept, tuple(Weight(name, weights.get(name, 0.0), 0.0) for name in FIGURES)))


@pytest.fixture
def halves() -> tuple[Packed, Packed]:
    """Two texts that share 30 slots of 100, too little for the default figures."""
    one = signatures(1)
    other = replace(signatures(2), slots=(*one.slots[:30], *signatures(2).slots[30:]))
    return pack_signatures(one, "a"), pack_signatures(other, "b")


def test_a_sum_that_is_not_negative_joins_a_pair(halves: tuple[Packed, Packed]) -> None:
    assert decide(*halves, Policy()) is None
    evidence = decide(*halves, rule_of(-1.0, runs=4.0))
    assert evidence
    assert (evidence.level, evidence.signature) == ("near", "learned")
    assert 0.5 < evidence.score < 0.6
    assert reason({**evidence.why, "numbers_agree": True}).startswith("alike: five-word runs +1.2")
    assert decide(*halves, rule_of(-1.3, runs=4.0)) is None


def pairs_of(window: SampleWindow) -> Pairs:
    columns = PackedColumns.decode(window.values)
    rows = np.flatnonzero(columns.length > 0)
    return Pairs(columns, np.repeat(rows, len(rows)), np.tile(rows, len(rows)))


@pytest.mark.slow
@example_settings
@given(windows)
def test_columns_hold_the_figures_of_each_pair(window: SampleWindow) -> None:
    pairs = pairs_of(window)
    figures = measure_columns(pairs)
    assert figures.shape == (len(pairs.a), len(FIGURES))
    for row, (a, b) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)):
        assert figures[row].tolist() == measure(some(window.packed[a]), some(window.packed[b]))
