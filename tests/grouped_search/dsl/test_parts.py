"""The parts in the list are asked for where they belong; anything else is refused by name, with what to use."""

from typing import Any

import pytest

from ibidem.grouped_search.dsl.syntax import FORMS, PARTS, read_parts, read_search
from ibidem_dedupe.parameters import DedupeRequest, parse_request
from ibidem_engines.requests import IN_HEADS
from ibidem_ingest.errors import UsageError

INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}
PLUGIN = "leave dedupe out, or let the plugin group it"


def nested(depth: int) -> dict[str, object]:
    """A condition within so many others."""
    query: dict[str, object] = {}
    for _ in range(depth):
        query = {"bool": query}
    return query


REFUSED = {
    "collapse": "dedupe='collapse' shows one hit of a group",
    "search_after": "dedupe_cursor",
    "scroll": "dedupe_cursor",
    "slice": "leave dedupe out",
    "terminate_after": "use timeout",
    **dict.fromkeys(("retriever", "rescore", "rank", "sub_searches", "suggest", "profile", "derived", "ext"), PLUGIN),
    **dict.fromkeys(("filter_path", "typed_keys", "search_pipeline", "rest_total_hits_as_int", "nosuch"), PLUGIN),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_in_the_list_is_refused_by_name_with_what_to_use(name: str) -> None:
    for body, params in (({name: "x"}, {}), ({}, {name: "x"})):
        with pytest.raises(UsageError, match=f"^{name} cannot be combined with dedupe; .*{REFUSED[name]}"):
            read_search("news", body, params, INDENT)


def test_every_part_of_the_list_is_read_in_a_body_and_every_parameter_beside_it() -> None:
    values: dict[str, Any] = {"from": 0, "size": 5, "knn": {"field": "place"}, "track_total_hits": True}
    values |= {name: {} for name in ("aggs", "aggregations", "query", "post_filter")}
    assert not [name for name in PARTS if read_search("", {name: values.get(name, "x")}, {}, INDENT).note]
    for name in (*IN_HEADS, *FORMS):
        assert not read_search("news", {}, {name: "x"}, INDENT).note


KNN = {"field": "place", "query_vector": [1.0], "k": 10}


@pytest.mark.parametrize(
    ("body", "params", "message"),
    [
        ({"from": "ten"}, {}, r"from='ten' is not valid"),
        ({"from": "0" * 5_000}, {}, "from='000.* is not valid"),
        ({"size": -1}, {}, r"size=-1 is not valid.*an integer from 0 to 10,000"),
        ({"size": "many"}, {}, r"size='many' is not valid"),
        ({"size": True}, {}, r"size=True is not valid"),
        ({}, {"size": "10001"}, r"size='10001' is not valid"),
        ({"aggs": [1]}, {}, r"aggs is not a JSON object"),
        ({"stored_fields": "_none_"}, {}, r"stored_fields=_none_ .*use _source=false"),
        ({"query": {"hybrid": {"queries": [MATCH]}}}, {}, r"a hybrid query cannot be combined with dedupe"),
        ({"query": nested(200)}, {}, "nested more than 100 deep"),
        ({"track_total_hits": "some"}, {}, r"track_total_hits='some' is not valid"),
        ({"pit": {"id": "x"}}, {}, "an index together with pit"),
        ({"knn": [KNN, "x"]}, {}, r"knn\[1\]='x' is not a search for .*; write a JSON object with field"),
        ({"knn": "x"}, {}, "knn='x' is not a search for nearest neighbours; write a JSON object with field"),
        ({"knn": KNN | {"k": 1_000_000}}, {}, "knn.k=1000000 is not valid; allowed: an integer from 1 to 10,000"),
        ({"knn": KNN | {"num_candidates": "many"}}, {}, "knn.num_candidates='many' is not valid"),
    ],
)
def test_values_that_would_make_a_wrong_answer_are_refused(
    body: dict[str, Any], params: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, params, INDENT)


def test_other_clusters_are_refused_and_dates_in_a_name_are_not() -> None:
    with pytest.raises(UsageError, match="a search over other clusters cannot be combined with dedupe"):
        read_search("news,london:news", {}, {}, INDENT)
    assert read_search("<news-{now/d{yyyy.MM.dd|+12:00}}>", {}, {}, INDENT).start == 0


@pytest.mark.parametrize(
    ("scope", "body", "message"),
    [
        ("matches", {"knn": {}}, "dedupe_scope=matches with knn .*use dedupe_scope=window"),
        ("matches", {"min_score": 1}, "dedupe_scope=matches with min_score .*use dedupe_scope=window"),
        ("index", {"query": MATCH}, "dedupe_scope=index cannot be combined with a query in the engine's own language"),
    ],
)
def test_a_scope_that_cannot_be_kept_to_is_refused(scope: str, body: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, {}, parse_request({"dedupe": "indent", "dedupe_scope": scope}))


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
