"""Each document of a portion joins the same lead as in one pass over all documents."""

import random
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_engines.stored_groups import LeadKeys
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.checkpoint import POLICY
from ibidem_workers.groups.pairs import content_keys, find_candidates, near_keys
from ibidem_workers.groups.portion import Override, Overrides, Row, Rules, group_portion, index_overrides
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, value, windows, with_slots

Groups = dict[str, str]


def rows_of(window: SampleWindow) -> list[Row]:
    every = [Row(("news", f"{at:04}"), at, value or b"") for at, value in enumerate(window.values, 1)]
    return [row for row in every if row.packed is not None and row.packed.length]


def plain(rows: Sequence[Row], rules: Rules) -> Groups:
    """Take row after row, and compare it with every lead before it."""
    leads: list[Row] = []
    groups: Groups = {}
    for row in rows:
        join = rules.first_join(row, leads)
        if join is None:
            leads.append(row)
        groups[row.name[1]] = join.lead.name[1] if join else row.name[1]
    return groups


def in_portions(rows: Sequence[Row], rules: Rules, size: int, words: Overrides | None = None) -> Groups:
    """Settle portion after portion; look-ups find what an engine would find, and what readers declared the same."""
    groups: Groups = {}
    leads: list[Row] = []
    overrides = words or index_overrides()

    def find(some: Sequence[Row], *, copies: bool) -> list[Row]:
        return [lead for lead in leads if any(carries(lead, row, rules, overrides, copies=copies) for row in some)]

    for at in range(0, len(rows), size):
        portion = rows[at : at + size]
        joins = {join.row.name[1]: join.lead.name[1] for join in group_portion(portion, find, rules)}
        groups |= {row.name[1]: joins.get(row.name[1], row.name[1]) for row in portion}
        leads += [row for row in portion if row.name[1] not in joins]
    return groups


def carries(lead: Row, row: Row, rules: Rules, overrides: Overrides, *, copies: bool) -> bool:
    """Return whether a lead is found for a row."""
    packed_lead, packed_row = lead.packed, row.packed
    assert packed_lead
    assert packed_row
    if copies:
        return content_keys(packed_lead) == content_keys(packed_row)
    values, others = near_keys(packed_lead, rules.policy), near_keys(packed_row, rules.policy)
    same = any(set(values.values.get(clue, ())) & set(some) for clue, some in others.values.items())
    alike = any(
        clue in values.several
        and len(set(values.several[clue].values) & set(some.values)) >= some.min_shared
        and some.shortest <= packed_lead.length <= some.longest
        for clue, some in others.several.items()
    )
    return (
        same or alike or content_keys(packed_lead) == content_keys(packed_row) or lead.name in overrides.partners(row)
    )


POLICIES = (POLICY, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy)


@example_settings
@given(windows, st.integers(1, 20), st.sampled_from(POLICIES))
def test_portions_of_any_size_give_what_one_pass_over_all_gives(
    window: SampleWindow, size: int, policy: Policy
) -> None:
    rows, rules = rows_of(window), Rules(policy, index_overrides().judge(policy))
    assert in_portions(rows, rules, size) == plain(rows, rules)


@example_settings
@given(windows, st.integers(1, 20), st.randoms(use_true_random=False))
def test_what_readers_said_is_followed_in_portions_of_any_size(
    window: SampleWindow, size: int, rng: random.Random
) -> None:
    rows = rows_of(window)
    pairs = [rng.sample(rows, 2) for _ in range(6)] if len(rows) > 1 else []
    words = index_overrides(Override(a.name, b.name, rng.choice(["same", "not"]), ("", "")) for a, b in pairs)
    rules = Rules(POLICY, words.judge(POLICY), words.names)
    assert in_portions(rows, rules, size, words) == plain(rows, rules)


@example_settings
@given(windows, st.sampled_from(POLICIES))
def test_no_pair_that_the_decision_passes_is_left_out(window: SampleWindow, policy: Policy) -> None:
    rows = rows_of(window)
    columns, others = (PackedColumns.decode([row.value for row in rows]) for _ in range(2))
    judge = index_overrides().judge(policy)
    pairs = [{at for at, other in enumerate(rows) if judge(row, other)} for row in rows]
    for row, candidates in enumerate(find_candidates(columns, others, policy)):
        assert pairs[row] <= set(candidates)
    for row, candidates in enumerate(find_candidates(columns, columns, policy)):
        assert {at for at in pairs[row] if at < row} <= set(candidates) <= set(range(row))


@example_settings
@given(windows)
def test_who_joins_was_compared_with_its_lead_itself(window: SampleWindow) -> None:
    rows, policy = rows_of(window), POLICY
    joins = group_portion(rows, nothing, Rules(policy, index_overrides().judge(policy)))
    leads = {join.lead.name for join in joins}
    for join in joins:
        assert index_overrides().judge(policy)(join.row, join.lead) == join.level != ""
    assert leads.isdisjoint(join.row.name for join in joins)


def nothing(rows: Sequence[Row], *, copies: bool) -> Sequence[Row]:
    return ()


def test_a_text_between_two_joins_the_first_and_the_last_one_leads() -> None:
    first = replace(signatures(1), terms=(), full=False, fingerprint="", fingerprint_binned="", profile="", noise=b"")
    middle = replace(with_slots(first, 60), content=f"ch2:{1:032x}")
    last = replace(first, content=f"ch2:{2:032x}", slots=(*(slot ^ 1 for slot in first.slots[:60]), *middle.slots[60:]))
    rows = [
        Row(("news", name), at, value(each, name))
        for at, (name, each) in enumerate(zip("abc", (first, middle, last), strict=True))
    ]
    rules = Rules(POLICY, index_overrides().judge(POLICY))
    assert not rules.judge(rows[0], rows[2])
    assert in_portions(rows, rules, 1) == in_portions(rows, rules, 3) == {"a": "a", "b": "a", "c": "c"}


def test_the_values_that_are_looked_up_are_those_that_count_as_evidence() -> None:
    one = pack_signatures(signatures(1))
    assert set(near_keys(one, POLICY).values) == {"bands", "fingerprint"}
    several = near_keys(one, Policy()).several
    assert {clue: (some.min_shared, some.shortest, some.longest) for clue, some in several.items()} == {
        "rare": (5, 190, 210),
        "characters": (3, 160, 250),
    }
    assert set(near_keys(one, POLICY).several) == {"rare"}
    assert near_keys(one, Policy("identical")) == LeadKeys({})
