"""Grouped answers keep the engine's own shape outside the list of hits, too."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from servers.indices import ask, remove_indices
from support.leases import LEASE

MAPPINGS = {
    "properties": {
        "text": {"type": "text"},
        "source": {"type": "keyword"},
        "year": {"type": "integer"},
        "name": {"type": "completion"},
        "parties": {"type": "nested", "properties": {"who": {"type": "text"}}},
    }
}
DOCUMENTS = {
    "1": {
        "text": LEASE,
        "source": "AP",
        "year": 1987,
        "name": "lease of the house",
        "parties": [{"who": "the tenant"}],
    },
    "2": {
        "text": f"{LEASE} Signed.",
        "source": "AP",
        "year": 1988,
        "name": "lease of the roof",
        "parties": [{"who": "a tenant"}],
    },
    "3": {
        "text": "A letter about rent.",
        "source": "Reuters",
        "year": 1988,
        "name": "letter",
        "parties": [{"who": "an agent"}],
    },
}
RENT = {"match": {"text": "rent"}}
TENANTS = {"nested": {"path": "parties", "query": {"match": {"parties.who": "tenant"}}, "inner_hits": {}}}


@pytest.fixture(scope="module")
def index(leases: Leases) -> Iterator[str]:
    """An index of another program's, with a nested field and suggestions."""
    name, address = f"contracts-{secrets.token_hex(4)}", leases.settings.engine
    ask(address, "PUT", f"/{name}", json.dumps({"mappings": MAPPINGS}))
    for key, document in DOCUMENTS.items():
        ask(address, "PUT", f"/{name}/_doc/{key}?refresh=true", json.dumps(document))
    yield name
    remove_indices(address, name)


@pytest.fixture(scope="module")
def gateway(leases: Leases, index: str) -> Iterator[str]:
    with run_gateway(leases.settings) as where:
        yield where


