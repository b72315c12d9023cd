"""Rankings by neighbours are asked for the whole window, and the account names what was adjusted."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from ibidem.grouped_search.dsl.request import deepen, grows, read_search
from ibidem_dedupe.request import DedupeRequest
from ibidem_ingest.errors import UsageError

GOLDEN = Path(__file__).parents[2] / "plugin" / "golden" / "depths.jsonl"
INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}
KNN = {"field": "place", "query_vector": [1.0], "k": 10}


def numbers(part: Any, *names: str) -> list[int]:
    children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = [part[name] for name in names if name in part] if isinstance(part, dict) else []
    return own + [number for each in children for number in numbers(each, *names)]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"knn": KNN}, "query.knn.k"),
        ({"knn": {"place": {"vector": [1.0], "k": 10}}}, "query.knn.place.k"),
        ({"neural": {"place": {"query_text": "wheat"}}}, "query.neural.place.k"),
        ({"knn": {"field": {"vector": [1.0], "k": 2}}}, "query.knn.field.k"),
        ({"bool": {"must": [MATCH, {"knn": KNN}], "filter": MATCH}}, "query.bool.must[1].knn.k"),
        ({"bool": {"should": {"knn": KNN}}}, "query.bool.should.knn.k"),
        ({"nested": {"path": "parts", "query": {"knn": KNN}}}, "query.nested.query.knn.k"),
        ({"dis_max": {"queries": [{"bool": {"must": {"knn": KNN}}}]}}, "query.dis_max.queries[0].bool.must.knn.k"),
        ({"function_score": {"query": {"knn": KNN}, "boost": 2}}, "query.function_score.query.knn.k"),
        ({"bool": {"must": "wheat"}}, None),
        ({"match": {"knn": {"query": "wheat"}}}, None),
        ({"knn": {"place": {"vector": [1.0], "max_distance": 2}}}, None),
        (MATCH, None),
    ],
)
def test_a_query_for_neighbours_finds_the_window_unless_it_finds_all_within_a_distance(
    query: dict[str, Any], path: str | None
) -> None:
    body, adjusted = deepen({"query": query}, 100)
    assert [each["part"] for each in adjusted] == ([] if path is None else [path])
    assert numbers(body, "k") == ([] if path is None else [100])


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


def test_a_search_that_finds_more_names_what_was_asked_first_and_used_last() -> None:
    search = read_search("news", {"knn": KNN}, {}, INDENT).deepen(700)
    assert search.ranking["knn"]["k"] == search.display["knn"]["k"] == 700
    assert search.adjusted == [{"part": "knn.k", "asked": 10, "used": 700, "limit": 10_000}]
    assert search.deepen(600) == search


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"knn": [KNN, "x"]}, r"knn\[1\]='x' is not a search for nearest neighbours; write a JSON object with field"),
        ({"knn": "x"}, "knn='x' is not a search for nearest neighbours; write a JSON object, or a list of them"),
        ({"knn": KNN | {"k": 1_000_000}}, "knn.k=1000000 is not valid; allowed: an integer from 1 to 10,000"),
        ({"knn": KNN | {"num_candidates": "many"}}, "knn.num_candidates='many' is not valid"),
    ],
)
def test_what_cannot_be_grouped_is_named_with_what_would_be_right(body: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, {}, INDENT)


def test_queries_are_as_deep_as_the_plugin_makes_them() -> None:
    lines = [line for line in map(orjson.loads, GOLDEN.read_bytes().splitlines()) if "query" in line["part"]]
    compared = [line for line in lines if b"hybrid" not in orjson.dumps(line)]
    assert len(compared) > 20
    for line in compared:
        body, adjusted = deepen(line["part"], line["window"])
        assert (body["query"], adjusted) == (line["deep"], line["adjusted"])
