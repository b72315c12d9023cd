"""The sketch counts how often look-up values were seen."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.sqlite.tables import CountMinSketch, marks


@given(st.lists(st.lists(st.integers(0, 40).map(str), max_size=30), max_size=5))
def test_a_count_is_never_too_low(loads: list[list[str]]) -> None:
    sketch = CountMinSketch(0)
    for load in loads:
        sketch.learn(marks(load))
    truth = Counter(value for load in loads for value in load)
    words = [str(value) for value in range(50)]
    counts = sketch.counts(marks(words)).tolist()
    assert all(count >= min(2, truth[value]) for value, count in zip(words, counts, strict=True))


def test_a_count_is_seldom_too_high_while_there_is_room() -> None:
    sketch = CountMinSketch(100_000)
    sketch.learn(marks([f"there {number}" for number in range(100_000)]))
    counts_there = sketch.counts(marks([f"there {number}" for number in range(100_000)]))
    absent = sketch.counts(marks([f"absent {number}" for number in range(100_000)]))
    assert (np.mean(counts_there > 1) < 0.05, np.mean(absent > 0) < 0.05) == (True, True)


def test_it_tells_when_it_is_too_small_for_more() -> None:
    sketch = CountMinSketch(10_000)
    assert sketch.holds(10_000)
    sketch.learn(marks([str(number) for number in range(10_000)]))
    assert not sketch.holds(10_000)


def test_the_largest_takes_whatever_comes() -> None:
    assert CountMinSketch(1 << 30).holds(1 << 40)


def test_marks_are_the_lower_half_of_a_published_hash() -> None:
    # xxh3-64 of the empty string is 2d06800538d394c2 (test vector of xxHash).
    assert marks([""]).tolist() == [0x38D394C2]
    assert marks([]).tolist() == []
