"""A learned rule judges candidates by their sum alone, alike for one pair and many."""

from dataclasses import replace

import pytest

from ibidem.grouped_search.explanations import reason
from ibidem_dedupe.decision import decide
from ibidem_dedupe.evidence import TABLE
from ibidem_dedupe.learned import FIGURES, Learned, Weight
from ibidem_dedupe.policy import Policy, Slots, Terms
from ibidem_ingest.signatures.packed import Packed
from support.learned_rules import make_rule
from support.windows import pack_signatures, signatures


def rule_of(intercept: float, **weights: float) -> Policy:
    """Weigh some figures and no others."""
    return Policy.from_rule(Learned(intercept, tuple(Weight(name, weights.get(name, 0.0), 0.0) for name in FIGURES)))


@pytest.fixture
def halves() -> tuple[Packed, Packed]:
    """Two texts that share 30 slots of 100, too little for the default figures."""
    one = signatures(1)
    other = replace(signatures(2), slots=(*one.slots[:30], *signatures(2).slots[30:]))
    return pack_signatures(one, "a"), pack_signatures(other, "b")


def test_a_sum_that_is_not_negative_joins_a_pair(halves: tuple[Packed, Packed]) -> None:
    assert decide(*halves, Policy()) is None
    evidence = decide(*halves, rule_of(-1.0, runs=4.0))
    assert evidence
    assert (evidence.level, evidence.signature) == ("near", "learned")
    assert 0.5 < evidence.score < 0.6
    assert reason({**evidence.why, "numbers_agree": True}).startswith("alike: five-word runs +1.2")
    assert decide(*halves, rule_of(-1.3, runs=4.0)) is None


def test_texts_that_share_nothing_are_no_candidates() -> None:
    a, b = pack_signatures(signatures(1), "a"), pack_signatures(signatures(2), "b")
    assert decide(a, b, rule_of(100.0)) is None


def test_the_same_text_stays_identical_whatever_the_weights() -> None:
    a, b = pack_signatures(signatures(1), "a"), pack_signatures(signatures(1), "b")
    evidence = decide(a, b, rule_of(-100.0))
    assert evidence
    assert evidence.signature == "content"


def test_titles_that_differ_are_weighed_and_exclude_nothing() -> None:
    short = replace(signatures(1), length=12, shingles=8)
    a, b = (
        pack_signatures(replace(short, title=title, titled=True), name) for title, name in (("one", "a"), ("two", "b"))
    )
    assert decide(a, b, Policy()) is None
    evidence = decide(a, b, rule_of(1.0, title=0.5))
    assert evidence
    assert evidence.signature == "learned"
    assert decide(a, b, rule_of(1.0, title=2.0)) is None


def test_no_other_evidence_of_near_duplicates_counts_beside_it() -> None:
    counted = [kind.name for kind in TABLE.counted(Policy.from_rule(make_rule()))]
    assert counted == ["content", "learned"]


def test_candidates_of_a_learned_rule_are_looser_than_those_of_the_default() -> None:
    default, loose = Policy(), Policy.from_rule(make_rule()).candidates
    assert loose.learned is None
    assert (loose.slots or Slots(100)).equal < (default.slots or Slots(0)).equal
    assert (loose.terms or Terms(1.0)).share < (default.terms or Terms(0.0)).share
    assert default.candidates is default
