"""Parts that cannot be combined with groups are refused by name, with the reason and a remedy."""

from typing import Any

import pytest

from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.unsupported import UNSUPPORTED
from ibidem_dedupe.request import DedupeRequest, parse_request
from ibidem_ingest.errors import UsageError

INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_every_part_that_does_not_go_with_groups_is_refused_in_a_body_and_in_a_query_string(name: str) -> None:
    for body, params in (({name: "x"}, {}), ({}, {name: "x"})):
        with pytest.raises(UsageError, match=f"^{name} cannot be combined with dedupe: .*; .+"):
            read_search("news", body, params, INDENT)


@pytest.mark.parametrize(
    ("body", "params", "message"),
    [
        ({"rescore": {"query": {}}, "explain": True}, {}, r"explain with rescore cannot be combined with dedupe"),
        ({"from": 10_000}, {}, r"from=10000 lies beyond the first 10,000 groups"),
        ({"size": -1}, {}, r"size=-1 is not valid.*an integer from 0 to 10,000"),
        ({"size": "many"}, {}, r"size='many' is not valid"),
        ({"size": True}, {}, r"size=True is not valid"),
        ({}, {"size": "10001"}, r"size='10001' is not valid"),
        ({"aggs": [1]}, {}, r"aggs is not a JSON object"),
        ({"stored_fields": "_none_"}, {}, r"stored_fields=_none_ .*use _source=false"),
        ({}, {"allow_partial_search_results": "true"}, r"could be missing without notice"),
        ({"search_pipeline": {"response_processors": []}}, {}, r"search pipeline inside the request"),
    ],
)
def test_pages_and_options_that_would_make_a_wrong_answer_are_refused(
    body: dict[str, Any], params: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, params, INDENT)


def test_other_clusters_are_refused_and_dates_in_a_name_are_not() -> None:
    with pytest.raises(UsageError, match="a search over other clusters cannot be combined with dedupe"):
        read_search("news,london:news", {}, {}, INDENT)
    assert read_search("<news-{now/d{yyyy.MM.dd|+12:00}}>", {}, {}, INDENT).start == 0


def test_stored_groups_are_not_rescored() -> None:
    with pytest.raises(UsageError, match=r"rescore with dedupe_by=stored .*use dedupe_by=window"):
        read_search("news", {"rescore": {"query": {}}}, {}, parse_request({"dedupe": "indent", "dedupe_by": "stored"}))


def test_an_index_next_to_a_point_in_time_is_refused() -> None:
    with pytest.raises(UsageError, match="an index together with pit"):
        read_search("news", {"pit": {"id": "x"}}, {}, INDENT)


@pytest.mark.parametrize(
    ("scope", "body", "message"),
    [
        ("matches", {"knn": {}}, "dedupe_scope=matches with knn .*use dedupe_scope=window"),
        ("matches", {"min_score": 1}, "dedupe_scope=matches with min_score .*have no score"),
        ("index", {"query": MATCH}, "dedupe_scope=index cannot be combined with a query in the engine's own language"),
    ],
)
def test_a_scope_that_cannot_be_kept_to_is_refused(scope: str, body: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, {}, parse_request({"dedupe": "indent", "dedupe_scope": scope}))
