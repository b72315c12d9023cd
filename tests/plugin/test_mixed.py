"""Clusters in which not all is as it should be: a node lacks the plugin, memory is short, a node leaves."""

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import ibidem
from plugin.answers import Json, differences, read_hits, run_search, through_layer, through_plugin
from plugin.cluster import Cluster
from plugin.conftest import QUERY, fill, open_client
from servers.indices import ask
from servers.nodes import EngineName

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]
FEW = {"dedupe": "indent", "window": 20}  # a window that the breaker lets pass, which has 100 KB


@pytest.fixture(scope="module")
def mixed(kind: EngineName, signed_records: list[Any]) -> Iterator[Cluster]:
    """A cluster of two nodes whose second one lacks the plugin."""
    with Cluster(kind, ("one",), ("breaker.ibidem.limit=100kb",)) as server:
        fill(server.address, signed_records)
        yield server


@pytest.fixture(scope="module")
def client(kind: EngineName, mixed: Cluster) -> Iterator[Any]:
    """The makers' client, connected to the node with the plugin."""
    with open_client(kind, mixed.address) as connection:
        yield connection


def ask_node(address: str, body: Json, index: str = "stories") -> tuple[int, dict[str, str], bytes]:
    """Search, and return status, headers and body as they come, without the time that it took."""
    connection = http.client.HTTPConnection(urlsplit(address.partition("+")[2]).netloc, timeout=60)
    headers = {"content-type": "application/json"}
    connection.request("POST", f"/{index}/_search?preference=same", json.dumps(body), headers)
    answer = connection.getresponse()
    content = re.sub(rb'"took":\d+', b'"took":0', answer.read())
    connection.close()
    return answer.status, {name: value for name, value in answer.headers.items() if name != "content-length"}, content


@pytest.mark.parametrize(
    "body",
    [
        QUERY,
        QUERY | {"aggs": {"longest": {"max": {"field": "ibidem.length"}}}, "highlight": {"fields": {"text": {}}}},
        QUERY | {"collapse": {"field": "ibidem.content", "inner_hits": {"name": "same"}}},
        QUERY | {"sort": [{"ibidem.length": "asc"}], "search_after": [5], "explain": True},
        {"query": {"nosuch": {}}},
    ],
)
def test_a_search_that_asks_for_no_groups_is_answered_byte_for_byte_as_without_the_plugin(
    mixed: Cluster, body: Json
) -> None:
    assert ask_node(mixed.address, body) == ask_node(mixed.address_of("two"), body)


@pytest.mark.parametrize("index", ["stories", "spread", "near", "foreign"])
def test_where_a_node_lacks_the_plugin_the_other_answers_as_ever(mixed: Cluster, client: Any, index: str) -> None:
    expected = through_layer(ibidem.wrap(client), index, QUERY, FEW)
    assert list(differences(expected, through_plugin(client, index, QUERY, FEW))) == []


def test_a_node_that_lacks_the_plugin_refuses_its_part_of_a_request(mixed: Cluster) -> None:
    status, _, body = ask_node(mixed.address_of("two"), QUERY | {"ext": {"ibidem": FEW}})
    assert status == 400
    assert b"SearchExtBuilder" in body  # without any plugin of its kind the server knows no `ext` at all


def test_wrapped_clients_group_by_themselves_while_a_node_lacks_the_plugin(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    found = run_search(ibidem.wrap(client), "stories", dict(QUERY), {}, dedupe="indent")
    assert found["dedupe"]["grouper"] == "client"


def test_a_window_that_memory_does_not_hold_is_refused_and_nothing_stays_counted(mixed: Cluster) -> None:
    status, _, body = ask_node(mixed.address, QUERY | {"ext": {"ibidem": FEW | {"window": 500}}})
    assert status == 429
    assert b"circuit_breaking_exception" in body
    assert ask_node(mixed.address, QUERY | {"ext": {"ibidem": FEW}})[0] == 200
    stats = ask(mixed.address, "GET", "/_nodes/one/stats/breaker")["nodes"].values()
    (breaker,) = [node["breakers"]["ibidem"] for node in stats]
    assert (breaker["estimated_size_in_bytes"], breaker["tripped"]) == (0, 1)


def test_when_a_node_leaves_a_search_fails_or_is_whole_and_never_a_part(mixed: Cluster) -> None:
    body = QUERY | {"ext": {"ibidem": FEW}}
    hits = {index: read_hits(ask_node(mixed.address, body, index)[2]) for index in ("near", "spread", "stories")}
    mixed.nodes["two"].kill()
    try:
        for _ in range(20):
            for index, expected in hits.items():
                status, _, content = ask_node(mixed.address, body, index)
                assert status >= 500 or read_hits(content) == expected
        assert ask_node(mixed.address, body, "near")[0] == 200
        assert ask_node(mixed.address, body, "stories")[0] >= 500
    finally:  # the other tests, which may come later, need both
        mixed.nodes["two"].start_again()
        ask(mixed.address, "GET", "/_cluster/health?wait_for_nodes=2&wait_for_no_initializing_shards=true&timeout=120s")
