"""Runs that follow each other in both texts make one passage, with its differences."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.matches import GAP, Run, align, anchors, blocks, passages, runs

TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)


@given(TOKENS, TOKENS)
def test_every_run_is_in_one_passage(a: list[str], b: list[str]) -> None:
    common = runs(a, b, 3)
    assert sorted((run for passage in passages(common) for run in passage.runs), key=lambda run: run.a) == common


@given(TOKENS, TOKENS)
def test_blocks_hold_every_word_of_a_passage_once_and_in_order(a: list[str], b: list[str]) -> None:
    for passage in passages(runs(a, b, 3), gap=10):
        inside = list(blocks(passage, a, b))
        assert [word for block in inside for word in range(*block.a)] == list(range(*passage.a))
        assert [word for block in inside for word in range(*block.b)] == list(range(*passage.b))
        assert all((a[slice(*block.a)] == b[slice(*block.b)]) == block.is_equal for block in inside)


def test_one_changed_word_cuts_no_passage_in_two() -> None:
    a = [f"w{number}" for number in range(40)]
    b = [*a[:20], "changed", *a[21:]]
    (passage,) = passages(runs(a, b))
    assert [block.is_equal for block in blocks(passage, a, b)] == [True, False, True]


def test_a_phrase_that_is_elsewhere_too_cuts_no_passage_in_two() -> None:
    parts = passages([Run(0, 0, 10), Run(12, 500, 8), Run(22, 22, 10)])
    assert [(passage.a, passage.words) for passage in parts] == [((0, 32), 20), ((12, 20), 8)]


def test_runs_that_are_far_apart_are_two_passages() -> None:
    assert len(passages([Run(0, 0, 8), Run(9 + GAP, 8, 8)])) == 2
    assert len(passages([Run(0, 0, 8), Run(8 + GAP, 8, 8)])) == 1


WORDS = st.lists(st.sampled_from([f"{a}{b}" for a in "abcdefgh" for b in "xyz"]), max_size=60)


@given(WORDS, WORDS)
def test_anchors_are_words_that_occur_once_in_each_text_and_in_the_same_order(a: list[str], b: list[str]) -> None:
    anchor_pairs = anchors(a, b)
    assert all(a[run.a] == b[run.b] and a.count(a[run.a]) == b.count(b[run.b]) == 1 for run in anchor_pairs)
    assert [run.b for run in anchor_pairs] == sorted({run.b for run in anchor_pairs})


@given(WORDS, WORDS)
def test_with_anchors_every_run_is_still_in_one_passage(a: list[str], b: list[str]) -> None:
    common = runs(a, b)
    runs_in_passages = [run for passage in align(a, b, common) for run in passage.runs]
    assert len(runs_in_passages) == len(set(runs_in_passages))
    assert set(common) <= set(runs_in_passages)


def test_a_text_in_which_every_third_word_was_misread_is_one_passage() -> None:
    a = [f"w{number}" for number in range(300)]
    b = [f"x{number}" if number % 3 == 0 else word for number, word in enumerate(a)]
    assert runs(a, b) == []
    (passage,) = align(a, b, [])
    assert (passage.a, passage.words) == ((1, 300), 200)


def test_a_few_rare_words_that_two_texts_share_make_no_passage() -> None:
    a = [f"w{number}" for number in range(500)]
    b = [word if number % 20 == 0 else f"x{number}" for number, word in enumerate(a)]
    assert align(a, b, []) == []
