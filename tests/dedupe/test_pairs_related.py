"""The level `partial`: relations of long texts are decided on their long signatures, lead by lead."""

import pytest
from hypothesis import given, settings

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.parameters import parse_request
from support.examples import examples
from support.fake_engine import PAGE
from support.signed_books import PARTIAL, Library, Shelf, shelf, shelves
from support.windows import example_settings

OPTIONS = {"dedupe": "indent", "dedupe_level": "partial", "dedupe_explain": "true"}


@example_settings
@given(shelves)
def test_groups_are_those_of_the_plain_loop_over_leads(window: Shelf) -> None:
    grouping = group(window.columns, PARTIAL, None, window.matcher())
    assert grouping.lead.tolist() == window.leaders()


@example_settings
@given(shelves)
def test_all_pairs_that_the_decision_joins_are_found(window: Shelf) -> None:
    relation = duplicates(window.columns, PARTIAL, window.matcher())
    size = len(window.packed)
    pairs = {(row, other) for row in range(size) for other in range(row) if window.joins(row, other)}
    assert set(zip(relation.row.tolist(), relation.earlier.tolist(), strict=True)) == pairs


@example_settings
@given(shelves)
def test_the_decision_is_symmetric_but_for_the_direction(window: Shelf) -> None:
    opposite = {"part_of": "contains", "contains": "part_of"}
    for row in range(len(window.packed)):
        for other in range(row):
            forward, backward = window.decide(row, other), window.decide(other, row)
            assert (forward is None) == (backward is None)
            if forward and backward:
                assert (forward.level, forward.score) == (backward.level, backward.score)
                assert forward.why.get("own") == backward.why.get("other")
                direction = forward.why.get("direction")
                assert opposite.get(str(direction), direction) == backward.why.get("direction")


@settings(example_settings, max_examples=examples(10))
@given(shelves)
def test_law_1_the_pages_hold_every_document_once(window: Shelf) -> None:
    ids = []
    for number in range(1, len(window.packed) + 1):
        response = search_index(Library(window), PAGE, parse_request(OPTIONS), number, 2)
        ids += [hit["_id"] for hit in response["hits"]["hits"]]
    assert sorted(ids) == sorted(name for _, name in window.names)


@pytest.mark.slow
def test_generated_windows_hold_relations_of_every_kind() -> None:
    kinds = set()
    for seed in range(6):
        window = shelf(seed, 12)
        pairs = ((row, other) for row in range(12) for other in range(12) if row != other)
        kinds |= {evidence.why.get("relation") for row, other in pairs if (evidence := window.decide(row, other))}
    assert kinds >= {"same_pagination", "different_pagination", "contiguous_subset", "contains", "part_of"}
    assert "overlapping_text" in kinds
