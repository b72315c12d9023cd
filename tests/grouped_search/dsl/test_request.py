"""A search is split into ranking, aggregations and suggestions, and display."""

import pytest

from ibidem.grouped_search.dsl.parts import read_parts
from ibidem.grouped_search.dsl.request import drop_inner_hits, read_search
from ibidem_dedupe.request import DedupeRequest
from ibidem_ingest.errors import UsageError

INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}


def nested(depth: int) -> dict[str, object]:
    """A condition within so many others."""
    query: dict[str, object] = {}
    for _ in range(depth):
        query = {"bool": query}
    return query


def test_each_part_is_asked_for_where_it_belongs() -> None:
    body = {
        "query": MATCH,
        "sort": ["date"],
        "highlight": {"fields": {"text": {}}},
        "aggs": {"a": {}},
        "runtime_mappings": {"r": {"type": "long"}},
        "from": 20,
        "size": 10,
        "track_total_hits": False,
    }
    flow = read_search("news", body, {"routing": "a"}, INDENT)
    assert flow.ranking == {"query": MATCH, "sort": ["date"]}
    assert flow.aggregations == {"a": {}}
    assert flow.display == {"query": MATCH, "highlight": {"fields": {"text": {}}}}
    assert flow.target.parts == {"runtime_mappings": {"r": {"type": "long"}}}
    assert flow.target.params["routing"] == "a"
    assert (flow.start, flow.size) == (20, 10)


def test_a_page_begins_after_any_number_of_groups() -> None:
    search = read_search("news", {"from": 7}, {}, INDENT)
    assert (search.start, search.size) == (7, 10)


def test_the_same_search_always_reaches_the_same_copies_of_the_shards_whatever_its_page() -> None:
    first = read_search("news", {"query": MATCH, "highlight": {}}, {}, INDENT).target.params
    second = read_search("news", {"query": MATCH, "from": 10}, {}, INDENT).target.params
    other = read_search("news", {"query": {"match_all": {}}}, {}, INDENT).target.params
    assert first["preference"] == second["preference"] != other["preference"]
    assert read_search("news", {}, {"preference": "_local"}, INDENT).target.params["preference"] == "_local"
    assert "preference" not in read_search("", {"pit": {"id": "x"}}, {}, INDENT).target.params


def test_what_a_query_shows_of_its_nested_hits_is_left_to_the_page() -> None:
    nested = {"nested": {"path": "parts", "query": MATCH, "inner_hits": {"size": 3}}}
    assert drop_inner_hits({"bool": {"must": [nested]}}) == {
        "bool": {"must": [{"nested": {"path": "parts", "query": MATCH}}]}
    }
    assert drop_inner_hits({"term": {"inner_hits": "x"}}) == {"term": {"inner_hits": "x"}}


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ({"q": "a b"}, {"query": {"query_string": {"query": "a b"}}}),
        ({"_source": "false"}, {"_source": False}),
        ({"_source": "a,b*"}, {"_source": ["a", "b*"]}),
        ({"_source_includes": "a", "_source_excludes": "b"}, {"_source": {"includes": ["a"], "excludes": ["b"]}}),
        ({"from": "20", "size": "5"}, {"from": "20", "size": "5"}),
        ({"docvalue_fields": "a,b", "stored_fields": "c"}, {"stored_fields": ["c"], "docvalue_fields": ["a", "b"]}),
        ({"explain": "true", "version": "", "timeout": "1s"}, {"explain": True, "version": True, "timeout": "1s"}),
    ],
)
def test_a_query_string_says_the_same_as_a_body(params: dict[str, str], body: dict[str, object]) -> None:
    assert read_parts({}, params) == (body, {})


def test_the_query_string_wins_over_the_body() -> None:
    assert read_parts({"size": 3, "query": MATCH}, {"size": "4"}) == ({"size": "4", "query": MATCH}, {})


@pytest.mark.parametrize(
    ("body", "params", "why"),
    [
        ({"query": nested(200)}, {}, "nested more than 100 deep"),
        ({"from": "0" * 5_000}, {}, "from='000.* is not valid"),
    ],
)
def test_what_cannot_be_read_is_named(body: dict[str, object], params: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_search("news", body, params, DedupeRequest("indent"))
