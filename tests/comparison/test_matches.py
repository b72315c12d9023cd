"""Shared text of two documents is found at any place, in passages with their differences, located by characters."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.compare import Region, align, blocks, passages, runs, to_region
from ibidem.comparison.word_diff import token_offsets
from ibidem_ingest.text.tokens import tokens

TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)
PASSAGE = "the parties agree that this contract is governed by the law of England"


def regions(text_a: str, text_b: str) -> list[Region]:
    a, b = token_offsets(text_a), token_offsets(text_b)
    return [to_region(run, a, b) for run in runs(a.tokens, b.tokens)]


@given(TOKENS, TOKENS, st.integers(1, 8))
def test_each_run_holds_the_same_words_in_both_texts_and_cannot_go_on(a: list[str], b: list[str], least: int) -> None:
    for run in runs(a, b, least):
        assert run.words >= min(least, len(a), len(b))
        assert a[run.a : run.a + run.words] == b[run.b : run.b + run.words]
        assert a[run.a + run.words : run.a + run.words + 1] != b[run.b + run.words : run.b + run.words + 1] or (
            run.a + run.words == len(a) or run.b + run.words == len(b)
        )


@given(TOKENS, TOKENS, st.integers(1, 8))
def test_every_word_inside_a_long_enough_common_run_is_covered(a: list[str], b: list[str], least: int) -> None:
    size = min(least, len(a), len(b))
    shared = {tuple(b[i : i + size]) for i in range(len(b) - size + 1)} if size else set()
    starts = [i for i in range(len(a) - size + 1) if tuple(a[i : i + size]) in shared] if size else []
    places = {i for run in runs(a, b, least) for i in range(run.a, run.a + run.words)}
    assert all(places & set(range(start, start + size)) for start in starts)


def test_regions_are_characters_of_the_texts_as_they_were_given() -> None:
    a, b = f"Article 9. {PASSAGE}. Signed in Paris.", f"NOW THEREFORE {PASSAGE.upper()}; and more"
    (region,) = regions(a, b)
    assert a[slice(*region.a)] == PASSAGE
    assert b[slice(*region.b)] == PASSAGE.upper()
    assert region.words == len(PASSAGE.split())


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


WORDS = st.lists(st.sampled_from([f"{a}{b}" for a in "abcdefgh" for b in "xyz"]), max_size=60)


@given(WORDS, WORDS)
def test_with_anchors_every_run_is_still_in_one_passage(a: list[str], b: list[str]) -> None:
    common = runs(a, b)
    runs_in_passages = [run for passage in align(a, b, common) for run in passage.runs]
    assert len(runs_in_passages) == len(set(runs_in_passages))
    assert set(common) <= set(runs_in_passages)


BREAKS = st.sampled_from(
    ["-\n", "-\r\n  ", "\u00ad\n", "¬\n", "-\f", " - ", "\n\n", "\f", " ", "\u00a0", "\u2019s ", "ﬁ"]
)
TEXTS = st.lists(BREAKS | st.text(alphabet="abcXYZ019é东ßΣ", max_size=4) | st.text(max_size=3)).map("".join)


@given(TEXTS)
def test_places_lie_in_the_text_and_never_run_backwards(text: str) -> None:
    offsets = token_offsets(text)
    assert offsets.tokens == tokens(text)
    assert all(0 <= start < end <= len(text) for start, end in zip(offsets.starts, offsets.ends, strict=True))
    assert offsets.starts == sorted(offsets.starts)
    assert offsets.ends == sorted(offsets.ends)


def test_a_word_broken_at_the_end_of_a_line_covers_both_lines() -> None:
    text = "the defen-\n  dant pleads"
    offsets = token_offsets(text)
    place = offsets.tokens.index("defendant")
    assert text[offsets.starts[place] : offsets.ends[place]] == "defen-\n  dant"
