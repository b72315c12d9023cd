"""A header or an alias of an index asks for groups where a client can set neither parameter nor body."""

import json
from typing import Any

import elasticsearch
import httpx2
import opensearchpy
import pytest
from elasticsearch.dsl import Search as ElasticsearchSearch

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from servers.fake_server import Answer, between

BUILDERS: dict[str, tuple[Any, Any]] = {
    "elasticsearch": (elasticsearch.Elasticsearch, ElasticsearchSearch),
    "opensearch": (opensearchpy.OpenSearch, opensearchpy.Search),
}
RENT = {"match": {"text": "rent"}}


def search(url: str, path: str, headers: dict[str, str] | None = None, body: Any = None) -> Any:
    answer = httpx2.post(f"{url}/{path}", json=body or {"query": RENT}, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def mode(response: Any) -> str:
    return str(response["dedupe"]["mode"]) if "dedupe" in response else "off"


def test_a_header_asks_for_groups_and_parameters_and_body_say_more(leases: Leases, gateway: str) -> None:
    headers = {"x-ibidem-dedupe": "indent"}
    assert mode(search(gateway, f"{leases.index}/_search", headers)) == "indent"
    assert mode(search(gateway, f"{leases.index}/_search?dedupe=collapse", headers)) == "collapse"
    assert mode(search(gateway, f"{leases.index}/_search", headers, {"dedupe": "off"})) == "off"
    response = search(gateway, f"{leases.index}/_search?dedupe_window=3", headers)
    assert (mode(response), response["dedupe"]["window"]) == ("indent", 3)
    answer_to_wrong = httpx2.get(f"{gateway}/{leases.index}/_search", headers={"x-ibidem-dedupe": "maybe"})
    assert (answer_to_wrong.status_code, "allowed: off, collapse, indent" in answer_to_wrong.text) == (400, True)


def test_an_alias_of_the_gateways_asks_for_groups(leases: Leases, gateway: str) -> None:
    assert mode(search(gateway, f"{leases.index}~dedupe/_search")) == "collapse"
    assert mode(search(gateway, f"{leases.index}~indent/_search")) == "indent"
    assert mode(search(gateway, f"{leases.index}~dedupe/_search?dedupe=off")) == "off"
    assert {hit["_index"] for hit in search(gateway, f"{leases.index}~dedupe/_search")["hits"]["hits"]} == {
        leases.index
    }


def test_several_searches_name_aliases_each_for_itself(leases: Leases, gateway: str) -> None:
    lines = [{"index": f"{leases.index}~indent"}, {}, {"index": leases.index}, {}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)
    headers = {"content-type": "application/x-ndjson"}
    response = httpx2.post(f"{gateway}/_msearch", content=body, headers=headers, timeout=60).json()["responses"]
    assert [mode(each) for each in response] == ["indent", "off"]
    in_path = httpx2.post(
        f"{gateway}/{leases.index}~dedupe/_msearch", content="{}\n{}\n", headers=headers, timeout=60
    ).json()
    assert mode(in_path["responses"][0]) == "collapse"


def test_documents_and_all_else_are_read_under_an_alias_too(leases: Leases, gateway: str) -> None:
    assert httpx2.get(f"{gateway}/{leases.index}~dedupe/_doc/lease").json()["found"]
    assert httpx2.head(f"{gateway}/{leases.index}~dedupe").status_code == 200


@pytest.mark.parametrize("path", ["/ibidem~dedupe/_doc/a~dedupe", "/ibidem~indent"])
def test_the_engine_never_sees_an_alias_or_the_header(path: str) -> None:
    with (
        between(plan=lambda _: Answer(200, {})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        httpx2.get(f"{url}{path}", headers={"x-ibidem-dedupe": "indent"})
    (request,) = engine.asked
    assert request.path == path.replace("~dedupe/", "/").replace("~indent", "")
    assert "x-ibidem-dedupe" not in map(str.lower, request.headers)


def test_pythons_query_builders_ask_for_groups_in_the_body_or_by_the_name(leases: Leases, gateway: str) -> None:
    connect, builder = BUILDERS[leases.kind]
    with connect(gateway) as client:
        by_body = (
            builder(using=client, index=leases.index).query("match", text="rent").extra(dedupe="collapse").execute()
        )
        by_name = builder(using=client, index=f"{leases.index}~dedupe").query("match", text="rent").execute()
    assert [hit.meta.id for hit in by_body] == [hit.meta.id for hit in by_name]
    assert (by_body.dedupe.mode, len(by_body)) == ("collapse", 2)
