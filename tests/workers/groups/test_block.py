"""Each document of a block joins the same lead as in one pass over all documents."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupe.test_column_rules import rule_of
from ibidem_dedupe.overrides import Override, Overrides
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import CLEAN, Policy
from ibidem_engines.ledger import POLICY
from ibidem_engines.stored_groups import GroupedDocument, Name, SeqNoRange, ShardRef
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.settle import (
    LeadChanged,
    Match,
    Row,
    Rules,
    StoredColumns,
    content_keys,
    keeping,
    match_columns,
    near_keys,
)
from simulation.memory_groups import carries
from support.naive_settling import judge, plain
from support.signed_records import make_record
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, value, windows, with_slots


def rows_of(window: SampleWindow) -> list[Row]:
    return [Row(("news", f"{at:04}"), at, value or b"") for at, value in enumerate(window.values, 1)]


def in_blocks(rows: Sequence[Row], rules: Rules, size: int) -> dict[str, str]:
    """Settle block after block, each against all leads before it."""
    groups: dict[str, str] = {}
    leads: list[Row] = []
    for at in range(0, len(rows), size):
        block = rows[at : at + size]
        joins = {join.name[1]: join.lead[1] for join in rules.joins(leads, block)}
        groups |= {row.name[1]: joins.get(row.name[1], row.name[1]) for row in block}
        leads += [row for row in block if row.name[1] not in joins]
    return groups


POLICIES = (POLICY, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy)


@example_settings
@given(windows, st.integers(1, 20), st.sampled_from(POLICIES))
def test_blocks_of_any_size_give_what_one_pass_over_all_gives(window: SampleWindow, size: int, policy: Policy) -> None:
    rows = rows_of(window)
    assert in_blocks(rows, Rules(policy, Overrides()), size) == plain(rows, judge(policy))


def decisions(rows: Sequence[Row], rng: random.Random) -> list[Override]:
    """Some manual decisions, at most one on a pair."""
    pairs = {tuple(sorted(row.name for row in rng.sample(rows, 2))) for _ in range(6)} if len(rows) > 1 else set()
    return [Override(a, b, rng.choice(["same", "not"])) for a, b in sorted(pairs)]


@example_settings
@given(windows, st.integers(1, 20), st.randoms(use_true_random=False))
def test_what_readers_said_is_followed_in_blocks_of_any_size(
    window: SampleWindow, size: int, rng: random.Random
) -> None:
    rows = rows_of(window)
    words = decisions(rows, rng)
    assert in_blocks(rows, Rules(POLICY, Overrides(words)), size) == plain(rows, judge(POLICY, words))


@example_settings
@given(windows, st.sampled_from(POLICIES), st.randoms(use_true_random=False))
def test_the_duplicates_of_a_lead_are_those_of_the_decision_on_each_pair(
    window: SampleWindow, policy: Policy, rng: random.Random
) -> None:
    lead, *rows = [*rows_of(window), Row(("news", "last"), 1_000, b"")]
    words = decisions(rows, rng)
    judged = judge(policy, words)
    expected = [bool(judged(row, lead)) for row in rows]
    assert Rules(policy, Overrides(words)).duplicates(lead, rows) == expected


@example_settings
@given(windows, st.integers(0, 10), st.sampled_from(POLICIES))
def test_a_copy_that_needs_no_look_up_of_its_own_joins_what_its_original_joins(
    window: SampleWindow, settled: int, policy: Policy
) -> None:
    rows, rules = rows_of(window), Rules(policy, Overrides())
    leads = [row for row in rows[:settled] if row.name not in {join.name for join in rules.joins([], rows[:settled])}]
    block = rows[settled:]
    originals = {row.name for row in rules.originals(leads, block)}
    joined = {join.name: join.lead for join in rules.joins(leads, block)}
    assert all(row.name in joined for row in block if row.name not in originals)


def test_a_copy_that_a_decision_keeps_from_its_original_is_looked_up_itself() -> None:
    lead, copy = (Row(("news", name), at, make_record(name, "one text").packed) for at, name in enumerate("ab", 1))
    word = Override(lead.name, copy.name, "not")
    assert Rules(POLICY, Overrides()).originals([lead], [copy]) == []
    assert Rules(POLICY, Overrides([word])).originals([lead], [copy]) == [copy]


RULES = Rules(POLICY, Overrides())


def documents(rows: Sequence[Row], group: str = "") -> list[GroupedDocument]:
    """The rows as stored leads, each of a group of its own."""
    return [
        GroupedDocument(Name(*row.name, row.order), row.value, group or f"group {row.name[1]}", True, (row.order, 0))
        for row in rows
    ]


def match(stored: StoredColumns, leads: Sequence[GroupedDocument], new: Sequence[GroupedDocument]) -> Match:
    return match_columns(stored, ([leads], [new]), RULES, lambda: None)


@example_settings
@given(windows, st.integers(0, 10))
def test_new_documents_join_what_they_join_in_a_block_of_their_own(window: SampleWindow, settled: int) -> None:
    rows = rows_of(window)
    joined = {join.name for join in RULES.joins([], rows[:settled])}
    leads, block = [row for row in rows[:settled] if row.name not in joined], rows[settled:]
    with StoredColumns(len(rows)) as stored:
        found = match(stored, documents(leads), documents(block))(block, {})
    assert found == RULES.joins(leads, block)


def test_a_document_that_was_not_there_when_leads_were_read_is_outrun() -> None:
    late = Row(("news", "late"), 7, b"")
    with StoredColumns(0) as stored, pytest.raises(LeadChanged):
        match(stored, [], [])([late], {})


@example_settings
@given(windows)
def test_a_document_that_names_the_group_of_another_lead_is_nobody_s_lead(window: SampleWindow) -> None:
    rows = rows_of(window)
    with StoredColumns(len(rows)) as stored:
        found = match(stored, [], documents(rows, group="one"))(rows, {})
    assert all(join.lead == rows[0].name for join in found)


def test_new_documents_that_were_read_into_columns_are_not_read_a_second_time_as_far_as_they_may_be_kept() -> None:
    stored = documents([Row(("news", str(order)), order, b"") for order in range(1, 6)])
    reads: list[int] = []

    def read(seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        reads.append(seq_range.after)
        return [each for each in stored if seq_range.after < each.name.order <= seq_range.end][:size]

    cached = keeping(read, room=4)
    stretches = [SeqNoRange(ShardRef("news", 0), after, 5) for after in (0, 2, 4)]
    first, second = ([cached(seq_range, 2) for seq_range in stretches] for _ in range(2))
    assert first == second == [stored[:2], stored[2:4], stored[4:]]
    assert reads == [0, 2, 4, 4]


LOOSE = (PRESETS["law"].policy, PRESETS["books"].policy, POLICY.similar(40), rule_of(1.0))
EVERY_POLICY = (POLICY, CLEAN, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy, *LOOSE)


@example_settings
@given(windows, st.sampled_from(EVERY_POLICY))
def test_every_pair_that_the_decision_joins_shares_a_look_up_key(window: SampleWindow, policy: Policy) -> None:
    rows = [(row, packed) for row in rows_of(window) if (packed := unpack(row.value)) is not None and packed.length]
    judged = judge(policy)
    for row, packed in rows:
        for other, lead in rows:
            if judged(row, other):
                keys = near_keys(packed, policy)
                assert content_keys(packed) == content_keys(lead) or carries(lead, lookup_keys(lead), keys)


@pytest.mark.parametrize("policy", LOOSE)
@pytest.mark.parametrize("equal", [25, 30, 40, 60])
@pytest.mark.parametrize("band", [True, False])
def test_a_pair_that_shares_little_joins_only_where_a_look_up_finds_it(policy: Policy, equal: int, band: bool) -> None:
    """Else groups would depend on whether their leads were looked up or held in columns."""
    first = replace(signatures(1), terms=(), full=False, fingerprint="", profile="", noise=b"")
    second = replace(with_slots(first, equal, band=band), content=f"ch4:{1:032x}")
    lead, row = (Row(("news", name), 1, value(each, name)) for name, each in (("a", first), ("b", second)))
    keys = near_keys(pack_signatures(second), Rules(policy, Overrides()).policy)
    assert carries(pack_signatures(first), lookup_keys(pack_signatures(first)), keys) == band
    assert Rules(policy, Overrides()).duplicates(lead, [row]) == [band]
    assert bool(judge(policy)(row, lead)) == band
