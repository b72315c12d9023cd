"""Keys: two rows that the decision joins always share one, and rows that share nothing are never compared."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe import candidates
from ibidem_dedupe.candidates import length_buckets, marked_keys
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import CandidateRanges, expand_pairs
from ibidem_dedupe.parameters import MIN_SIMILARITY, PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.shared_keys import build_key_index
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import joins
from support.windows import SampleWindow, example_settings, signatures, value, windows, with_terms

POLICIES = st.sampled_from(
    [
        Policy(),
        Policy(level="identical"),
        Policy(profile=0.8),
        *(preset.policy for preset in PRESETS.values()),
        *(Policy().similar(percent) for percent in (20, 45, 90)),
        PRESETS["conrad2003"].policy.similar(MIN_SIMILARITY),
    ]
)


def meeting(window: SampleWindow, policy: Policy) -> set[tuple[int, int]]:
    """The pairs of rows that share enough keys."""
    index, size = build_key_index(PackedColumns.decode(window.values), policy), len(window.values)
    pairs = [pair for part in expand_pairs(index, CandidateRanges.build(index), size) for pair in part.tolist()]
    assert len(pairs) == len(set(pairs))
    return {(pair % size, pair // size) for pair in pairs}


@example_settings
@given(windows, POLICIES)
def test_two_rows_that_are_duplicates_share_enough_keys(window: SampleWindow, policy: Policy) -> None:
    shared, values = meeting(window, policy), window.packed
    for b in range(len(values)):
        for a in range(b):
            assert (a, b) in shared or not joins(values, a, b, policy, PairConstraints())


@example_settings
@given(windows, POLICIES)
def test_looking_in_smaller_slices_changes_nothing(window: SampleWindow, policy: Policy) -> None:
    pairs = meeting(window, policy)
    with patch.object(candidates, "ENTRIES", 1):
        assert meeting(window, policy) == pairs


def test_rows_that_share_nothing_hold_no_common_key() -> None:
    assert meeting(SampleWindow([value(signatures(at), f"{at}") for at in range(30)]), Policy(profile=0.8)) == set()


@pytest.mark.parametrize(("shared", "meet"), [(20, False), (40, True)])
def test_sets_meet_by_their_rarest_terms_only_where_enough_could_be_shared(shared: int, meet: bool) -> None:
    base = signatures(1)
    other = with_terms(signatures(2, terms=base.terms), shared)
    crowd = [value(with_terms(signatures(at, terms=base.terms), shared), f"{at}") for at in range(3, 23)]
    window = SampleWindow([value(base, "a"), value(other, "b"), *crowd])
    assert ((0, 1) in meeting(window, Policy())) == meet


def test_terms_of_two_idf_tables_never_meet() -> None:
    a, b = signatures(1), signatures(2, terms=signatures(1).terms, idf="bb00000000000000")
    assert meeting(SampleWindow([value(a, "a"), value(b, "b")]), Policy()) == set()


@given(st.integers(1, 10**7), st.integers(0, 10**7), st.sampled_from([0.8, 0.9, 0.95, 1.0]))
def test_similar_lengths_are_in_the_same_bucket_or_in_neighbours(length: int, more: int, ratio: float) -> None:
    longer = min(length + more, int(length / ratio))
    if length / longer >= ratio:
        a, b = length_buckets(np.array([length, longer]), ratio).tolist()
        assert b - a in (0, 1)


KEYS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=300)


@given(KEYS, st.sampled_from([1, 1 << 34, 0x9E3779B97F4A7C15]), st.sets(st.integers(0, 9)))
def test_keys_stay_where_several_rows_hold_them_and_a_marked_one(
    pairs: list[tuple[int, int]], factor: int, marked: set[int]
) -> None:
    distinct = sorted(set(pairs), key=lambda pair: pair[1])
    keys = np.array([key * factor % 2**64 for key, _ in distinct], np.uint64)
    rows = np.array([row for _, row in distinct], np.int64)
    holders: dict[int, list[int]] = {}
    for key, row in zip(keys.tolist(), rows.tolist(), strict=True):
        holders.setdefault(key, []).append(row)
    expected_holders = [each for _, each in sorted(holders.items()) if len(each) > 1 and marked & set(each)]
    index = marked_keys(keys, rows, np.isin(np.arange(10), list(marked)))
    assert index.row.tolist() == [row for each in expected_holders for row in each]
    assert index.key.tolist() == [number for number, each in enumerate(expected_holders) for _ in each]
