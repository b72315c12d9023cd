"""Many pairs at once have the evidence, with all figures, that one pair has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.column_evidence import evidence_of_pairs
from ibidem_dedupe.decision import decide
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.learned_rules import make_rule
from support.windows import SampleWindow, example_settings, make_window, windows

POLICIES = st.sampled_from(
    [
        Policy(),
        Policy(level="identical"),
        Policy(profile=0.8, window_days=41),
        Policy(slots=None, window_days=0),
        Policy.from_rule(make_rule()),
        *(Policy().similar(percent) for percent in (20, 60, 95)),
    ]
)


def one_by_one(window: SampleWindow, policy: Policy) -> list[Evidence | None]:
    values = window.packed
    return [None if a is None or b is None else decide(a, b, policy) for a in values for b in values]


def at_once(window: SampleWindow, policy: Policy) -> list[Evidence | None]:
    size = len(window.values)
    a, b = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    return list(evidence_of_pairs(PackedColumns.decode(window.values), a, b, policy))


@example_settings
@given(windows, POLICIES)
def test_many_pairs_at_once_have_the_figures_of_one_pair(window: SampleWindow, policy: Policy) -> None:
    assert at_once(window, policy) == one_by_one(window, policy)


@pytest.mark.slow
def test_the_figures_of_every_kind_are_those_of_one_pair() -> None:
    for seed in range(20):
        window = make_window(seed, 40)
        assert at_once(window, Policy(profile=0.8)) == one_by_one(window, Policy(profile=0.8))


def test_no_pairs_have_no_evidence() -> None:
    nothing = np.empty(0, np.int64)
    assert list(evidence_of_pairs(PackedColumns.decode([]), nothing, nothing, Policy())) == []
