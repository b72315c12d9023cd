"""The plain definition, pair by pair, is what the compiled loops compute over columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe import collection
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.policy import Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import PackedColumns
from support.naive_grouping import leaders
from support.policies import POLICIES
from support.windows import SampleWindow, example_settings, windows


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
    codes, found = verify(columns, a, b, policy).tolist(), list(evidence_of_pairs(columns, a, b, policy))
    with plainly():
        assert verify(columns, a, b, policy).tolist() == codes
        assert list(evidence_of_pairs(columns, a, b, policy)) == found


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
        loops.compiled()


@example_settings
@given(windows, st.integers(1, 3))
def test_figures_of_long_texts_are_counted_from_the_same_pairs(window: SampleWindow, partners: int) -> None:
    columns = PackedColumns.decode(window.values)
    with patch.multiple(collection, LONG_TOKENS=1, PARTNERS=partners):
        found = sorted(equal for part in collection.long_pairs(columns) for equal in part.tolist())
        with plainly():
            assert sorted(equal for part in collection.long_pairs(columns) for equal in part.tolist()) == found
