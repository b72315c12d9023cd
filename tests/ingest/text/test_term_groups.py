"""The distinct tokens of each document, with first places and counts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text import term_groups
from ibidem_ingest.text.term_groups import TermGroups, first_and_count
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1

texts = st.lists(st.lists(st.sampled_from(["a", "b", "the", "12", "é"]), max_size=12).map(" ".join), max_size=6)


@given(texts)
def test_groups_are_the_distinct_tokens_of_each_document(several: Sequence[str]) -> None:
    batch = TokenBatch.of(several)
    groups = TermGroups.of(batch)
    words = [groups.vocabulary.word(number).decode() for number in groups.word]
    assert len(set(words)) == groups.vocabulary.hashes.size
    assert groups.vocabulary.hashes.take(groups.word).tolist() == [wh1(word) for word in words]
    for document, text in enumerate(several):
        expected = {word: (tokens(text).index(word), count) for word, count in Counter(tokens(text)).items()}
        assert first_and_count(tokens(text)) == expected
        assert {
            words[group]: (int(groups.first[group] - batch.offsets[document]), int(groups.count[group]))
            for group in np.flatnonzero(groups.document == document)
        } == expected
    assert sorted(zip(groups.word.tolist(), groups.document.tolist(), strict=True)) == list(
        zip(groups.word.tolist(), groups.document.tolist(), strict=True)
    )


def test_hashes_that_agree_in_their_top_bits_are_told_apart() -> None:
    near = np.array([8, 9, 8, 9, 1 << 60, 8], np.uint64)
    assert term_groups.sorted_places(near).tolist() == [0, 2, 5, 1, 3, 4]


def test_tokens_are_put_in_the_order_of_hash_and_place() -> None:
    hashes = np.array([5 << 40, 3 << 40, 5 << 40, 3 << 40], np.uint64)
    assert term_groups.sorted_places(hashes).tolist() == [1, 3, 0, 2]
