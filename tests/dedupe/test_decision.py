"""The decision for one pair: each row of the table of evidence, each guard, and the laws of symmetry and levels."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import LEVELS, Fingerprint, Policy, Slots
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import Packed, pack, unpack
from ibidem_ingest.signatures.schema import Signatures
from ibidem_ingest.signatures.sign import sign_batch
from support.books import book
from support.some import some
from support.windows import (
    TABLES,
    SampleWindow,
    block,
    example_settings,
    pack_signatures,
    signatures,
    windows,
    with_slots,
    with_terms,
)

BASE = signatures(1)
OTHER = signatures(2)
ONLY_TERMS = Policy(slots=None, fingerprint=None)
PAPER = PRESETS["conrad2003"].policy


def against(other: Signatures, policy: Policy = Policy(), **dates: str) -> Evidence | None:  # noqa: B008 - frozen
    return decide(
        pack_signatures(BASE, "a", dates.get("a", "")), pack_signatures(other, "b", dates.get("b", "")), policy
    )


def unlike(**changes: object) -> Signatures:
    """Return the signatures of another text, with some fields replaced."""
    return replace(OTHER, **changes)  # type: ignore[arg-type] # fields of Signatures, by name


def test_equal_content_is_identical_whatever_dates_and_windows_say() -> None:
    evidence = some(against(unlike(content=BASE.content), Policy(window_days=0), a="1987-01-01", b="1999"))
    assert (evidence.level, evidence.signature, evidence.score) == ("identical", "content", 1.0)


SIMILAR = Policy().similar(80)  # of ten runs each, eight common, twelve are in one or the other: 8 of 12 samples


@pytest.mark.parametrize(
    ("policy", "equal", "near"),
    [
        *((Policy(), equal, equal == 50) for equal in (49, 50)),
        *((SIMILAR, equal, equal == 67) for equal in (65, 66, 67)),
        (Policy(slots=Slots(61)), 60, False),
        *((policy, 100, False) for policy in (ONLY_TERMS, PAPER)),
    ],
)
def test_min_hash_joins_from_the_equal_slots_of_the_policy_on(policy: Policy, equal: int, near: bool) -> None:
    assert (against(with_slots(unlike(slots=BASE.slots), equal), policy) is not None) == near


def test_min_hash_needs_a_band_besides_fifty_equal_slots() -> None:
    assert against(with_slots(unlike(slots=BASE.slots), 60, band=False)) is None


def test_min_hash_evidence_names_slots_and_the_corrected_estimate() -> None:
    assert {**some(against(with_slots(unlike(slots=BASE.slots), 71))).why} == {
        "signature": "minhash",
        "shared": 71,
        "of": 100,
        "estimate": 0.71,
        "days_apart": None,
        "length_ratio": 1.0,
        "numbers_agree": False,
    }


@pytest.mark.parametrize(
    ("policy", "shared", "near"),
    [(Policy(), 39, False), (Policy(), 40, True), (SIMILAR, 47, False), (SIMILAR, 48, True)],
)
def test_feature_sets_join_from_the_shared_terms_of_the_policy_on(policy: Policy, shared: int, near: bool) -> None:
    other = with_terms(unlike(terms=BASE.terms, number_sketch=BASE.number_sketch), shared)
    assert (against(other, policy) is not None) == near


def test_feature_set_evidence_reads_as_the_response_promises() -> None:
    other = with_terms(unlike(terms=BASE.terms, number_sketch=BASE.number_sketch, length=196), 57)
    evidence = some(against(other, a="1987-03-01", b="1987-03-02"))
    assert {**evidence.why} == {
        "signature": "termvector",
        "shared": 57,
        "of": 60,
        "days_apart": 1,
        "length_ratio": 0.98,
        "numbers_agree": True,
    }
    assert (evidence.level, evidence.score) == ("near", 0.95)


@pytest.mark.parametrize(
    "changes",
    [{"length": 189}, {"number_sketch": OTHER.number_sketch}, {"full": False}, {"idf": TABLES[1]}, {"idf": ""}],
    ids=["lengths", "numbers", "pads", "another table", "no table"],
)
def test_a_guard_takes_feature_sets_away(changes: dict[str, object]) -> None:
    equal_fields = {"terms": BASE.terms, "number_sketch": BASE.number_sketch}
    assert against(unlike(**equal_fields)) is not None
    assert against(unlike(**equal_fields | changes)) is None


RECEIPT = signatures(3, length=192, numbers=32, number_sketch=tuple(range(1, 17)))
MISREAD = block(RECEIPT.noise[:64], 60, [(each + 1) % 256 for each in RECEIPT.noise[68:]])


@pytest.mark.parametrize("shared", [{"terms": RECEIPT.terms, "idf": RECEIPT.idf}, {"noise": MISREAD}])
@pytest.mark.parametrize(("length", "others", "near"), [(192, 5, False), (192, 4, True), (193, 5, True)])
def test_receipts_are_near_only_where_three_quarters_of_their_numbers_are_the_same(
    shared: dict[str, object], length: int, others: int, near: bool
) -> None:
    numbers = {"numbers": 32, "number_sketch": tuple(range(1 + others, 17 + others))}
    receipts = replace(RECEIPT, length=length), replace(signatures(4), length=length, **numbers, **shared)
    assert (decide(*map(pack_signatures, receipts), Policy()) is not None) == near


def test_numbers_agree_when_a_third_of_the_union_is_shared_or_one_text_has_fewer_than_three() -> None:
    fresh = (60_001, 60_002, 60_003)
    third = unlike(terms=BASE.terms, number_sketch=tuple(sorted((*BASE.number_sketch[:3], *fresh))), numbers=6)
    less = unlike(terms=BASE.terms, number_sketch=tuple(sorted((*BASE.number_sketch[:2], *fresh))), numbers=5)
    two_numbers = unlike(terms=BASE.terms, number_sketch=fresh[:2], numbers=2)
    assert [against(each) is not None for each in (third, less, two_numbers)] == [True, False, True]


@pytest.mark.parametrize(
    ("changes", "near"),
    [
        ({}, True),
        ({"weak": True}, False),
        ({"length": 189}, False),
        ({"numbers": 6}, False),
        ({"number_sketch": OTHER.number_sketch}, False),
        ({"idf": TABLES[1]}, False),
    ],
    ids=["equal", "weak", "lengths", "one number more", "other numbers", "another table"],
)
def test_fingerprints_join_only_with_almost_equal_lengths_and_equal_numbers(
    changes: dict[str, object], near: bool
) -> None:
    other = unlike(**{"fingerprint": BASE.fingerprint, "number_sketch": BASE.number_sketch} | changes)
    assert (against(other) is not None) == near


def test_a_fingerprint_says_nothing_of_a_text_where_its_six_terms_are_half() -> None:
    short = {"fingerprint": BASE.fingerprint, "number_sketch": (), "numbers": 0, "terms": (), "full": False}
    for length, near in ((49, False), (50, True)):
        a, b = (pack_signatures(signatures(seed, **short, length=length)) for seed in (1, 2))
        assert (decide(a, b, Policy()) is not None) == near
        assert decide(a, b, Policy(fingerprint=Fingerprint(shortest=0))) is not None


def test_profiles_are_evidence_only_where_a_policy_asks_for_them() -> None:
    other = unlike(profile=BASE.profile, number_sketch=BASE.number_sketch, length=160)
    assert against(other) is None
    assert some(against(other, Policy(profile=0.8))).signature == "profile"
    assert against(replace(other, length=159), Policy(profile=0.8)) is None
    assert against(replace(other, number_sketch=OTHER.number_sketch), Policy(profile=0.8)) is None


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        ("1987-03-01", "1987-04-12", True),
        ("1987-03-01", "1987-04-13", False),
        ("1987", "1988-02-11", True),
        ("1987", "1988-02-12", False),
        ("", "1987-04-13", True),
    ],
    ids=["42 days", "43 days", "42 days from the year's end", "43 days from the year's end", "a date is missing"],
)
def test_nothing_but_identity_joins_beyond_the_date_window(a: str, b: str, near: bool) -> None:
    assert (against(unlike(slots=BASE.slots), Policy(window_days=42), a=a, b=b) is not None) == near


def test_fields_that_must_not_differ_come_before_every_level_and_a_missing_one_passes() -> None:
    verdicts = [
        decide(pack_signatures(BASE, "a", docket=a), pack_signatures(BASE, "b", docket=b), Policy())
        for a, b in ("12", "11", ("1", ""))
    ]
    assert [each is not None for each in verdicts] == [False, True, True]


def test_texts_without_words_are_no_duplicates_of_anything() -> None:
    empty = {"length": 0, "shingles": 0, "slots": (), "terms": (), "full": False, "numbers": 0, "number_sketch": ()}
    none = unlike(**empty, fingerprint="", profile="", content="ch4:none:x")
    assert decide(pack_signatures(none, "a"), pack_signatures(none, "b"), Policy()) is None


def test_evidence_is_given_in_the_order_of_the_table() -> None:
    everything = {"slots": BASE.slots, "terms": BASE.terms, "fingerprint": BASE.fingerprint, "profile": BASE.profile}
    other = unlike(**everything, number_sketch=BASE.number_sketch)
    policies = (
        Policy(profile=0.8),
        Policy(profile=0.8, slots=None),
        Policy(profile=0.8, slots=None, terms=None),
        Policy(profile=0.8, slots=None, terms=None, fingerprint=None),
    )
    names = [some(against(other, policy)).signature for policy in policies]
    assert names == ["minhash", "termvector", "fingerprint", "profile"]


@pytest.mark.parametrize(
    ("shared", "size", "joins"), [(48, 60, True), (47, 60, False), (16, 20, True), (15, 20, False)]
)
def test_the_paper_s_rule_takes_four_fifths_of_the_smaller_set_pads_and_all(
    shared: int, size: int, joins: bool
) -> None:
    small = replace(BASE, terms=BASE.terms[:size], full=False, length=161)
    other = replace(with_terms(small, shared), content=OTHER.content, length=200, number_sketch=OTHER.number_sketch)
    assert (decide(pack_signatures(small), pack_signatures(other), PAPER) is not None) == joins


POLICIES = st.sampled_from([Policy(), PAPER, Policy(window_days=42, profile=0.8), ONLY_TERMS])


@example_settings
@given(windows, POLICIES)
def test_the_decision_is_symmetric(window: SampleWindow, policy: Policy) -> None:
    values = [each for each in window.packed if each is not None][:12]
    for a in values:
        for b in values:
            assert decide(a, b, policy) == decide(b, a, policy)


@example_settings
@given(windows, POLICIES)
def test_what_a_level_joins_every_weaker_level_joins(window: SampleWindow, policy: Policy) -> None:
    values = [each for each in window.packed if each is not None][:12]
    for a in values:
        for b in values:
            decisions = [decide(a, b, policy.at(level)) is not None for level in LEVELS]
            assert decisions == sorted(decisions)


@example_settings
@given(windows, POLICIES, st.integers(20, 100), st.integers(20, 100))
def test_a_lower_similarity_never_loses_a_pair(window: SampleWindow, policy: Policy, one: int, other: int) -> None:
    values = [each for each in window.packed if each is not None][:12]
    lower, higher = (policy.similar(percent) for percent in sorted((one, other)))
    for a in values:
        for b in values:
            assert decide(a, b, higher) is None or decide(a, b, lower) is not None


def book_of(name: str, date: str, *pages: int) -> tuple[Packed, LongSignatures]:
    document = Document(name, book(*pages), date=date)
    (signed,) = sign_batch([document], None)
    return some(unpack(pack(document, signed))), some(LongSignatures.decode(signed.long))


def related(first: Sequence[int], second: Sequence[int], policy: Policy, date: str = "1990-01-01") -> Evidence | None:
    (a, a_long), (b, b_long) = book_of("a", "1990-01-01", *first), book_of("b", date, *second)
    return decide(a, b, policy, (a_long, b_long))


PARTIAL = Policy(level="partial")


def test_a_chapter_is_partial_by_the_relation_of_two_long_texts_and_at_no_stronger_level() -> None:
    found = some(related(range(30), range(12, 18), PARTIAL))
    assert (found.level, found.why["relation"], found.why["direction"]) == ("partial", "contiguous_subset", "contains")
    assert related(range(30), range(12, 18), Policy()) is None


def test_a_relation_counts_within_the_date_window_alone() -> None:
    policy = replace(PARTIAL, window_days=7)
    assert related(range(30), range(12, 18), policy, "1990-01-08") is not None
    assert related(range(30), range(12, 18), policy, "1990-02-08") is None


def test_evidence_of_another_kind_is_told_with_the_relation_of_two_long_texts() -> None:
    found = some(related(range(30), range(30), PARTIAL))
    assert (found.level, found.why["signature"], found.why["relation"]) == ("identical", "content", "same_pagination")


@pytest.mark.parametrize("turned", [False, True])
def test_a_text_without_words_is_related_to_nothing(turned: bool) -> None:
    (a, a_long), (b, b_long) = book_of("a", "", *range(30)), book_of("b", "", *range(30))
    empty = replace(b, length=0)
    assert decide(*((empty, a) if turned else (a, empty)), PARTIAL, (a_long, b_long)) is None
