"""Requests that the gateway does not answer itself go to the engine and come back unchanged."""

import gzip
import json
import secrets
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import elasticsearch
import httpx2
import opensearchpy
import pytest
from elasticsearch import helpers as elasticsearch_helpers

from gateway.conftest import Leases
from gateway.gateway_server import gateway_before, run_gateway
from ibidem_core.settings import Settings
from servers.fake_server import Answer, Request, between
from servers.indices import remove_indices
from support.leases import LEASE

REQUESTS = [
    ("GET", "/_cat/indices?v=true", b""),
    ("PUT", "/news-%C3%BC/_doc/a%2Fb%20c?routing=x;y", b' {"odd" : 1.50, "odd": 2}'),
    ("POST", "/_bulk", b'{"index":{"_index":"any"}}\n{"a":1}\n\n'),
    ("POST", "/_bulk", b'{"index":{"_index":"any","_id":""}}\n{"a":1}\n'),
    ("POST", "/_search/scroll", b'{"scroll_id":"x"}'),
    ("GET", "/_search?scroll=10m", b""),
    ("GET", "/_all/_search?index=news", b""),
    ("POST", "/%3Cnews-%7Bnow%2Fd%7D%3E/_search", b"{}"),
    ("POST", "/news,-old/_search", b"{}"),
    ("POST", "/_msearch", b'{}\n{"query":{"wrapper":{"query":"e30="}}}\n'),
    ("DELETE", "/news/_pit", b"{}"),
    ("POST", "/news/_search", b"query: {match_all: {}}"),
    ("GET", "/", b""),
    ("GET", "/ib%69dem/_search?q=a%20b%2Bc&pretty", b""),
    ("POST", "/news/_search?typed_keys=true", gzip.compress(b"{ }", mtime=0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_any_request_reaches_the_engine_byte_for_byte_and_so_does_its_answer(
    method: str, path: str, body: bytes
) -> None:
    content = b'{"odd" :[1.50]} '
    with gateway_before(lambda _: Answer(201, content)) as (engine, url):
        status, _, read = ask(url, method, path, body or None, content_type="application/yaml", authorization="Basic a")
    (request,) = engine.asked
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert (request.method, request.path, request.body) == (method, path, body)
    assert (headers["authorization"], headers["content-type"]) == ("Basic a", "application/yaml")
    assert (status, read) == (201, content)


@pytest.mark.slow
def test_a_body_of_any_length_is_passed_on_as_it_comes_with_or_without_a_length() -> None:
    requests: list[Request] = []
    with gateway_before(lambda request: requests.append(request) or Answer(200, b"x" * 300_000)) as (_, url):
        parts = urlsplit(url)
        body = b'{"index":{}}\n{"a":1}\n' * 20_000
        assert ask(url, "POST", "/a/_bulk", body)[2] == b"x" * 300_000
        with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
            connection.sendall(b"POST /a/_bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 4\r\n\r\nab")
            with suppress(TimeoutError):
                connection.settimeout(0.2)
                assert not connection.recv(1)
            connection.settimeout(30)
            connection.sendall(b"cd")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert [each.body for each in requests] == [body, b"abcd"]


@pytest.mark.slow
def test_our_own_paths_stay_ours() -> None:
    with gateway_before(lambda _: Answer(200, {})) as (engine, url):
        assert httpx2.get(f"{url}/healthz").json() == {"status": "ok"}
        assert httpx2.get(f"{url}/openapi.json").json()["info"]["title"] == "ibidem"
        assert not engine.asked
        assert httpx2.get(f"{url}/_search?dedupe=maybe").status_code == 400
        assert httpx2.put(f"{url}/ibidem/nosuch", json={}).status_code == 404
        assert httpx2.post(f"{url}/a/_doc", headers={"origin": "http://evil.example"}).status_code == 403
        assert not engine.asked


CLIENTS: dict[str, tuple[Any, Any]] = {
    "opensearch": (opensearchpy.OpenSearch, opensearchpy.helpers),
    "elasticsearch": (elasticsearch.Elasticsearch, elasticsearch_helpers),
}


def test_an_application_that_writes_reads_scrolls_and_searches_works_against_one_address(
    leases: Leases, gateway: str
) -> None:
    name, (make_client, helpers) = f"app-{secrets.token_hex(4)}", CLIENTS[leases.kind]
    with make_client(gateway) as client:
        try:
            client.indices.create(index=name)
            actions = [{"_index": name, "_id": str(at), "text": f"{LEASE} {at % 3}"} for at in range(300)]
            assert helpers.bulk(client, actions, refresh=True) == (300, [])
            assert client.get(index=name, id="7")["_source"]["text"].endswith("1")
            assert client.exists(index=name, id="7")
            assert len(list(helpers.scan(client, index=name, size=100))) == 300
            client.delete(index=name, id="7", refresh=True)
            assert client.count(index=name)["count"] == 299
            response = client.search(index=name, body={"query": {"match_all": {}}, "size": 1})
            assert response["hits"]["total"]["value"] == 299
        finally:
            remove_indices(leases.settings.engine, name)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/_cluster/health?filter_path=cluster_name,status", None),
        ("GET", "/{index}/_mapping", None),
        ("HEAD", "/{index}", None),
        ("HEAD", "/nosuch", None),
        ("GET", "/{index}/_doc/lease?_source=title", None),
        ("GET", "/nosuch/_doc/1", None),
        ("POST", "/{index}/_search?filter_path=-took", {"nosuch": 1}),
        ("POST", "/_all/_search?q=nosuchword&filter_path=hits.total", {}),
        ("GET", "/_cat/indices/{index}?format=yaml&h=index,docs.count", None),
        ("POST", "/{index}/_validate/query", {"query": {"match_all": {}}}),
        ("POST", "/{index}/_analyze", {"text": "The rent"}),
    ],
)
def test_what_is_passed_on_is_answered_as_the_engine_does(
    leases: Leases, gateway: str, method: str, path: str, body: object
) -> None:
    data = None if body is None else json.dumps(body).encode()
    path = path.format(index=leases.index)
    direct, answer_through = (
        ask(each, method, path, data, content_type="application/json") for each in (leases.url, gateway)
    )
    assert answer_through[::2] == direct[::2]
    headers = {name: value for name, value in direct[1].items() if name not in {"date", "transfer-encoding"}}
    assert {name: answer_through[1].get(name) for name in headers} == headers


def whose(request: Request) -> Answer:
    """Answer with the credentials that a request carries."""
    return Answer(200, {"responses": [{"you": request.headers.get("authorization")}], "hits": {"hits": []}})


@pytest.mark.slow
def test_no_caller_is_sent_the_answer_to_another_and_none_the_gateways_own_account() -> None:
    with (
        between(plan=whose) as engine,
        run_gateway(Settings(engine=engine.address("opensearch").replace("://", "://clerk:pw@"))) as url,
        ThreadPoolExecutor(20) as callers,
    ):

        def own(number: int) -> bool:
            headers = {"authorization": f"Basic {number}"} if number % 3 else {}
            path = "/news/_search" if number % 2 else "/news/_doc/a"
            (answer,) = httpx2.get(f"{url}{path}", headers=headers, timeout=60).json()["responses"]
            return bool(answer["you"] == headers.get("authorization"))

        assert all(callers.map(own, range(200)))


BROKEN = [
    b"\0\1\2\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /a/_bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"POST /a/_bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"GET /%ff%00/_search?dedupe=indent HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("request_bytes", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_request_harms_only_itself(request_bytes: bytes) -> None:
    with gateway_before(lambda _: Answer(200, {})) as (_, url):
        for _ in range(20):
            address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
            with socket.create_connection(address) as connection, suppress(OSError):
                connection.sendall(request_bytes)
        assert httpx2.get(f"{url}/a/_search", timeout=30).status_code == 200
        assert httpx2.put(f"{url}/a/_doc/1", json={}, timeout=30).status_code == 200


def ask(
    url: str, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send a request as it is, and return status, headers and bytes of the answer."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, fields)
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, read


def test_no_header_is_made_of_an_address_and_what_a_proxy_would_vouch_for_or_belongs_to_the_page_stays_here() -> None:
    with gateway_before(lambda _: Answer(200, {})) as (engine, url):
        for path in ("/ibidem/_search?q=a%0d%0ax-proxy-user:%20admin", "/ibidem/_search?q=a"):
            for query in ("", "&dedupe=indent"):
                ask(url, "GET", path + query, x_forwarded_for="10.0.0.1", cookie="a=b")
                ask(url, "GET", path + query, x_proxy_user="admin")
    names = {name.lower() for each in engine.asked for name in each.headers}
    assert len(engine.asked) >= 8
    assert not names & {"x-forwarded-for", "x-proxy-user", "cookie"}


def test_an_error_of_the_engine_comes_back_with_its_status_and_words() -> None:
    status, content = 0, b""
    with gateway_before(lambda _: Answer(status, content)) as (_, url):
        for status in (400, 401, 403, 404, 429, 500, 503):
            content = json.dumps({"error": {"type": "some_exception", "reason": "because"}, "status": status}).encode()
            assert ask(url, "GET", "/ibidem/_search")[::2] == (status, content)
            assert ask(url, "GET", "/ibidem/_search?dedupe=indent")[0] == status
