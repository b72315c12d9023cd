"""Leader grouping: the plain loop's result, at the price of what is found.

A window of hits with its groups, and what can be said of a row in it.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.window import Window
from ibidem_dedupe import leader_clustering, pairs
from ibidem_dedupe.evidence import TABLE
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Override, PairConstraints
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import PackedColumns
from support.examples import examples
from support.naive_grouping import leaders
from support.windows import SampleWindow, example_settings, signatures, value, windows, with_slots

POLICIES = st.sampled_from(
    [Policy(), Policy(level="identical"), Policy(profile=0.8), *(preset.policy for preset in PRESETS.values())]
)


def group_window(window: SampleWindow, policy: Policy, constraints: PairConstraints | None = None) -> list[int]:
    return [*map(int, group(PackedColumns.decode(window.values), policy, constraints).lead)]


@example_settings
@given(windows, POLICIES)
def test_a_hit_joins_the_first_lead_that_it_duplicates(window: SampleWindow, policy: Policy) -> None:
    assert group_window(window, policy) == leaders(window, policy)


@example_settings
@given(windows, POLICIES, st.sampled_from([1, 10, 100]), st.sampled_from([1, 7, 30]))
def test_the_size_of_blocks_and_slices_changes_nothing(
    window: SampleWindow, policy: Policy, budget: int, block: int
) -> None:
    with (
        patch.object(leader_clustering, "BUDGET", budget),
        patch.object(pairs, "BUDGET", budget),
        patch.object(leader_clustering, "BLOCK", block),
    ):
        assert group_window(window, policy) == leaders(window, policy)


def first_leads(window: SampleWindow, most: int) -> tuple[list[int], list[int]]:
    """Return the lead of each row, by its keys' first leads, and the leads that were not compared with all."""
    columns, holders = PackedColumns.decode(window.values), defaultdict[int, list[int]](list)
    classifier = pairs.PairClassifier(columns, Policy(), PairConstraints())
    lead = leader_clustering.first_copies(columns, Policy(), 0, PairConstraints()).tolist()
    entries = classifier.shared_keys(np.array(lead) != np.arange(len(lead)))
    crowded = []
    for row in np.unique(entries.row).tolist():
        shared, keys = Counter[int](), entries.key[entries.row == row].tolist()
        for key in keys:
            shared.update(dict.fromkeys(holders[key], 1 if key >= entries.first_weak else entries.min_shared))
        others = [row * len(lead) + each for each in sorted(shared) if shared[each] >= entries.min_shared]
        lead[row] = next(iter(classifier.decide(np.array(others, np.int64))[0] % len(lead)), row)
        if lead[row] == row:
            crowded += [row] * any(len(holders[key]) == most for key in keys)
            for key in keys:
                holders[key] += [row] * (len(holders[key]) < most)
    return [lead[first] for first in lead], crowded


# Each becomes a row that shares sixteen bands with all, and two more slots if it is of the same text.
OTHERS = [signatures(seed) for seed in range(40)]


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=20, max_size=40), st.sampled_from([1, 10, 100]), st.sampled_from([1, 7, 30])
)
def test_a_key_brings_rows_together_with_its_first_leads_whatever_the_size_of_blocks(
    texts: list[int], budget: int, block: int
) -> None:
    rows = [
        replace(OTHERS[at], slots=(*range(48), text, text, *OTHERS[at].slots[50:])) for at, text in enumerate(texts)
    ]
    window = SampleWindow([value(each, f"{at}") for at, each in enumerate(rows)])
    for most in (3, 1_000):
        with (
            patch.object(leader_clustering, "BUDGET", budget),
            patch.object(pairs, "BUDGET", budget),
            patch.object(leader_clustering, "BLOCK", block),
            patch.object(leader_clustering, "MAX_LEADS", most),
        ):
            grouping = group(PackedColumns.decode(window.values), Policy())
        assert (grouping.lead.tolist(), np.flatnonzero(grouping.crowded).tolist()) == first_leads(window, most)
    assert grouping.lead.tolist() == leaders(window, Policy())


