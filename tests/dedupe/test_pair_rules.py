"""The decision for many pairs at once says what the decision for one pair says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem.dedupe.pair_rules import SIGNATURES, SLICE, verify
from ibidem.dedupe.parameters import PRESETS
from ibidem_ingest.pairs.decision import Policy, decide
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.windows import SampleWindow, few, make_window, windows

POLICIES = st.sampled_from(
    [
        Policy(),
        Policy(level="identical"),
        Policy(profile=0.8, window_days=41),
        Policy(slots=None, window_days=0),
        Policy(slots=None, terms=None),
        *(preset.policy for preset in PRESETS.values()),
        *(Policy().similar(percent) for percent in (20, 60, 95)),
    ]
)


def expected(window: SampleWindow, policy: Policy) -> list[str]:
    values = window.packed
    reasons = []
    for a in values:
        for b in values:
            evidence = decide(a, b, policy) if a is not None and b is not None else None
            reasons.append(evidence.signature if evidence else "")
    return reasons


@few
@given(windows, POLICIES)
def test_many_pairs_at_once_get_the_verdict_of_one_pair(window: SampleWindow, policy: Policy) -> None:
    size = len(window.values)
    a, b = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    codes = verify(PackedColumns.of(window.values), a, b, policy)
    assert [SIGNATURES[code] for code in codes] == expected(window, policy)


def test_generated_windows_hold_every_kind_of_evidence() -> None:
    kinds = {name for seed in range(30) for name in expected(make_window(seed, 40), Policy(profile=0.8))}
    assert kinds == {"", "content", "minhash", "termvector", "fingerprint", "profile", "characters"}


def test_pairs_beyond_one_slice_are_decided_alike() -> None:
    window = make_window(3, 40)
    columns = PackedColumns.of(window.values)
    a = np.arange(2 * SLICE + 5) % 40
    b = (np.arange(2 * SLICE + 5) * 7) % 40
    assert (
        verify(columns, a, b, Policy()).tolist()
        == [int(verify(columns, a[at : at + 1], b[at : at + 1], Policy())[0]) for at in range(280)]
        * ((2 * SLICE + 5) // 280)
        + verify(columns, a[-((2 * SLICE + 5) % 280) :], b[-((2 * SLICE + 5) % 280) :], Policy()).tolist()
    )
