"""The decision for many pairs at once, by a learned rule too, says what the decision for one pair says."""

from dataclasses import replace
from math import inf
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import reason
from ibidem_dedupe.column_rules import Pairs, count_shared
from ibidem_dedupe.evidence import TABLE
from ibidem_dedupe.learned_evidence import measure, measure_columns
from ibidem_dedupe.pair_evidence import are_different_forms
from ibidem_dedupe.pairs import UNDECIDED, decide, screen, strongest_codes, verify
from ibidem_dedupe.policy import FIGURES, LEVELS, Learned, Policy, Weight
from ibidem_ingest.document import Document
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import NO_TERM, PackedColumns, pack, unpack
from ibidem_ingest.signatures.schema import Signatures
from ibidem_ingest.signatures.sign import sign_one
from support.learned_rules import make_rule
from support.policies import POLICIES
from support.signed_books import sign_book
from support.some import some
from support.windows import (
    SampleWindow,
    example_settings,
    make_window,
    pack_signatures,
    signatures,
    value,
    windows,
    with_slots,
    with_terms,
)


def expected(window: SampleWindow, policy: Policy) -> list[str]:
    values = window.packed
    reasons = []
    for a in values:
        for b in values:
            evidence = decide(a, b, policy) if a is not None and b is not None else None
            reasons.append(evidence.signature if evidence else "")
    return reasons


@example_settings
@given(windows, POLICIES)
def test_many_pairs_at_once_get_the_verdict_of_one_pair(window: SampleWindow, policy: Policy) -> None:
    size = len(window.values)
    a, b = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    with patch("ibidem_dedupe.pairs.SLICE", 100):
        codes = verify(PackedColumns.decode(window.values), a, b, policy)
    assert [TABLE.name(code) for code in codes] == expected(window, policy)


@given(st.lists(st.lists(st.sampled_from(["word", *"12345678"]), min_size=1, max_size=40), max_size=6))
def test_forms_differ_in_columns_as_for_one_pair(texts: list[list[str]]) -> None:
    documents = [Document(str(at), " ".join(text)) for at, text in enumerate(texts)]
    values = [pack(each, sign_one(each, None)) for each in documents]
    rows = [unpack(value) for value in values]
    pairs = [(at, to) for at, a in enumerate(rows) for to, b in enumerate(rows) if a and b]
    a, b = (np.array(side, np.int64) for side in (zip(*pairs, strict=True) if pairs else ((), ())))
    one_by_one = [are_different_forms(*(row for row in (rows[at], rows[to]) if row)) for at, to in pairs]
    assert Pairs(PackedColumns.decode(values), a, b).forms_differ().tolist() == one_by_one


@pytest.mark.slow
def test_generated_windows_hold_every_kind_of_evidence() -> None:
    kinds = {name for seed in range(30) for name in expected(make_window(seed, 40), Policy(profile=0.8))}
    assert kinds == {"", "content", "minhash", "termvector", "fingerprint", "profile", "characters"}


ROWS = 12


def ascending(width: int, fill_value: int) -> st.SearchStrategy[list[list[int]]]:
    """Rows of values that ascend, with filling behind the last."""
    row = st.sets(st.integers(0, 40), max_size=width).map(lambda codes: (sorted(codes) + [fill_value] * width)[:width])
    return st.lists(row, min_size=ROWS, max_size=ROWS)


EVERY_PAIR = np.divmod(np.arange(ROWS * ROWS), ROWS)


@given(ascending(60, NO_TERM))
def test_terms_that_two_rows_share_are_counted(rows: list[list[int]]) -> None:
    counts = count_shared(np.array(rows, np.int32), *EVERY_PAIR)
    assert counts.tolist() == [len({*a} & {*b} - {NO_TERM}) for a in rows for b in rows]


@example_settings
@given(windows, POLICIES)
def test_no_pair_that_a_rule_takes_is_screened_out(window: SampleWindow, policy: Policy) -> None:
    columns, size = PackedColumns.decode(window.values), len(window.values)
    pairs = Pairs(columns, *np.divmod(np.arange(size * size), size))
    passing = screen(columns, pairs.a, pairs.b, policy.candidates)
    assert passing[strongest_codes(pairs, policy) > 0].all()


NONE = Policy(slots=None, terms=None, fingerprint=None, profile=None, characters=None)
SLOTS, TERMS = (replace(NONE, slots=Policy().slots), replace(NONE, terms=Policy().terms))
PROFILE, FINGERPRINT = replace(NONE, profile=0.8), replace(NONE, fingerprint=Policy().fingerprint)
FIRST, SECOND = signatures(1), signatures(2)


