"""The plain definition, pair by pair, is what the compiled loops compute over columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe import collection
from ibidem_dedupe.leader_clustering import DATES, READ_BY_RULES, first_copies, group
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import CandidateRanges, PageKeys, build_key_index, duplicates, expand_pairs, verify
from ibidem_dedupe.parameters import MIN_SIMILARITY, PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import PackedColumns
from support.naive_grouping import joins, leaders
from support.policies import POLICIES
from support.windows import SampleWindow, example_settings, signatures, value, windows


@contextmanager
def plainly() -> Iterator[None]:
    """Nothing is compiled."""
    with patch.object(loops, "IN_USE", None):
        yield


@example_settings
@given(windows, POLICIES)
def test_pairs_have_the_same_evidence(window: SampleWindow, policy: Policy) -> None:
    columns, size = PackedColumns.decode(window.values), len(window.values)
    a, b = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    codes = verify(columns, a, b, policy).tolist()
    with plainly():
        assert verify(columns, a, b, policy).tolist() == codes


@example_settings
@given(windows, POLICIES)
def test_the_same_pairs_are_duplicates(window: SampleWindow, policy: Policy) -> None:
    columns = PackedColumns.decode(window.values)
    found = duplicates(columns, policy)
    with plainly():
        plain = duplicates(columns, policy)
    for name in ("row", "earlier", "code"):
        assert getattr(plain, name).tolist() == getattr(found, name).tolist()


@example_settings
@given(windows, POLICIES, st.integers(0, 10), st.data())
def test_groups_are_the_same_with_manual_decisions_and_settled_leads(
    window: SampleWindow, policy: Policy, leads: int, data: st.DataObject
) -> None:
    columns, size = PackedColumns.decode(window.values), len(window.values)
    rows = st.integers(0, max(0, size - 1))
    decided = st.frozensets(st.tuples(rows, rows).map(sorted).filter(lambda pair: pair[0] < pair[1]).map(tuple))
    same = data.draw(decided)
    constraints = PairConstraints(same, data.draw(decided) - same)
    settled = min(leads, size)
    found = group(columns, policy, constraints, leads=settled)
    with plainly():
        plain = group(columns, policy, constraints, leads=settled)
        assert group(columns, policy, constraints).lead.tolist() == leaders(window, policy, constraints)
    assert (plain.lead.tolist(), plain.evidence.tolist()) == (found.lead.tolist(), found.evidence.tolist())


def test_loops_that_are_missing_are_named() -> None:
    with plainly(), pytest.raises(RuntimeError, match="compiled loops"):
        loops.call("ibidem_fold")


@example_settings
@given(windows, st.integers(1, 3))
def test_figures_of_long_texts_are_counted_from_the_same_pairs(window: SampleWindow, partners: int) -> None:
    columns = PackedColumns.decode(window.values)
    with patch.multiple(collection, LONG_TOKENS=1, PARTNERS=partners):
        found = sorted(equal for part in collection.long_pairs(columns) for equal in part.tolist())
        with plainly():
            assert sorted(equal for part in collection.long_pairs(columns) for equal in part.tolist()) == found


def meeting(window: SampleWindow, policy: Policy) -> set[tuple[int, int]]:
    """The pairs of rows that share enough keys."""
    index, size = build_key_index(PackedColumns.decode(window.values), policy), len(window.values)
    pairs = [pair for part in expand_pairs(index, CandidateRanges.build(index), size) for pair in part.tolist()]
    assert len(pairs) == len(set(pairs))
    return {(pair % size, pair // size) for pair in pairs}


@example_settings
@given(
    windows, POLICIES | st.sampled_from([Policy().similar(45), PRESETS["conrad2003"].policy.similar(MIN_SIMILARITY)])
)
def test_two_rows_that_are_duplicates_share_enough_keys(window: SampleWindow, policy: Policy) -> None:
    shared, values = meeting(window, policy), window.packed
    for b in range(len(values)):
        for a in range(b):
            assert (a, b) in shared or not joins(values, a, b, policy, PairConstraints())


def pairs(keys: PageKeys, names: list[tuple[str, str]]) -> set[tuple[int, int]]:
    entries = keys.key_index(names, PackedColumns.decode([None] * len(names)))
    codes = [int(pair) for part in expand_pairs(entries, CandidateRanges.build(entries), len(names)) for pair in part]
    return {(pair // len(names), pair % len(names)) for pair in codes}


NONE = PairConstraints()


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


def test_every_column_counts_but_what_only_names_a_document() -> None:
    columns = PackedColumns.decode([value(signatures(1), name) for name in "ab"])
    names = {"values", "ids", "is_signed", "source", "words", "signs"}
    assert set(READ_BY_RULES) | set(DATES) == set(PackedColumns.__slots__) - names
    for name in set(READ_BY_RULES) - {"length"}:
        changed = getattr(columns, name).copy()
        changed[1] = np.bitwise_xor(changed[1], 1)
        assert first_copies(replace(columns, **{name: changed}), Policy(), 0, NONE).tolist() == [0, 1], name
