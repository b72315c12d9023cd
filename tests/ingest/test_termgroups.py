"""The distinct tokens of each document, with first places and counts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest import termgroups
from ibidem_ingest.termgroups import TermGroups, first_and_count
from ibidem_ingest.tokens import TokenBatch, tokens

texts = st.lists(st.lists(st.sampled_from(["a", "b", "the", "12", "é"]), max_size=12).map(" ".join), max_size=6)


@given(texts)
def test_groups_are_the_distinct_tokens_of_each_document(several: Sequence[str]) -> None:
    batch = TokenBatch.of(several)
    groups = TermGroups.of(batch)
    for document, text in enumerate(several):
        words = tokens(text)
        mine = slice(groups.offsets[document], groups.offsets[document + 1])
        assert (groups.document[mine] == document).all()
        found = {
            batch.token(first): (first - int(batch.offsets[document]), count)
            for first, count in zip(groups.first[mine].tolist(), groups.count[mine].tolist(), strict=True)
        }
        assert found == {word: (words.index(word), count) for word, count in Counter(words).items()}
        assert first_and_count(words) == found
    assert groups.offsets[-1] == groups.first.size


def test_hashes_that_agree_in_their_top_bits_are_told_apart() -> None:
    near = np.array([8, 9, 8, 9, 1 << 60, 8], np.uint64)
    offsets = np.array([0, 6])
    places = termgroups._sorted_places(near, offsets, np.diff(offsets))
    assert places.tolist() == [0, 2, 5, 1, 3, 4]


def test_one_document_with_such_hashes_leaves_the_others_alone() -> None:
    near = np.array([5 << 40, 3 << 40, 9, 8, 9, 8, 2 << 40], np.uint64)
    offsets = np.array([0, 2, 2, 6, 7])
    places = termgroups._sorted_places(near, offsets, np.diff(offsets))
    assert places.tolist() == [1, 0, 3, 5, 2, 4, 6]
