"""A search is split into ranking, aggregations and suggestions, and display."""

import pytest

from ibidem.grouped_search.dsl.request import read_parts, read_search
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
