"""A copy is a row that no rule can tell from an earlier one: what is decided on one holds for the other."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.copies import DATES, READ_BY_RULES, first_copies
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import joins
from support.windows import SampleWindow, example_settings, signatures, value, windows

NONE = PairConstraints()


def copies(values: list[bytes | None], policy: Policy = Policy(), leads: int = 0) -> list[int]:  # noqa: B008 - frozen
    rows: list[int] = first_copies(PackedColumns.decode(values), policy, leads, NONE).tolist()
    return rows


@example_settings
@given(windows, st.sampled_from((Policy(), Policy(window_days=30), Policy("partial"))))
def test_a_copy_duplicates_what_its_original_duplicates(window: SampleWindow, policy: Policy) -> None:
    packed = window.packed
    rows = first_copies(PackedColumns.decode(window.values), policy, 0, NONE).tolist()
    for row, original in enumerate(rows):
        assert original <= row
        others = [other for other in range(len(rows)) if other not in {row, original}]
        assert [joins(packed, row, each, policy, NONE) for each in others] == [
            joins(packed, original, each, policy, NONE) for each in others
        ]


def test_equal_values_are_copies_of_the_first() -> None:
    one = signatures(1)
    assert copies([value(one, "a"), value(signatures(2), "b"), value(one, "c"), value(one, "d")]) == [0, 1, 0, 0]


def test_rows_without_signatures_and_leads_are_copies_of_nothing() -> None:
    one = value(signatures(1))
    assert copies([None, None, one, one], leads=4) == [0, 1, 2, 3]


def test_dates_count_where_a_policy_has_a_date_window() -> None:
    values = [value(signatures(1), "a", date="1987-03-01"), value(signatures(1), "b", date="1990-03-01")]
    assert copies(values) == [0, 0]
    assert copies(values, Policy(window_days=30)) == [0, 1]


def test_rows_that_a_manual_decision_is_about_are_no_copies() -> None:
    columns = PackedColumns.decode([value(signatures(1), name) for name in "abc"])
    assert first_copies(columns, Policy(), 0, PairConstraints(different=frozenset([(0, 2)]))).tolist() == [0, 1, 2]


def test_every_column_counts_but_what_only_names_a_document() -> None:
    columns = PackedColumns.decode([value(signatures(1), name) for name in "ab"])
    names = {"values", "ids", "is_signed", "source", "words", "signs"}
    assert set(READ_BY_RULES) | set(DATES) == set(PackedColumns.__slots__) - names
    for name in set(READ_BY_RULES) - {"length"}:
        changed = getattr(columns, name).copy()
        changed[1] = np.bitwise_xor(changed[1], 1)
        assert first_copies(replace(columns, **{name: changed}), Policy(), 0, NONE).tolist() == [0, 1], name
