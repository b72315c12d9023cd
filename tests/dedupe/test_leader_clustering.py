"""Leader grouping: the plain loop's result, at the price of what is found, and the laws of how-it-works.md ("Laws")."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.response import Window
from ibidem_dedupe import leader_clustering, pairs
from ibidem_dedupe.evidence import TABLE
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import PackedColumns
from support.examples import examples
from support.fake_engine import PAGE, FakeEngine
from support.naive_grouping import leaders
from support.policies import POLICIES
from support.windows import SampleWindow, example_settings, make_window, signatures, value, windows, with_slots


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


@settings(max_examples=examples(100), deadline=None)
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


BASE = signatures(1)
NEAR = with_slots(signatures(2, slots=BASE.slots), 60)
HITS = SampleWindow([value(BASE, "0"), value(NEAR, "1"), value(signatures(3), "2"), None]).hits


def test_a_group_s_name_is_made_of_index_level_and_first_occurrence() -> None:
    window = Window.group(HITS, Policy())
    assert window.group_id(0) == Window.group(HITS[:1], Policy()).group_id(0)
    assert len({window.group_id(0), window.group_id(1), Window.group(HITS, Policy("identical")).group_id(0)}) == 3


Response = dict[str, Any]
Options = dict[str, object]


def with_copies(seed: int, size: int, copies: int) -> SampleWindow:
    """A window of some texts and many copies of two of them, in any order."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    values = list(make_window(seed, size).values)
    values += [each for each in rng.sample(values, min(2, len(values))) for _ in range(copies)]
    rng.shuffle(values)
    return SampleWindow(values)


many_copies = st.builds(with_copies, st.integers(0, 2**32), st.integers(1, 25), st.integers(0, 25))
KEEPS = st.sampled_from(["rank", "earliest", "latest", "longest", "source:Reuters,AP"])
STEPS = st.sampled_from([2, 7, 100])
SIZES = st.sampled_from([2, 5])


def page(engine: FakeEngine, number: int, size: int, **options: object) -> Response:
    parameters = {f"dedupe_{name}": value for name, value in options.items() if name != "mode"}
    return search_index(
        engine, PAGE, parse_request({"dedupe": options.get("mode", "indent"), **parameters}), number, size
    )


def pages(engine: FakeEngine, size: int, **options: object) -> list[Response]:
    """All pages up to the first without groups, which may still tell of late documents."""
    responses = []
    while not responses or responses[-1]["hits"]["hits"]:
        responses.append(page(engine, len(responses) + 1, size, **options))
    return responses


