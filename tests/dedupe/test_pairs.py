"""Pairs of duplicates: all of them, whatever groups they would fall into, in bounded slices."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from ibidem.dedupe import pairs
from ibidem.dedupe.candidates import KeyIndex
from ibidem.dedupe.overrides import PairConstraints
from ibidem.dedupe.pairs import CandidateRanges, count_earlier, duplicates, expand_pairs
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import joins
from support.windows import Made, few, windows


@few
@given(windows)
def test_all_pairs_of_duplicates_are_found_each_once(window: Made) -> None:
    found = duplicates(PackedColumns.of(window.values), Policy())
    values = window.packed
    size = range(len(values))
    expected = [(a, b) for a in size for b in range(a) if joins(values, a, b, Policy(), PairConstraints())]
    assert list(zip(found.row.tolist(), found.earlier.tolist(), strict=True)) == expected


def entries(key: list[int], row: list[int], **faint: int) -> KeyIndex:
    return KeyIndex(np.array(key, np.int32), np.array(row, np.int32), **faint)


def test_each_row_is_paired_with_the_rows_before_it_that_hold_its_key() -> None:
    held = entries([0, 0, 0, 1, 1], [2, 4, 7, 4, 7])
    assert count_earlier(held).tolist() == [0, 1, 2, 0, 1]
    (found,) = expand_pairs(held, CandidateRanges.within(held), 10)
    assert found.tolist() == [42, 72, 74]


def test_of_faint_keys_a_pair_has_to_share_several_of_others_one_is_enough() -> None:
    held = entries([0, 0, 1, 1, 1, 2, 2, 3, 3], [1, 2, 2, 3, 4, 2, 3, 3, 4], faint=1, least=2)
    (found,) = expand_pairs(held, CandidateRanges.within(held), 10)
    assert found.tolist() == [21, 32, 43]


@pytest.mark.parametrize("budget", [1, 10, 100])
def test_however_the_slices_are_cut_the_pairs_are_the_same(budget: int) -> None:
    held = entries([0] * 30 + [1] * 20, [*range(30), *range(20)], faint=0, least=2)
    with patch.object(pairs, "BUDGET", budget):
        parts = list(expand_pairs(held, CandidateRanges.within(held), 30))
    assert np.concatenate(parts).tolist() == sorted(a * 30 + b for a in range(20) for b in range(a))
    assert max(map(len, parts)) <= max(5 * budget, 19)
