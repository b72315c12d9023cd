"""Shared text of two documents is found at any place, and located by characters."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.matches import MIN_PASSAGE, Region, count_covered, runs, to_region
from ibidem.comparison.word_places import token_offsets

TOKENS = st.lists(st.sampled_from("abcd"), max_size=60)
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


@given(TOKENS)
def test_a_text_shares_all_of_itself(tokens: list[str]) -> None:
    assert sum(run.words for run in runs(tokens, tokens)) == len(tokens)


def test_regions_are_characters_of_the_texts_as_they_were_given() -> None:
    a, b = f"Article 9. {PASSAGE}. Signed in Paris.", f"NOW THEREFORE {PASSAGE.upper()}; and more"
    (region,) = regions(a, b)
    assert a[slice(*region.a)] == PASSAGE
    assert b[slice(*region.b)] == PASSAGE.upper()
    assert region.words == len(PASSAGE.split())


def test_passages_in_another_order_are_found_too() -> None:
    other = "a wholly different sentence that is long enough to be one run"
    offsets = regions(f"{PASSAGE}. {other}", f"{other}. {PASSAGE}")
    assert sorted(region.words for region in offsets) == sorted([len(PASSAGE.split()), len(other.split())])


def test_runs_of_fewer_words_are_chance() -> None:
    seven = " ".join(PASSAGE.split()[: MIN_PASSAGE - 1])
    assert regions(f"here {seven} ends it all, my friend", f"there {seven} goes on and on for ever") == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted).map(tuple)))
def test_covered_places_are_counted_once(spans: list[tuple[int, int]]) -> None:
    assert count_covered(spans) == len({place for start, end in spans for place in range(start, end)})
