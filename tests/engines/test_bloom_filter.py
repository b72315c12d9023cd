"""A filter never forgets a value, and takes few for another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.bloom_filter import BloomFilter, marks

VALUES = st.lists(st.text(max_size=8), max_size=30)


@given(st.lists(VALUES, max_size=4))
def test_every_value_that_was_learned_is_seen(batches: list[list[str]]) -> None:
    bloom_filter = BloomFilter(0)
    for batch in batches:
        bloom_filter.learn(marks(batch))
    assert all(bloom_filter.counts(marks([value for batch in batches for value in batch])))
    assert bloom_filter.learned == sum(map(len, batches))


def test_of_as_many_values_as_there_is_room_for_one_in_sixty_is_taken_for_another() -> None:
    bloom_filter = BloomFilter(60_000)
    count = 0
    while bloom_filter.holds(1_000):
        bloom_filter.learn(marks([f"{count + at}" for at in range(1_000)]))
        count += 1_000
    assert count >= 60_000
    assert np.mean(bloom_filter.counts(marks([f"other {at}" for at in range(20_000)]))) < 1 / 60
