"""The figures of a policy: what one share of common text means for the measures that are asked for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.policy import Policy, min_equal_slots, min_shared_terms
from ibidem_ingest.signatures.schema import FULL_SET


def test_two_thirds_in_common_are_the_default_figures() -> None:
    terms, default = Policy().similar(66).terms, Policy().terms
    assert terms is not None
    assert default is not None
    for size in (20, 35, 60):
        assert min_shared_terms(terms.share, size) == min_shared_terms(default.share, size)
    assert Policy().similar(66).slots == Policy().slots


def test_a_kind_of_evidence_that_does_not_count_stays_so_at_any_similarity() -> None:
    policy = Policy(slots=None, terms=None).similar(80)
    assert (policy.slots, policy.terms) == (None, None)


@pytest.mark.parametrize("size", range(1, FULL_SET + 1))
def test_all_terms_are_shared_at_a_share_of_one_and_none_more(size: int) -> None:
    assert min_shared_terms(1.0, size) == size


@given(st.integers(1, 99))
def test_more_in_common_never_asks_for_fewer_equal_slots(percent: int) -> None:
    assert min_equal_slots(percent) <= min_equal_slots(percent + 1) <= 100


@given(st.integers(20, 100))
def test_another_level_or_window_leaves_all_figures_as_they_are(percent: int) -> None:
    policy = Policy().similar(percent)
    assert policy.at("partial").within(3).at("near").within(None) == policy
