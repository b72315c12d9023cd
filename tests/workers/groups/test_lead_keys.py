"""Leads are looked up by what counts as evidence, and every duplicate shares such a key."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupe.test_learned import rule_of
from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import CLEAN, Policy
from ibidem_engines.ledger import POLICY
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.settle import Row, Rules, content_keys, near_keys
from simulation.memory_groups import carries
from support.naive_settling import judge
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, value, windows, with_slots
from workers.groups.test_block import rows_of

LOOSE = (PRESETS["law"].policy, PRESETS["books"].policy, POLICY.similar(40), rule_of(1.0))
POLICIES = (POLICY, CLEAN, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy, *LOOSE)


@example_settings
@given(windows, st.sampled_from(POLICIES))
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