def search(url: str, index: str, body: Any, query: str = "dedupe=indent", action: str = "_search") -> Any:
    answer = httpx2.post(f"{url}/{index}/_search?{query}", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_with_typed_keys_the_groups_of_a_bucket_are_in_the_meta_of_their_aggregation(
    gateway: str, leases: Leases
) -> None:
    aggs = {"by": {"terms": {"field": "source"}, "meta": {"own": 1}}}
    body = {"query": {"match": {"text": "rent"}}, "aggs": aggs}
    aggregation = search(gateway, leases.index, body)["aggregations"]["by"]
    typed = search(gateway, leases.index, body, "dedupe=indent&typed_keys=true")["aggregations"]["sterms#by"]
    assert typed["meta"] == {"own": 1, "dedupe": {each["key"]: each["_dedupe"] for each in aggregation["buckets"]}}
    assert [each.keys() for each in typed["buckets"]] == [{"key", "doc_count"}] * len(aggregation["buckets"])
    assert aggregation["buckets"]


@pytest.mark.parametrize("alone", [True, False])
def test_suggestions_show_their_documents(leases: Leases, gateway: str, index: str, alone: bool) -> None:
    body = {"suggest": {"a": {"prefix": "lea", "completion": {"field": "name"}}}, "_source": ["year"]}
    body |= {} if alone else {"query": RENT}
    direct, response = (
        search(where, index, body, query) for where, query in ((leases.url, ""), (gateway, "dedupe=indent"))
    )
    assert response["suggest"] == direct["suggest"]
    assert response["suggest"]["a"][0]["options"][0]["_source"] == {"year": 1987}
    assert response["hits"]["total"] == direct["hits"]["total"]
    assert response["hits"]["max_score"] == direct["hits"]["max_score"]


def test_hits_within_buckets_show_what_matched_inside_them(leases: Leases, gateway: str, index: str) -> None:
    aggs = {"top": {"top_hits": {"size": 1, "_source": False}}, "all": {"max": {"field": "year"}}}
    body = {"query": TENANTS, "aggs": aggs}
    direct, response = (
        search(where, index, body, query) for where, query in ((leases.url, ""), (gateway, "dedupe=indent"))
    )
    assert response["aggregations"] == direct["aggregations"]
    assert response["aggregations"]["top"]["hits"]["hits"][0]["inner_hits"]["parties"]["hits"]["total"]["value"] == 1


def test_inner_hits_named_as_the_layers_own_are_refused_where_both_would_be(gateway: str, index: str) -> None:
    body = {"nested": TENANTS["nested"] | {"inner_hits": {"name": "duplicates"}}}
    assert search(gateway, index, {"query": body})["hits"]["hits"][0]["inner_hits"]["duplicates"]
    answer = httpx2.post(f"{gateway}/{index}/_search?dedupe=collapse", json={"query": body})
    assert (answer.status_code, "another name" in answer.text) == (400, True)


@pytest.mark.parametrize("query", ["format=yaml&filter_path=hits.total", "filter_path=hits.total"])
def test_what_turns_the_layer_off_is_answered_by_the_engine(
    leases: Leases, gateway: str, index: str, query: str
) -> None:
    direct = httpx2.post(f"{leases.url}/{index}/_search?{query}", json={"query": RENT})
    answer_through = httpx2.post(f"{gateway}/{index}/_search?{query}&dedupe=off", json={"query": RENT})
    in_body = httpx2.post(f"{gateway}/{index}/_search?{query}", json={"query": RENT, "dedupe": "off"})
    assert answer_through.content == in_body.content == direct.content


@pytest.mark.parametrize("lines", [["indent", None], ["indent", "indent"], ["collapse", "off"]])
def test_several_searches_are_cut_as_one_answer_and_are_json_where_they_are_grouped(
    gateway: str, index: str, lines: list[str | None]
) -> None:
    body = "".join(f"{{}}\n{json.dumps({'dedupe': each} if each else {})}\n" for each in lines)
    headers = {"content-type": "application/x-ndjson"}
    for content in (body, body.replace("indent", "off").replace("collapse", "off")):
        answer = httpx2.post(f"{gateway}/{index}/_msearch?filter_path=took", content=content, headers=headers)
        assert answer.json().keys() == {"took"}
    answer = httpx2.post(f"{gateway}/{index}/_msearch?format=yaml", content=body, headers=headers)
    assert (answer.status_code, "format cannot be combined with dedupe" in answer.text) == (400, True)


@pytest.mark.parametrize("query", [RENT, TENANTS, {"bool": {"must": [RENT], "should": [{"term": {"year": 1988}}]}}])
def test_an_explanation_is_that_of_the_query_alone(leases: Leases, gateway: str, index: str, query: object) -> None:
    body = {"query": query, "explain": True}
    for where in (index, leases.index) if query is RENT else (index,):
        direct, response = (
            search(each, where, body, way) for each, way in ((leases.url, ""), (gateway, "dedupe=indent"))
        )
        explanations = {hit["_id"]: hit["_explanation"] for hit in direct["hits"]["hits"]}
        assert {hit["_id"]: hit["_explanation"] for hit in response["hits"]["hits"]} == explanations


def test_totals_are_numbers_everywhere_where_that_was_asked_for(leases: Leases, gateway: str, index: str) -> None:
    body = {"query": TENANTS, "aggs": {"top": {"top_hits": {"size": 1}}, "by": {"terms": {"field": "source"}}}}
    query = "rest_total_hits_as_int=true"
    direct = search(leases.url, index, body, query)
    response = search(gateway, index, body, f"{query}&dedupe=collapse")
    assert response["hits"]["total"] == direct["hits"]["total"] == 2
    assert response["aggregations"]["top"]["hits"]["total"] == direct["aggregations"]["top"]["hits"]["total"] == 2
    assert response["hits"]["hits"][0]["inner_hits"]["parties"]["hits"]["total"] == 1
    assert response["hits"]["hits"][0]["inner_hits"]["duplicates"]["hits"]["total"] == 0


@pytest.mark.parametrize("value", [-2, "some", 1.5, "-2"])
def test_a_way_of_counting_that_the_engine_refuses_is_refused(gateway: str, index: str, value: object) -> None:
    answer = httpx2.post(f"{gateway}/{index}/_search?dedupe=indent", json={"track_total_hits": value})
    assert (answer.status_code, "track_total_hits" in answer.text) == (400, True)


def test_a_body_in_the_query_string_is_grouped_too(gateway: str, index: str) -> None:
    source = json.dumps({"query": RENT, "size": 1})
    options = {"source": source, "source_content_type": "application/json", "dedupe": "collapse"}
    response = httpx2.get(f"{gateway}/{index}/_search", params=options).json()
    assert (len(response["hits"]["hits"]), response["dedupe"]["mode"]) == (1, "collapse")


def test_a_page_without_hits_has_no_best_score(leases: Leases, gateway: str, index: str) -> None:
    body = {"query": RENT, "size": 0}
    assert search(leases.url, index, body, "")["hits"]["max_score"] is None
    assert search(gateway, index, body)["hits"]["max_score"] is None
