"""Each document of a block joins the same lead as in one pass over all documents."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupe.test_column_rules import rule_of
from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import CLEAN, Policy
from ibidem_engines.ledger import POLICY
from ibidem_engines.stored_groups import GroupedDocument, Name
from ibidem_ingest.signatures.lookup_keys import content_key, lookup_keys
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.settle import Match, Row, Rules, StoredColumns, match_columns, near_keys
from simulation.memory_groups import carries
from support.naive_settling import judge
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, value, windows, with_slots


def rows_of(window: SampleWindow) -> list[Row]:
    return [Row(("news", f"{at:04}"), at, value or b"") for at, value in enumerate(window.values, 1)]


RULES = Rules(POLICY, Overrides())


def documents(rows: Sequence[Row], group: str = "") -> list[GroupedDocument]:
    """The rows as stored leads, each of a group of its own."""
    return [
        GroupedDocument(Name(*row.name, row.order), row.value, group or f"group {row.name[1]}", True, (row.order, 0))
        for row in rows
    ]


def match(stored: StoredColumns, leads: Sequence[GroupedDocument], new: Sequence[GroupedDocument]) -> Match:
    return match_columns(stored, [leads], [new], RULES, lambda: None)


@example_settings
@given(windows, st.integers(0, 10))
def test_new_documents_join_what_they_join_in_a_block_of_their_own(window: SampleWindow, settled: int) -> None:
    rows = rows_of(window)
    joined = {join.name for join in RULES.joins([], rows[:settled])}
    leads, block = [row for row in rows[:settled] if row.name not in joined], rows[settled:]
    with StoredColumns(len(rows)) as stored:
        found = match(stored, documents(leads), documents(block))(block, {})
    assert found == RULES.joins(leads, block)


LOOSE = (PRESETS["law"].policy, PRESETS["books"].policy, POLICY.similar(40), rule_of(1.0))
EVERY_POLICY = (POLICY, CLEAN, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy, *LOOSE)


@example_settings
@given(windows, st.sampled_from(EVERY_POLICY))
def test_every_pair_that_the_decision_joins_shares_a_look_up_key(window: SampleWindow, policy: Policy) -> None:
    rows = [(row, packed) for row in rows_of(window) if (packed := unpack(row.value)) is not None and packed.length]
    judged, own_keys = judge(policy), lookup_keys([row.value for row, _ in rows])
    for (row, packed), own in zip(rows, own_keys, strict=True):
        for (other, lead), carried in zip(rows, own_keys, strict=True):
            if judged(row, other):
                keys = near_keys(packed, policy, own)
                assert content_key(packed) == content_key(lead) or carries(lead, carried, keys)


@pytest.mark.parametrize("policy", LOOSE)
@pytest.mark.parametrize("equal", [25, 30, 40, 60])
@pytest.mark.parametrize("band", [True, False])
def test_a_pair_that_shares_little_joins_only_where_a_look_up_finds_it(policy: Policy, equal: int, band: bool) -> None:
    """Else groups would depend on whether their leads were looked up or held in columns."""
    first = replace(signatures(1), terms=(), full=False, fingerprint="", profile="", noise=b"")
    second = replace(with_slots(first, equal, band=band), content=f"ch4:{1:032x}")
    lead, row = (Row(("news", name), 1, value(each, name)) for name, each in (("a", first), ("b", second)))
    carried, own = lookup_keys([lead.value, row.value])
    keys = near_keys(pack_signatures(second), Rules(policy, Overrides()).policy, own)
    assert carries(pack_signatures(first), carried, keys) == band
    assert Rules(policy, Overrides()).duplicates(lead, [row]) == [band]
    assert bool(judge(policy)(row, lead)) == band
