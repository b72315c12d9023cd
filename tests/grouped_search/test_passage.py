"""Passages of one document overlap where the end of one is the beginning of the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.passage import LEAST_OVERLAP, MOST_HOLDERS, Overlap, Passage, hash_words, overlaps
from ibidem_ingest.kernel import loops


def passages(*texts: str) -> list[Passage]:
    return [Passage(text, "lease") for text in texts]


@given(st.integers(12, 60), st.integers(1, 12), st.integers(1, 11))
def test_every_pair_of_a_sliding_window_overlaps_by_what_was_cut_twice(length: int, step: int, extra: int) -> None:
    words, size = [f"w{number}" for number in range(length)], step + extra
    edges = [(start, min(start + size, length)) for start in range(0, length, step)]
    found = overlaps(passages(*(" ".join(words[start:end]) for start, end in edges)))
    for a, (a_start, a_end) in enumerate(edges):
        for b, (b_start, b_end) in enumerate(edges):
            shared = min(a_end, b_end) - max(a_start, b_start)
            expected = a != b and shared >= LEAST_OVERLAP and (a_start, a_end) != (b_start, b_end)
            assert ((a, b) in found) == expected
            if expected:
                assert found[a, b].words == shared


@given(st.lists(st.text()))
def test_words_are_the_same_without_compiled_loops(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "IN_USE", None)
        plain = hash_words(texts)
    assert hash_words(texts) == plain


def test_a_passage_inside_another_is_a_part_of_it() -> None:
    assert overlaps(passages("a b c d e f g h", "c d e f g"))[1, 0] == Overlap(5, "within")


def test_equal_passages_and_those_of_unknown_documents_do_not_overlap() -> None:
    assert not overlaps(passages("a b c d e f", "A, b c d e f."))
    assert not overlaps([Passage("a b c d e f"), Passage("b c d e f g")])


def test_a_heading_that_many_passages_begin_with_is_no_overlap_from_then_on() -> None:
    heading = "lease of the house in"
    starts = [f"{heading} {number}" for number in range(MOST_HOLDERS + 2)]
    assert set(overlaps(passages(*starts, f"x {heading}"))) == set()
    found = overlaps(passages(f"x {heading}", *starts))
    assert {later for _, later in found} == set(range(MOST_HOLDERS + 1))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12).map(" ".join), max_size=9), st.integers(0, 9))
def test_what_follows_changes_no_overlap_before_it(texts: list[str], size: int) -> None:
    before = {pair: each for pair, each in overlaps(passages(*texts)).items() if max(pair) < size}
    assert overlaps(passages(*texts[:size])) == before
