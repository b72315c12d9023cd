"""Labelled pairs in folds: found pairs are counted where their first document is, wrong ones by what they stand for."""

import numpy as np

from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_lab.evaluate import Collection
from ibidem_lab.truth import FOLDS, Truth, f1, score

IDS = ["a", "b", "c", "d", "e"]
COLLECTION = Collection(IDS, PackedColumns.decode([None] * len(IDS)), {}, frozenset(), 0)
PARTS = [0, 0, 0, 3, 4]


def truth(collection_size: int = 0) -> Truth:
    return Truth.build(COLLECTION, PARTS, {("a", "b"), ("b", "c")}, {("d", "e")}, collection_size)


def test_right_wrong_and_unjudged_pairs_are_counted() -> None:
    counts = truth().counts(np.array([0, 3, 3, 2]), np.array([1, 4, 0, 0]))
    assert counts.shape == (FOLDS, 3)
    assert counts.sum(axis=0).tolist() == [1, 3, 2]


def test_a_wrong_pair_of_two_sets_stands_for_the_pairs_that_a_sample_leaves_out() -> None:
    counts = truth(collection_size=20).counts(np.array([0, 3, 2]), np.array([1, 0, 0]))
    assert counts.sum(axis=0).tolist() == [1, 1 + 4 + 1, 2]


def test_a_set_is_in_one_fold() -> None:
    folds = truth().fold
    assert len(set(folds[:3].tolist())) == 1


def test_figures_follow_from_counts() -> None:
    assert f1(np.array([2.0, 4.0, 2.0])) == 2 / 3
    assert score(np.zeros(3)).f1 == 0
    assert (score(np.array([2.0, 4.0, 2.0])).precision, score(np.array([2.0, 4.0, 2.0])).recall) == (0.5, 1.0)
