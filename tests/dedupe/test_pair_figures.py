"""The figures of a pair are the same bit for bit, for one pair and over columns, and from either side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.column_rules import Pairs
from ibidem_dedupe.learned import FIGURES
from ibidem_dedupe.pair_figures import changed, logarithm, measure, measure_columns
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.windows import SampleWindow, example_settings, make_window, windows


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
        one, other = window.packed[a], window.packed[b]
        assert one is not None
        assert other is not None
        assert figures[row].tolist() == measure(one, other)


@example_settings
@given(windows)
def test_figures_do_not_depend_on_the_order_of_a_pair(window: SampleWindow) -> None:
    pairs = pairs_of(window)
    assert (measure_columns(pairs) == measure_columns(Pairs(pairs.columns, pairs.b, pairs.a))).all()


def test_a_text_and_itself_share_everything() -> None:
    window = make_window(3, 30)
    pairs = pairs_of(window)
    own = measure_columns(Pairs(pairs.columns, pairs.a[pairs.a == pairs.b], pairs.b[pairs.a == pairs.b]))
    named = dict(zip(FIGURES, own.T, strict=True))
    for name in ("runs", "runs_of_shorter", "runs_of_longer", "bands", "length_ratio", "numbers_agree"):
        assert (named[name] == 1).all(), name
    for name in ("words_changed", "numbers_rate", "days"):
        assert (named[name] == 0).all(), name


@given(st.floats(1, 2**40))
def test_the_logarithm_is_exact_at_powers_of_two_and_rises_between(value: float) -> None:
    assert 0 <= logarithm(value) <= 40
    assert logarithm(2 * value) == logarithm(value) + 1 or abs(logarithm(2 * value) - logarithm(value) - 1) < 1e-9
    assert logarithm(value) <= logarithm(value + 1)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_more_is_shared_the_less_is_changed(share: float, other: float) -> None:
    assert (changed(share) >= changed(other)) if share <= other else (changed(share) <= changed(other))
