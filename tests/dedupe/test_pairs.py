"""Pairs of duplicates: all of them, whatever groups they would fall into, in bounded slices."""

from unittest.mock import patch

import numpy as np
from hypothesis import given

from dedupe.made import Made, few, windows
from dedupe.naive import joins
from ibidem.dedupe import pairs
from ibidem.dedupe.keys import Holders
from ibidem.dedupe.pairs import Said, duplicates, earlier_holders, spread
from ibidem_ingest.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns


@few
@given(windows)
def test_all_pairs_of_duplicates_are_found_each_once(window: Made) -> None:
    found = duplicates(PackedColumns.of(window.values), Policy())
    values = window.packed
    size = range(len(values))
    expected = [(a, b) for a in size for b in range(a) if joins(values, a, b, Policy(), Said())]
    assert list(zip(found.row.tolist(), found.earlier.tolist(), strict=True)) == expected


def test_each_row_is_paired_with_the_first_holders_of_its_key() -> None:
    entries = Holders(np.array([0, 0, 0, 1, 1]), np.array([2, 4, 7, 4, 7]))
    assert earlier_holders(entries).tolist() == [0, 1, 2, 0, 1]
    (found,) = spread(entries, earlier_holders(entries), 10)
    assert found.tolist() == [42, 72, 74]


def test_a_slice_never_holds_more_than_five_budgets_and_one_entry() -> None:
    entries = Holders(np.zeros(50, np.int64), np.arange(50))
    with patch.object(pairs, "BUDGET", 10):
        parts = list(spread(entries, earlier_holders(entries), 50))
    assert max(map(len, parts)) <= 99
    assert sorted(np.concatenate(parts).tolist()) == sorted(a * 50 + b for a in range(50) for b in range(a))