@pytest.mark.parametrize(
    ("other", "policy", "expected"),
    [
        (SECOND, Policy(), False),
        (SECOND, Policy(level="partial"), True),
        (replace(SECOND, content=FIRST.content), NONE, True),
        (with_slots(replace(SECOND, slots=FIRST.slots), 50), SLOTS, True),
        (with_slots(replace(SECOND, slots=FIRST.slots), 49), SLOTS, False),
        (replace(SECOND, slots=FIRST.slots), NONE, False),
        (with_terms(replace(SECOND, terms=FIRST.terms, length=FIRST.length), 40), TERMS, True),
        (with_terms(replace(SECOND, terms=FIRST.terms, length=FIRST.length), 39), TERMS, False),
        (replace(SECOND, terms=FIRST.terms, length=2 * FIRST.length), TERMS, False),
        (replace(SECOND, terms=FIRST.terms, length=FIRST.length), NONE, False),
        (replace(SECOND, profile=FIRST.profile), PROFILE, True),
        (replace(SECOND, profile=FIRST.profile), NONE, False),
        (replace(SECOND, fingerprint=FIRST.fingerprint), FINGERPRINT, True),
        (replace(SECOND, fingerprint=FIRST.fingerprint), NONE, False),
    ],
)
def test_a_pair_passes_the_screen_by_what_a_rule_of_the_policy_takes_and_nothing_else(
    other: Signatures, policy: Policy, expected: bool
) -> None:
    columns = PackedColumns.decode([value(FIRST, "a"), value(other, "b")])
    passing = screen(columns, np.array([0]), np.array([1]), policy)
    assert (passing.dtype, passing.tolist()) == (bool, [expected])


@pytest.mark.parametrize("in_use", [loops.IN_USE, None])
def test_a_pair_of_long_texts_is_left_to_their_long_signatures_at_partial_alone(
    in_use: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = PackedColumns.decode([sign_book("a", *range(1, 9))[0], sign_book("b", *range(51, 59))[0]])
    monkeypatch.setattr(loops, "IN_USE", in_use)
    policies = [*(Policy(level=level) for level in LEVELS), replace(Policy(level="partial"), related=None)]
    codes = [int(verify(columns, np.array([0]), np.array([1]), policy)[0]) for policy in policies]
    assert codes == [0, 0, UNDECIDED, 0]


figures = st.lists(st.floats(-3, 40), min_size=len(FIGURES), max_size=len(FIGURES))


def test_weights_are_finite() -> None:
    with pytest.raises(ValueError, match="finite"):
        Learned(inf, make_rule().weights)
    with pytest.raises(ValueError, match="finite"):
        Learned(0.0, tuple(Weight(name, inf, 0.0) for name in FIGURES))


def rule_of(intercept: float, **weights: float) -> Policy:
    """Weigh some figures and no others."""
    return Policy.from_rule(Learned(intercept, tuple(Weight(name, weights.get(name, 0.0), 0.0) for name in FIGURES)))


def test_a_sum_that_is_not_negative_joins_a_pair() -> None:
    other = replace(SECOND, slots=(*FIRST.slots[:30], *SECOND.slots[30:]))  # too few for the default figures
    halves = pack_signatures(FIRST, "a"), pack_signatures(other, "b")
    assert decide(*halves, Policy()) is None
    evidence = decide(*halves, rule_of(-1.0, runs=4.0))
    assert evidence
    assert (evidence.level, evidence.signature) == ("near", "learned")
    assert 0.5 < evidence.score < 0.6
    assert reason({**evidence.why, "numbers_agree": True}).startswith("alike: five-word runs +1.2")
    assert decide(*halves, rule_of(-1.3, runs=4.0)) is None


@pytest.mark.slow
@example_settings
@given(windows)
def test_columns_hold_the_figures_of_each_pair(window: SampleWindow) -> None:
    columns = PackedColumns.decode(window.values)
    rows = np.flatnonzero(columns.length > 0)
    pairs = Pairs(columns, np.repeat(rows, len(rows)), np.tile(rows, len(rows)))
    figures = measure_columns(pairs)
    assert figures.shape == (len(pairs.a), len(FIGURES))
    for row, (a, b) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)):
        assert figures[row].tolist() == measure(some(window.packed[a]), some(window.packed[b]))
