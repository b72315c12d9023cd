"""Each document of a block joins the same lead as in one pass over all documents."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.overrides import Override, Overrides
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_engines.ledger import POLICY
from ibidem_workers.groups.settle import Row, Rules
from support.naive_settling import judge, plain
from support.signed_records import make_record
from support.windows import SampleWindow, example_settings, windows


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
