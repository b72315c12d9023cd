"""A manual decision on a pair: kept by pair, followed while the texts are the same."""

import pytest

from ibidem_dedupe.overrides import Override, PairConstraints, apply_overrides
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.windows import signatures, value

A, B, C = ("news", "a"), ("news", "b"), ("news", "c")
SIGNED = [signatures(1), signatures(2)]
COLUMNS = PackedColumns.decode([value(SIGNED[0], "a"), value(SIGNED[1], "b"), None])
NAMES = [A, B, C]
CONTENTS = [each.content for each in SIGNED]
WORD = Override(A, B, "same", "Ada", "one event", "2026-01-05", CONTENTS[0], CONTENTS[1])


def test_a_word_comes_back_from_its_record() -> None:
    assert Override.from_record(WORD.as_record()) == WORD
    assert Override.from_record({**WORD.as_record(), "added": "by others"}) == WORD


def test_a_later_word_on_the_pair_replaces_an_earlier_one_in_either_order() -> None:
    assert Override(B, A, "not").key == WORD.key
    assert Override(B, C, "not").key != WORD.key


@pytest.mark.parametrize(("a", "b", "verdict"), [(A, A, "not"), (A, B, "maybe")])
def test_a_word_that_says_nothing_of_a_pair_is_refused(a: tuple[str, str], b: tuple[str, str], verdict: str) -> None:
    with pytest.raises(UsageError):
        Override(a, b, verdict)  # type: ignore[arg-type] # what a user could type


def test_words_are_heard_about_pairs_of_the_window_only() -> None:
    far = Override(A, ("news", "z"), "not")
    assert apply_overrides([WORD, far], NAMES, COLUMNS).constraints == PairConstraints(same=frozenset({(0, 1)}))
    assert apply_overrides([Override(B, A, "not")], NAMES, COLUMNS).constraints == PairConstraints(
        different=frozenset({(0, 1)})
    )


def test_a_word_is_stale_when_a_text_has_changed_since() -> None:
    override = Override(A, B, "same", content_a=CONTENTS[0], content_b=f"ch3:{0:032x}")
    applied = apply_overrides([override], NAMES, COLUMNS)
    assert applied.constraints == PairConstraints()
    assert list(applied.for_row(0)) == [(1, override, False)]


@pytest.mark.parametrize("content", ["", "0" * 32])
def test_a_word_without_a_hash_of_this_scheme_outlives_the_signatures(content: str) -> None:
    word = Override(A, B, "same", content_a=content, content_b=content)
    assert apply_overrides([word], NAMES, COLUMNS).constraints == PairConstraints(same=frozenset({(0, 1)}))


def test_same_is_evidence_at_the_level_that_was_asked_for() -> None:
    evidence = WORD.evidence("near")
    assert (evidence.level, evidence.signature, evidence.score) == ("near", "override", 1.0)
    assert evidence.why["author"] == "Ada"
