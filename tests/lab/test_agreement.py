"""Agreement with labels is counted as the books say, whatever the numbers of the parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_lab.evaluate import PairFigures, SetFigures, adjusted_rand, components

PARTITIONS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


def test_precision_recall_and_f1_are_those_of_the_books() -> None:
    measured = PairFigures.measure({("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")}, {("a", "b"), ("x", "y")})
    assert measured == PairFigures(4, 2, 0.5, 0.25, 0.3333)


@pytest.mark.parametrize(
    ("true", "pairs", "figures"),
    [(set(), set(), (1.0, 1.0, 0.0)), ({("a", "b")}, set(), (1.0, 0.0, 0.0)), (set(), {("a", "b")}, (0.0, 1.0, 0.0))],
)
def test_nothing_found_is_never_wrong_and_nothing_to_find_is_never_missed(
    true: set[tuple[str, str]], pairs: set[tuple[str, str]], figures: tuple[float, float, float]
) -> None:
    measures = PairFigures.measure(true, pairs)
    assert (measures.precision, measures.recall, measures.f1) == figures


def test_sets_agree_only_when_they_hold_the_same_documents() -> None:
    assert SetFigures.measure([0, 0, 2, 2, 4, 4, 4], [0, 0, 2, 3, 4, 4, 6]) == SetFigures(agree=1, missed=2, over=1)


def test_components_join_what_pairs_connect() -> None:
    assert components(["a", "b", "c", "d", "e"], [("d", "e"), ("b", "d"), ("a", "c")]) == [0, 1, 0, 1, 1]


def pairs_together(parts: list[int]) -> set[tuple[int, int]]:
    return {(a, b) for a in range(len(parts)) for b in range(a) if parts[a] == parts[b]}


@given(PARTITIONS, st.data())
def test_the_adjusted_rand_index_is_that_of_counting_all_pairs(a: list[int], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.integers(0, 4), min_size=len(a), max_size=len(a)))
    left, right, every = pairs_together(a), pairs_together(b), len(a) * (len(a) - 1) / 2
    expected = len(left) * len(right) / every if every else 0.0
    highest = (len(left) + len(right)) / 2
    index = 1.0 if highest == expected else (len(left & right) - expected) / (highest - expected)
    assert adjusted_rand(a, b) == pytest.approx(index, abs=1e-4)


@given(PARTITIONS)
def test_the_same_partition_under_other_names_agrees_wholly(a: list[int]) -> None:
    assert adjusted_rand(a, [part + 7 for part in a]) == 1.0
