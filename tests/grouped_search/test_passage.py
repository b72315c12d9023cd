"""Passages of one document overlap where the end of one is the beginning of the other."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.passage import MAX_HOLDERS, Overlap, Passage, first_match, overlaps
from ibidem_dedupe.word_runs import RUN


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
            expected = a != b and shared >= RUN and (a_start, a_end) != (b_start, b_end)
            assert ((a, b) in found) == expected
            if expected:
                assert found[a, b].words == shared


WORDS = st.lists(st.sampled_from("ab"), min_size=RUN, max_size=14)


@given(WORDS, WORDS)
def test_of_several_overlaps_of_two_passages_the_longest_counts(one: list[str], other: list[str]) -> None:
    found = overlaps(passages(" ".join(one), " ".join(other)))
    longest = max(
        (
            size
            for a, b in ((one, other), (other, one))
            for start in range(len(a))
            if (size := min(len(a) - start, len(b))) >= RUN and a[start : start + size] == b[:size]
        ),
        default=0,
    )
    if one == other or not longest:
        assert not found
    else:
        assert [found[pair].words for pair in ((0, 1), (1, 0))] == [longest, longest]


class CountedWord:
    """A word that counts how often it is compared; all are equal but the last one of a text."""

    compared = 0

    def __init__(self, word: str) -> None:
        self.word = word

    def __eq__(self, other: object) -> bool:
        CountedWord.compared += 1
        return isinstance(other, CountedWord) and self.word == other.word

    __hash__ = None  # type: ignore[assignment]  # never in a set


def test_words_that_are_repeated_are_compared_a_few_times_each() -> None:
    CountedWord.compared = 0
    own, other = ([CountedWord("ha") for _ in range(1_000)] + [CountedWord(last)] for last in "xy")
    assert first_match(own, other, range(1_000 - RUN)) is None
    assert CountedWord.compared <= 5 * 1_000


def test_a_passage_inside_another_is_a_part_of_it() -> None:
    assert overlaps(passages("a b c d e f g h", "c d e f g"))[1, 0] == Overlap(5, "within", 5)


def test_equal_passages_and_those_of_unknown_documents_do_not_overlap() -> None:
    assert not overlaps(passages("a b c d e f", "A, b c d e f."))
    assert not overlaps([Passage("a b c d e f"), Passage("b c d e f g")])


def test_a_heading_that_many_passages_begin_with_is_no_overlap_from_then_on() -> None:
    heading = "lease of the house in"
    starts = [f"{heading} {number}" for number in range(MAX_HOLDERS + 2)]
    assert set(overlaps(passages(*starts, f"x {heading}"))) == set()
    found = overlaps(passages(f"x {heading}", *starts))
    assert {later for _, later in found} == set(range(MAX_HOLDERS + 1))


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12).map(" ".join), max_size=9), st.integers(0, 9))
def test_what_follows_changes_no_overlap_before_it(texts: list[str], size: int) -> None:
    before = {pair: each for pair, each in overlaps(passages(*texts)).items() if max(pair) < size}
    assert overlaps(passages(*texts[:size])) == before
