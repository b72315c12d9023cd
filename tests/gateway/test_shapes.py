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
        "parties": {"type": "nested", "properties": {"who": {"type": "text"}}},
    }
}
DOCUMENTS = {
    "1": {
        "text": LEASE,
        "source": "AP",
        "year": 1987,
        "parties": [{"who": "the tenant"}],
    },
    "2": {
        "text": f"{LEASE} Signed.",
        "source": "AP",
        "year": 1988,
        "parties": [{"who": "a tenant"}],
    },
    "3": {
        "text": "A letter about rent.",
        "source": "Reuters",
        "year": 1988,
        "parties": [{"who": "an agent"}],
    },
}
RENT = {"match": {"text": "rent"}}
TENANTS = {"nested": {"path": "parties", "query": {"match": {"parties.who": "tenant"}}, "inner_hits": {}}}


@pytest.fixture(scope="module")
def index(leases: Leases) -> Iterator[str]:
    """An index of another program's, with a nested field."""
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
def test_several_searches_are_json_where_they_are_grouped(gateway: str, index: str, lines: list[str | None]) -> None:
    body = "".join(f"{{}}\n{json.dumps({'dedupe': each} if each else {})}\n" for each in lines)
    headers = {"content-type": "application/x-ndjson"}
    content = body.replace("indent", "off").replace("collapse", "off")
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


@pytest.mark.parametrize("value", [-2, "some", 1.5, "-2"])
def test_a_way_of_counting_that_the_engine_refuses_is_refused(gateway: str, index: str, value: object) -> None:
    answer = httpx2.post(f"{gateway}/{index}/_search?dedupe=indent", json={"track_total_hits": value})
    assert (answer.status_code, "track_total_hits" in answer.text) == (400, True)


def test_a_body_in_the_query_string_is_grouped_too(gateway: str, index: str) -> None:
    source = json.dumps({"query": RENT, "size": 1})
    options = {"source": source, "source_content_type": "application/json", "dedupe": "collapse"}
    response = httpx2.get(f"{gateway}/{index}/_search", params=options).json()
    assert (len(response["hits"]["hits"]), response["dedupe"]["mode"]) == (1, "collapse")
