"""Hashes of words and of runs of words."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.word_runs import RUN, batches, hash_words, runs

WORDS = st.lists(st.sampled_from(["roof", "barn", "rain", "slate"]), max_size=12)


@given(WORDS, WORDS)
def test_equal_runs_have_equal_hashes_wherever_they_stand(before: list[str], run: list[str]) -> None:
    hashes, ends = hash_words([" ".join(before + run), " ".join(run)])
    long, short = runs(hashes[: ends[1]]), runs(hashes[ends[1] :])
    assert short.size == max(0, len(run) - RUN + 1)
    assert not short.size or (long[-short.size :] == short).all()


@given(st.lists(st.integers()), st.integers(1, 5))
def test_batches_hold_all_items_in_order(items: list[int], size: int) -> None:
    parts = list(batches(items, size))
    assert [item for part in parts for item in part] == items
    assert all(len(part) == size for part in parts[:-1])