@example_settings
@given(windows, st.data())
def test_manual_decisions_come_before_all_evidence(window: SampleWindow, data: st.DataObject) -> None:
    rows = st.integers(0, max(0, len(window.values) - 1))
    constraints = data.draw(st.frozensets(st.tuples(rows, rows).filter(lambda pair: pair[0] < pair[1]), max_size=6))
    subset = data.draw(st.frozensets(st.sampled_from(sorted(constraints)), max_size=6)) if constraints else frozenset()
    words = PairConstraints(subset, constraints - subset)
    assert group_window(window, Policy(), words) == leaders(window, Policy(), words)


@example_settings
@given(windows)
def test_the_evidence_is_what_joined_a_row_to_its_lead(window: SampleWindow) -> None:
    grouping = group(PackedColumns.decode(window.values), Policy())
    values = window.packed
    for row, (lead, code) in enumerate(zip(grouping.lead.tolist(), grouping.evidence.tolist(), strict=True)):
        a, b = values[row], values[lead]
        evidence = decide(a, b, Policy()) if row != lead and a is not None and b is not None else None
        assert TABLE.name(code) == (evidence.signature if evidence else "")


@pytest.mark.slow
@pytest.mark.parametrize("vary", [False, True], ids=["equal", "near"])
def test_ten_thousand_copies_cost_ten_thousand_comparisons_and_not_fifty_million(vary: bool) -> None:
    base = signatures(1)
    copies = [value(replace(base, content=f"ch4:{at:032x}") if vary else base, f"{at}") for at in range(1, 10_001)]
    decisions = []

    def counting(columns: PackedColumns, a: pairs.Rows, b: pairs.Rows, policy: Policy) -> pairs.Codes:
        decisions.append(len(a))
        return verify(columns, a, b, policy)

    verify = pairs.verify
    with patch.object(pairs, "verify", counting):
        assert set(group_window(SampleWindow(copies), Policy())) == {0}
    assert sum(decisions) < 30_000


def test_members_are_given_in_rank_order_the_first_occurrence_first() -> None:
    a, b = signatures(1), signatures(2)
    window = SampleWindow([value(each, f"{at}") for at, each in enumerate([a, b, a, b, a])])
    assert group(PackedColumns.decode(window.values), Policy()).members([1, 0]) == {1: [1, 3], 0: [0, 2, 4]}


BASE = signatures(1)
NEAR = with_slots(signatures(2, slots=BASE.slots), 60)
HITS = SampleWindow([value(BASE, "0"), value(NEAR, "1"), value(signatures(3), "2"), None]).hits


def word(a: int, b: int, verdict: str) -> Override:
    return Override((HITS[a].index, HITS[a].id), (HITS[b].index, HITS[b].id), verdict)  # type: ignore[arg-type]


def test_evidence_is_the_strongest_of_the_pair_or_none() -> None:
    window = Window.group(HITS, Policy())
    assert "minhash" in str(window.evidence(1, 0))
    assert window.evidence(2, 0) is None
    assert window.evidence(3, 0) is None


def test_not_beats_every_evidence_and_same_counts_where_there_is_none() -> None:
    window = Window.group(HITS, Policy(), [word(0, 1, "not"), word(2, 3, "same")])
    assert window.grouping.lead.tolist() == [0, 1, 2, 2]
    assert window.evidence(1, 0) is None
    assert "override" in str(window.evidence(3, 2))


def test_words_about_hits_behind_the_page_s_steps_are_not_told_of_those_on_it() -> None:
    window = Window.group(HITS, Policy(), [word(0, 1, "not"), word(0, 3, "same")])
    assert [other for other, _, _ in window.head(2).overrides.for_row(0)] == [1]


def test_a_group_s_name_is_made_of_index_level_and_first_occurrence() -> None:
    window = Window.group(HITS, Policy())
    assert window.group_id(0) == Window.group(HITS[:1], Policy()).group_id(0)
    assert len({window.group_id(0), window.group_id(1), Window.group(HITS, Policy("identical")).group_id(0)}) == 3
