"""Leads are looked up by what counts as evidence, and every duplicate shares such a key."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_engines.group_checkpoint import POLICY
from ibidem_engines.stored_groups import LeadKeys
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.lead_keys import content_keys, near_keys
from support.naive_settling import judge
from support.windows import SampleWindow, example_settings, pack_signatures, signatures, windows
from workers.groups.test_block import rows_of


@example_settings
@given(windows, st.sampled_from((POLICY, POLICY.within(30), POLICY.at("identical"), Policy(), PRESETS["scans"].policy)))
def test_every_pair_that_the_decision_joins_shares_a_look_up_key(window: SampleWindow, policy: Policy) -> None:
    rows = [(row, packed) for row in rows_of(window) if (packed := unpack(row.value)) is not None and packed.length]
    judged = judge(policy)
    for row, packed in rows:
        for other, lead in rows:
            if judged(row, other):
                keys, others = near_keys(packed, policy), near_keys(lead, policy)
                assert content_keys(packed) == content_keys(lead) or share(keys, others, lead.length)


def share(keys: LeadKeys, others: LeadKeys, length: int) -> bool:
    """Whether a lead is found by the keys of a document."""
    one = any(set(values) & set(others.values.get(clue, ())) for clue, values in keys.values.items())
    return one or any(
        len(set(several.values) & set(others.several[clue].values)) >= several.min_shared
        and several.shortest <= length <= several.longest
        for clue, several in keys.several.items()
        if clue in others.several
    )


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
