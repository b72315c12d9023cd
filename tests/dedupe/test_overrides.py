"""A manual decision on a pair: kept by pair, followed while the texts are the same."""

import pytest

from ibidem_dedupe.overrides import Override, PairConstraints, apply_overrides
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import PackedColumns
from support.windows import signatures, value

A, B, C = ("news", "a"), ("news", "b"), ("news", "c")
SIGNED = [signatures(1), signatures(2)]
COLUMNS = PackedColumns.decode([value(SIGNED[0], "a"), value(SIGNED[1], "b"), None])
NAMES = [A, B, C]
CONTENTS = [each.content for each in SIGNED]
WORD = Override(A, B, "same", "Ada", "one event", "2026-01-05", CONTENTS[0], CONTENTS[1])


def test_the_record_of_a_word_is_json_with_its_fields_by_name_and_reads_back() -> None:
    assert WORD.as_record() == {
        "a": ["news", "a"],
        "b": ["news", "b"],
        "verdict": "same",
        "author": "Ada",
        "reason": "one event",
        "date": "2026-01-05",
        "content_a": CONTENTS[0],
        "content_b": CONTENTS[1],
    }
    assert Override.from_record({**WORD.as_record(), "added": "by others"}) == WORD


def test_a_later_word_on_the_pair_replaces_an_earlier_one_in_either_order() -> None:
    assert Override(B, A, "not").key == WORD.key
    assert Override(B, C, "not").key != WORD.key


@pytest.mark.parametrize(
    ("a", "b", "verdict", "what", "remedy"),
    [
        (A, A, "not", "'a' is one document", "an override needs two documents"),
        (A, B, "maybe", "verdict 'maybe' is not known", "allowed: not, same"),
    ],
)
def test_a_word_that_says_nothing_of_a_pair_is_refused_with_what_would_be_right(
    a: tuple[str, str], b: tuple[str, str], verdict: str, what: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as raised:
        Override(a, b, verdict)  # type: ignore[arg-type] # what a user could type
    assert (raised.value.what, raised.value.remedy) == (what, remedy)


def test_words_are_heard_about_pairs_of_the_window_only() -> None:
    far = Override(A, ("news", "z"), "not")
    assert apply_overrides([WORD, far], NAMES, COLUMNS).constraints == PairConstraints(same=frozenset({(0, 1)}))
    assert apply_overrides([Override(B, A, "not")], NAMES, COLUMNS).constraints == PairConstraints(
        different=frozenset({(0, 1)})
    )


@pytest.mark.parametrize("changed", [0, 1])
def test_either_text_that_has_changed_makes_a_word_stale(changed: int) -> None:
    contents = [f"ch4:{0:032x}" if at == changed else CONTENTS[at] for at in range(2)]
    word = Override(A, B, "same", content_a=contents[0], content_b=contents[1])
    applied = apply_overrides([word], NAMES, COLUMNS)
    assert (applied.constraints, list(applied.for_row(0))) == (PairConstraints(), [(1, word, False)])


def test_each_row_of_a_pair_is_told_of_the_other_and_that_the_word_holds() -> None:
    applied = apply_overrides([WORD], NAMES, COLUMNS)
    assert list(applied.for_row(0)) == [(1, WORD, True)]
    assert list(applied.for_row(1)) == [(0, WORD, True)]
    assert list(applied.for_row(2)) == []


@pytest.mark.parametrize("content", ["", "0" * 32])
def test_a_word_without_a_hash_of_this_scheme_outlives_the_signatures(content: str) -> None:
    word = Override(A, B, "same", content_a=content, content_b=content)
    assert apply_overrides([word], NAMES, COLUMNS).constraints == PairConstraints(same=frozenset({(0, 1)}))


def test_same_is_evidence_at_the_level_that_was_asked_for() -> None:
    why = {"signature": "override", "author": "Ada", "reason": "one event", "date": "2026-01-05"}
    assert WORD.evidence("near") == Evidence("near", "override", 1.0, why)
