"""Long signatures are read together, once, and only so many are kept.

Pairs of duplicates: all of them, whatever groups they would fall into, in bounded slices.
"""

from collections.abc import Mapping, Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from ibidem_dedupe import pairs
from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.overrides import DocumentRef, PairConstraints
from ibidem_dedupe.pairs import (
    CandidateRanges,
    LongSignatureCache,
    count_earlier,
    duplicates,
    expand_pairs,
    no_long_signatures,
)
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import joins
from support.signed_books import sign_book
from support.windows import SampleWindow, example_settings, windows

PACKED, BOOK = sign_book("a", 1, 2, 3)
VALUE = BOOK.encode()


class Reader:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, bytes]:
        self.asked.append([name for _, name in names])
        return {name: VALUE for name in names if name[1] != "short"}


def test_what_was_read_is_not_read_again() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader)
    long_signatures.want([("i", "a"), ("i", "b"), ("i", "a")])
    assert long_signatures.get(("i", "a")) is not None
    long_signatures.want([("i", "b"), ("i", "c")])
    assert reader.asked == [["a", "b"], ["c"]]


def test_a_short_text_has_none_and_is_asked_for_once() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader)
    assert long_signatures.get(("i", "short")) is None
    assert long_signatures.get(("i", "short")) is None
    assert reader.asked == [["short"]]
    assert LongSignatureCache(no_long_signatures).get(("i", "a")) is None


def test_beyond_the_bound_those_asked_for_longest_ago_are_read_again() -> None:
    reader = Reader()
    long_signatures = LongSignatureCache(reader, max_bytes=2 * len(VALUE))
    long_signatures.want([("i", "a"), ("i", "b")])
    long_signatures.get(("i", "a"))
    long_signatures.get(("i", "c"))
    long_signatures.get(("i", "a"))
    assert reader.asked == [["a", "b"], ["c"]]
    long_signatures.get(("i", "b"))
    assert reader.asked[2:] == [["b"]]


def test_without_a_reader_it_is_told_what_is_missing_until_it_is_given() -> None:
    long_signatures = LongSignatureCache()
    assert long_signatures.get(("i", "a")) is None
    assert long_signatures.get(("i", "short")) is None
    assert long_signatures.missing == {("i", "a"), ("i", "short")}
    long_signatures.take({("i", "a"): VALUE})
    assert long_signatures.missing == set()
    assert long_signatures.get(("i", "a")) is not None
    assert long_signatures.get(("i", "short")) is None
    assert long_signatures.missing == set()


def test_what_is_given_beyond_the_bound_counts_as_short() -> None:
    long_signatures = LongSignatureCache(max_bytes=len(VALUE))
    long_signatures.want([("i", "a"), ("i", "b")])
    long_signatures.take({("i", "a"): VALUE, ("i", "b"): VALUE})
    assert long_signatures.get(("i", "a")) is not None
    assert long_signatures.get(("i", "b")) is None
    assert long_signatures.missing == set()


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
