"""A manual decision on a pair: kept by pair, followed while the texts are the same."""

import pytest

from ibidem_dedupe.overrides import Override, PairConstraints, apply_overrides
from ibidem_ingest.signatures.packed import PackedColumns
from support.windows import signatures, value

A, B, C = ("news", "a"), ("news", "b"), ("news", "c")
SIGNED = [signatures(1), signatures(2)]
COLUMNS = PackedColumns.decode([value(SIGNED[0], "a"), value(SIGNED[1], "b"), None])
NAMES = [A, B, C]
CONTENTS = [each.content for each in SIGNED]
WORD = Override(A, B, "same", "Ada", "one event", "2026-01-05", CONTENTS[0], CONTENTS[1])


def test_a_later_word_on_the_pair_replaces_an_earlier_one_in_either_order() -> None:
    assert Override(B, A, "not").key == WORD.key
    assert Override(B, C, "not").key != WORD.key


@pytest.mark.parametrize("changed", [0, 1])
def test_either_text_that_has_changed_makes_a_word_stale(changed: int) -> None:
    contents = [f"ch4:{0:032x}" if at == changed else CONTENTS[at] for at in range(2)]
    word = Override(A, B, "same", content_a=contents[0], content_b=contents[1])
    applied = apply_overrides([word], NAMES, COLUMNS)
    assert (applied.constraints, list(applied.for_row(0))) == (PairConstraints(), [(1, word, False)])


@pytest.mark.parametrize("content", ["", "0" * 32])
def test_a_word_without_a_hash_of_this_scheme_outlives_the_signatures(content: str) -> None:
    word = Override(A, B, "same", content_a=content, content_b=content)
    assert apply_overrides([word], NAMES, COLUMNS).constraints == PairConstraints(same=frozenset({(0, 1)}))
