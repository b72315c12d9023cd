"""Long signatures are read together, once, and only so many are kept.

Pairs of duplicates: all of them, whatever groups they would fall into, in bounded slices.
"""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from ibidem_dedupe import pairs
from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import (
    CandidateRanges,
    count_earlier,
    duplicates,
    expand_pairs,
)
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import joins
from support.windows import SampleWindow, example_settings, windows


@example_settings
@given(windows)
def test_all_pairs_of_duplicates_are_found_each_once(window: SampleWindow) -> None:
    result = duplicates(PackedColumns.decode(window.values), Policy())
    values = window.packed
    size = range(len(values))
    expected = [(a, b) for a in size for b in range(a) if joins(values, a, b, Policy(), PairConstraints())]
    assert list(zip(result.row.tolist(), result.earlier.tolist(), strict=True)) == expected


def entries(key: list[int], row: list[int], **settings: int) -> KeyIndex:
    return KeyIndex(np.array(key, np.int32), np.array(row, np.int32), **settings)


def test_each_row_is_paired_with_the_rows_before_it_that_hold_its_key() -> None:
    key_entries = entries([0, 0, 0, 1, 1], [2, 4, 7, 4, 7])
    assert count_earlier(key_entries).tolist() == [0, 1, 2, 0, 1]
    (part,) = expand_pairs(key_entries, CandidateRanges.build(key_entries), 10)
    assert part.tolist() == [42, 72, 74]


def test_a_pair_has_to_share_several_weak_keys_but_only_one_of_the_others() -> None:
    key_entries = entries([0, 0, 1, 1, 1, 2, 2, 3, 3], [1, 2, 2, 3, 4, 2, 3, 3, 4], first_weak=1, min_shared=2)
    (part,) = expand_pairs(key_entries, CandidateRanges.build(key_entries), 10)
    assert part.tolist() == [21, 32, 43]


@pytest.mark.parametrize("budget", [1, 10, 100])
def test_however_the_slices_are_cut_the_pairs_are_the_same(budget: int) -> None:
    key_entries = entries([0] * 30 + [1] * 20, [*range(30), *range(20)], first_weak=0, min_shared=2)
    with patch.object(pairs, "BUDGET", budget):
        parts = list(expand_pairs(key_entries, CandidateRanges.build(key_entries), 30))
    assert np.concatenate(parts).tolist() == sorted(a * 30 + b for a in range(20) for b in range(a))
    assert max(map(len, parts)) <= max(5 * budget, 19)
