"""Hashes of words and of runs of words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.word_runs import RUN, batches, hash_words, runs, text_batches
from ibidem_ingest.document import Document

WORDS = st.lists(st.sampled_from(["roof", "barn", "rain", "slate"]), max_size=12)


@given(WORDS, WORDS)
def test_equal_runs_have_equal_hashes_wherever_they_stand(before: list[str], run: list[str]) -> None:
    hashes, ends = hash_words([" ".join(before + run), " ".join(run)])
    long, short = runs(hashes[: ends[1]]), runs(hashes[ends[1] :])
    assert short.size == max(0, len(run) - RUN + 1)
    assert not short.size or (long[-short.size :] == short).all()


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_batches_hold_all_items_in_order_and_as_many_as_go_in(items: list[int], most: int) -> None:
    parts = list(batches(items, most, lambda item: item))
    assert [item for part in parts for item in part] == items
    assert all(sum(part) <= most or len(part) == 1 for part in parts)
    assert all(sum(part) + after[0] > most for part, after in pairwise(parts))


def test_no_more_texts_are_read_than_go_into_a_batch() -> None:
    read: list[int] = []
    documents = (read.append(at) or Document(str(at), "x" * 900_000) for at in range(9))  # type: ignore[func-returns-value]
    assert len(next(text_batches(documents))) == 2
    assert read == [0, 1, 2]
