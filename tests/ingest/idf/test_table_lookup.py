"""Every term is found at its rank, and nothing else is found."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.table import ABSENT, layout_slots, rank, ranks

hashes = st.integers(0, 2**64 - 1)


@given(st.lists(hashes, unique_by=lambda h: h & (1 << 40) - 1, max_size=300), st.lists(hashes, max_size=50))
def test_a_dictionary_gives_the_same_ranks(terms: list[int], others: list[int]) -> None:
    slots = layout_slots(np.array(terms, np.uint64))
    naive = {term: place for place, term in enumerate(terms)}
    keys = terms + [other for other in others if other & (1 << 40) - 1 not in {t & (1 << 40) - 1 for t in terms}]
    expected = [naive.get(term, ABSENT) for term in keys]
    assert ranks(slots, np.array(keys, np.uint64)).tolist() == expected
    assert [rank(slots, term) for term in keys] == expected


def test_terms_that_begin_at_one_slot_are_side_by_side() -> None:
    terms = [(1 << 60) + place for place in range(40)]
    slots = layout_slots(np.array(terms, np.uint64))
    assert ranks(slots, np.array([*terms, (1 << 60) + 99], np.uint64)).tolist() == [*range(40), ABSENT]


def test_a_search_at_the_highest_slot_ends() -> None:
    top = [2**64 - 1 - place for place in range(30)]
    slots = layout_slots(np.array(top, np.uint64))
    assert ranks(slots, np.array(top, np.uint64)).tolist() == list(range(30))
    assert rank(slots, 2**64 - 99) == ABSENT
