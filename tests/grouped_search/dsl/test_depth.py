"""Rankings by neighbours are asked for the whole window, and the account names what was adjusted."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from ibidem.grouped_search.dsl.backend import has_more
from ibidem.grouped_search.dsl.request import deepen, grows, read_search
from ibidem_dedupe.parameters import DedupeRequest

GOLDEN = Path(__file__).parents[2] / "plugin" / "golden" / "depths.jsonl"
INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}
KNN = {"field": "place", "query_vector": [1.0], "k": 10}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"knn": KNN}, True),
        ({"knn": [KNN]}, True),
        ({"query": {"knn": KNN}}, True),
        ({"knn": [KNN, KNN]}, False),
        ({"knn": KNN, "query": MATCH}, False),
        ({"knn": KNN, "sort": ["date"]}, False),
        ({"query": MATCH}, False),
    ],
)
def test_only_a_search_for_neighbours_alone_finds_further_ones_behind_the_first(
    body: dict[str, Any], expected: bool
) -> None:
    assert grows(read_search("news", body, {}, INDENT).ranking) == expected


@pytest.mark.parametrize(
    ("body", "on_page", "in_window", "expected"),
    [
        ({"knn": KNN}, 3, 500, True),
        ({"knn": KNN}, 10, 500, False),
        ({"knn": KNN}, 3, 40, False),
        ({"query": MATCH}, 3, 500, False),
    ],
)
def test_a_page_that_further_neighbours_may_fill_is_made_by_the_layer(
    body: dict[str, Any], on_page: int, in_window: int, expected: bool
) -> None:
    search = read_search("news", body, {}, INDENT)
    account = {"groups": {"on_page": on_page}, "documents": {"in_window": in_window, "beyond_window": 0}}
    assert has_more(account, search) == expected


def test_queries_are_as_deep_as_the_plugin_makes_them() -> None:
    lines = [line for line in map(orjson.loads, GOLDEN.read_bytes().splitlines()) if "query" in line["part"]]
    compared = [line for line in lines if b"hybrid" not in orjson.dumps(line)]
    assert len(compared) > 20
    for line in compared:
        body, adjusted = deepen(line["part"], line["window"])
        assert (body["query"], adjusted) == (line["deep"], line["adjusted"])


@pytest.mark.parametrize(
    ("query", "adjusted"),
    [
        ({"knn": {"field": {"vector": [1.0], "k": 2}}}, ["query.knn.field.k"]),
        ({"knn": {"place": {"vector": [1.0], "max_distance": 2}}}, []),
        ({"match": {"knn": {"query": "wheat"}}}, []),
        ({"bool": {"must": "wheat"}}, []),
    ],
)
def test_names_of_fields_and_what_is_no_query_are_left_as_they_are(query: dict[str, Any], adjusted: list[str]) -> None:
    assert [each["part"] for each in deepen({"query": query}, 100)[1]] == adjusted
