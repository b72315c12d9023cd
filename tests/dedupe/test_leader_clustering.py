"""Leader grouping: the plain loop's result, at the price of what is found."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.dedupe import leader_clustering, pairs
from ibidem.dedupe.leader_clustering import group
from ibidem.dedupe.overrides import PairConstraints
from ibidem.dedupe.pair_rules import SIGNATURES
from ibidem.dedupe.parameters import PRESETS
from ibidem_ingest.pairs.decision import Policy, decide
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.naive_grouping import leaders
from support.windows import Made, few, made, signatures, value, windows

POLICIES = st.sampled_from(
    [Policy(), Policy(level="identical"), Policy(profile=0.8), *(preset.policy for preset in PRESETS.values())]
)


def grouped(window: Made, policy: Policy, said: PairConstraints | None = None) -> list[int]:
    leads: list[int] = group(PackedColumns.of(window.values), policy, said).lead.tolist()
    return leads


@few
@given(windows, POLICIES)
def test_a_hit_joins_the_first_lead_that_it_duplicates(window: Made, policy: Policy) -> None:
    assert grouped(window, policy) == leaders(window, policy)


@few
@given(windows, POLICIES, st.sampled_from([1, 10, 100]), st.sampled_from([1, 7, 30]))
def test_the_size_of_blocks_and_slices_changes_nothing(window: Made, policy: Policy, budget: int, block: int) -> None:
    with (
        patch.object(leader_clustering, "BUDGET", budget),
        patch.object(pairs, "BUDGET", budget),
        patch.object(leader_clustering, "BLOCK", block),
    ):
        assert grouped(window, policy) == leaders(window, policy)


@few
@given(windows, st.data())
def test_manual_decisions_come_before_all_evidence(window: Made, data: st.DataObject) -> None:
    rows = st.integers(0, max(0, len(window.values) - 1))
    said = data.draw(st.frozensets(st.tuples(rows, rows).filter(lambda pair: pair[0] < pair[1]), max_size=6))
    same = data.draw(st.frozensets(st.sampled_from(sorted(said)), max_size=6)) if said else frozenset()
    words = PairConstraints(same, said - same)
    assert grouped(window, Policy(), words) == leaders(window, Policy(), words)


@few
@given(windows, st.integers(0, 40))
def test_hits_that_follow_change_nothing_above_them(window: Made, rows: int) -> None:
    assert grouped(Made(window.values[:rows]), Policy()) == grouped(window, Policy())[:rows]


def test_real_signatures_of_texts_with_versions_group_as_the_plain_loop_does(told: Made) -> None:
    found = grouped(told, Policy())
    assert found == leaders(told, Policy())
    assert len(set(found)) < 0.8 * len(found)


@few
@given(windows)
def test_the_evidence_is_what_joined_a_row_to_its_lead(window: Made) -> None:
    found = group(PackedColumns.of(window.values), Policy())
    values = window.packed
    for row, (lead, code) in enumerate(zip(found.lead.tolist(), found.evidence.tolist(), strict=True)):
        a, b = values[row], values[lead]
        evidence = decide(a, b, Policy()) if row != lead and a is not None and b is not None else None
        assert SIGNATURES[code] == (evidence.signature if evidence else "")


@pytest.mark.parametrize("vary", [False, True], ids=["equal", "near"])
def test_ten_thousand_copies_cost_ten_thousand_comparisons_and_not_fifty_million(vary: bool) -> None:
    base = signatures(1)
    copies = [value(replace(base, content=f"ch2:{at:032x}") if vary else base, f"{at}") for at in range(10_000)]
    decided = []

    def counting(columns: PackedColumns, a: pairs.Rows, b: pairs.Rows, policy: Policy) -> pairs.Codes:
        decided.append(len(a))
        return verify(columns, a, b, policy)

    verify = pairs.verify
    with patch.object(pairs, "verify", counting):
        assert set(grouped(Made(copies), Policy())) == {0}
    assert sum(decided) < 30_000


def test_no_hits_make_no_groups() -> None:
    assert grouped(Made([]), Policy()) == []
    assert grouped(made(1, 1), Policy()) == [0]


def test_members_are_given_in_rank_order_the_first_occurrence_first() -> None:
    a, b = signatures(1), signatures(2)
    window = Made([value(each, f"{at}") for at, each in enumerate([a, b, a, b, a])])
    found = group(PackedColumns.of(window.values), Policy())
    assert found.members([1, 0]) == {1: [1, 3], 0: [0, 2, 4]}