def shown(response: Response) -> Iterator[Response]:
    """The hits of a page, those inside a lead too."""
    for hit in response["hits"]["hits"]:
        yield from (hit, *hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", []))


def listed(response: Response) -> list[str]:
    return [each["_id"] for each in shown(response)]


def late(response: Response) -> list[str]:
    return [each["id"] for each in response["dedupe"]["late"]]


def groups(responses: list[Response]) -> dict[str, str]:
    """Which group each document is in, late ones too."""
    members = {}
    for response in responses:
        for each in shown(response):
            assert each["_id"] not in members
            members[each["_id"]] = each["_dedupe"]["group"]
        for member in response["dedupe"]["late"]:
            assert member["id"] not in members
            members[member["id"]] = member["group"]
    return members


@example_settings
@given(windows | many_copies, STEPS, SIZES, KEEPS)
def test_law_1_all_pages_and_what_came_late_are_the_window_each_document_once(
    window: SampleWindow, step: int, size: int, keep: str
) -> None:
    engine = FakeEngine(window)
    responses = pages(engine, size, window=step, keep=keep)
    names = [name for response in responses for name in [*listed(response), *late(response)]]
    assert sorted(names) == [hit.id for hit in window.hits]


@example_settings
@given(windows, STEPS, SIZES)
def test_law_1_groups_are_in_the_order_of_their_first_members(window: SampleWindow, step: int, size: int) -> None:
    responses = pages(FakeEngine(window), size, window=step)
    leads = [hit["_id"] for response in responses for hit in response["hits"]["hits"] if not hit["_dedupe"]["indent"]]
    assert leads == sorted(leads)


@pytest.mark.slow
@example_settings
@given(windows, windows, STEPS, SIZES, st.sampled_from(["matches", "index"]))
def test_law_1_a_wider_scope_holds_the_window_and_still_no_document_twice(
    window: SampleWindow, beyond: SampleWindow, step: int, size: int, scope: str
) -> None:
    responses = pages(FakeEngine(window, beyond), size, window=step, scope=scope)
    names = [name for response in responses for name in [*listed(response), *late(response)]]
    assert len(names) == len(set(names))
    assert {hit.id for hit in window.hits} <= set(names)
    assert scope == "index" or set(names) == {hit.id for hit in window.hits}


@example_settings
@given(windows, STEPS, SIZES)
def test_law_2_collapsed_leads_with_their_duplicates_are_the_same_documents(
    window: SampleWindow, step: int, size: int
) -> None:
    engine = FakeEngine(window)
    options: Options = {"window": step, "max_per_group": step}
    collapsed, indented = (pages(engine, size, mode=mode, **options) for mode in ("collapse", "indent"))
    assert [sorted(listed(each)) for each in collapsed] == [sorted(listed(each)) for each in indented]


@example_settings
@given(windows, STEPS, SIZES, st.integers(0, 3))
def test_law_3_no_document_is_in_two_groups_and_sizes_add_up(
    window: SampleWindow, step: int, size: int, most: int
) -> None:
    options: Options = {"window": max(3, step), "max_per_group": most}
    for response in pages(FakeEngine(window), size, **options):
        marks = [hit["_dedupe"] for hit in response["hits"]["hits"]]
        for mark in marks:
            members = sum(each["group"] == mark["group"] for each in marks)
            assert mark["shown"] == members <= 1 + most
            assert mark["size"] == mark["shown"] + mark["hidden"]
    groups(pages(FakeEngine(window), size, **options))


@example_settings
@given(windows, STEPS, STEPS)
def test_law_4_widening_the_window_moves_no_document_to_another_group(
    window: SampleWindow, step: int, wider: int
) -> None:
    engine = FakeEngine(window)
    narrow, wide = (page(engine, 1, 100, window=each) for each in sorted((step, wider)))
    narrow_groups, wide_groups = groups([narrow]), groups([wide])
    assert {name: wide_groups[name] for name in narrow_groups} == narrow_groups


@example_settings
@given(windows, KEEPS, STEPS, SIZES)
def test_law_4_another_lead_changes_no_membership_and_no_group_s_place(
    window: SampleWindow, keep: str, step: int, size: int
) -> None:
    engine = FakeEngine(window)
    rank_pages, other = (pages(engine, size, window=step, keep=each) for each in ("rank", keep))
    assert groups(rank_pages) == groups(other)
    assert [[hit["_dedupe"]["group"] for hit in each["hits"]["hits"]] for each in rank_pages] == [
        [hit["_dedupe"]["group"] for hit in each["hits"]["hits"]] for each in other
    ]


@example_settings
@given(windows)
def test_law_5_each_duplicate_is_at_the_level_asked_for_or_a_stronger_one(window: SampleWindow) -> None:
    engine = FakeEngine(window)
    for level, allowed in (("identical", {"identical"}), ("near", {"identical", "near"})):
        hits = page(engine, 1, 100, level=level)["hits"]["hits"]
        assert {hit["_dedupe"]["level"] for hit in hits if hit["_dedupe"]["indent"]} <= allowed


@example_settings
@given(windows, STEPS)
def test_law_6_a_document_without_signatures_is_a_group_of_its_own_and_counted(window: SampleWindow, step: int) -> None:
    responses = pages(FakeEngine(window), 5, window=step)
    names = groups(responses)
    unsigned = [f"{at:04}" for at, each in enumerate(window.packed) if each is None or not each.length]
    assert all(list(names.values()).count(names[name]) == 1 for name in unsigned)
    assert responses[-1]["dedupe"]["unsigned"] == len(unsigned)


@example_settings
@given(windows, STEPS, SIZES)
def test_law_8_a_group_keeps_its_name_while_its_first_occurrence_stays_first(
    window: SampleWindow, step: int, size: int
) -> None:
    narrow = groups(pages(FakeEngine(window), size, window=step))
    wide = groups(pages(FakeEngine(window), 100, window=100))
    assert narrow == wide


@example_settings
@given(windows | many_copies, STEPS, SIZES, st.sampled_from(["off", "collapse", "indent"]))
def test_the_account_adds_up(window: SampleWindow, step: int, size: int, mode: str) -> None:
    for response in pages(FakeEngine(window), size, window=step, mode=mode):
        account = response["dedupe"]
        counts, group_counts = account["documents"], account["groups"]
        assert counts["matched"] == counts["in_window"] + counts["beyond_window"] == len(window.hits)
        assert counts["in_window"] == group_counts["in_window"] + account["duplicates"]
        assert group_counts["exact"] == (counts["beyond_window"] == 0)
        assert counts["on_page"] == len(listed(response))
        assert group_counts["on_page"] == len(response["hits"]["hits"]) - sum(
            hit.get("_dedupe", {}).get("indent", 0) for hit in response["hits"]["hits"]
        )


@example_settings
@given(windows | many_copies, STEPS, SIZES)
def test_a_page_shows_the_same_whether_or_not_later_ones_were_asked_for(
    window: SampleWindow, step: int, size: int
) -> None:
    pages_once = pages(FakeEngine(window), size, window=step)
    pages_again = [
        page(FakeEngine(window), number + 1, size, window=step) for number in reversed(range(len(pages_once)))
    ]
    assert [each["hits"] for each in reversed(pages_again)] == [each["hits"] for each in pages_once]


@pytest.mark.slow
@pytest.mark.parametrize("step", [10, 50, 500])
def test_the_laws_hold_for_real_signatures_of_texts_with_versions(news_window: SampleWindow, step: int) -> None:
    responses = pages(FakeEngine(news_window), 10, window=step)
    assert sorted(groups(responses)) == [hit.id for hit in news_window.hits]
    assert groups(responses) == groups(
        pages(FakeEngine(news_window), 10, mode="collapse", window=step, max_per_group=step)
    )
