"""Requests without dedupe parameters pass through unchanged."""

import gzip
import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from servers.fake_server import Answer, between

ODD = b'{ "query":{"match_all":{}},\n "size" : 1e0,"_source":["a", "\\u00fc"] }  '


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("GET", "/ibidem/_search?q=a%20b%2Bc&pretty", None, {"accept": "*/*"}),
        ("POST", "/ibidem/_search", ODD, {"content_type": "application/json; charset=utf-8"}),
        (
            "POST",
            "/ibidem/_search?typed_keys=true",
            b'{"query":{"match_all":{}}}',
            {
                "content_type": "application/vnd.elasticsearch+json; compatible-with=8",
                "accept": "application/vnd.elasticsearch+json; compatible-with=8",
                "x_opaque_id": "a-1",
                "traceparent": "00-1-2-01",
            },
        ),
        ("GET", "/ibidem/_count", None, {}),
        ("POST", "/ibidem/_msearch", b'{}\n{"size":0}\n', {"content_type": "application/x-ndjson"}),
        (
            "POST",
            "/_msearch?max_concurrent_searches=2",
            b'{"index":"ibidem"}\n{}\n',
            {"content_type": "application/json"},
        ),
        (
            "POST",
            "/ibidem/_search",
            gzip.compress(ODD, mtime=0),
            {"content_type": "application/json", "content_encoding": "gzip"},
        ),
        ("GET", "/ibidem/_search?source=%7B%22size%22%3A1%7D&source_content_type=application/json", None, {}),
        ("GET", "/ib%69dem/_search", None, {}),
        ("GET", "/", None, {"accept": "application/json"}),
    ],
)
def test_method_path_query_string_body_and_headers_reach_the_engine_unchanged(
    kind: str, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> None:
    content = b'{"took" : 3,\n  "odd":[1.50, 1e3]} '
    with (
        between(plan=lambda _: Answer(200, content)) as engine,
        run_gateway(Settings(engine=engine.address(kind))) as url,
    ):
        status, request_parts, read = ask(url, method, path, body, authorization="Basic YWRhOnB3", **headers)
    (request,) = engine.asked
    assert (request.method, request.path, request.body) == (method, path, body or b"")
    names = {name.lower(): value for name, value in request.headers.items()}
    assert {name: names.get(name) for name in read_names(headers)} == read_names(headers)
    assert names["authorization"] == "Basic YWRhOnB3"
    assert (status, read) == (200, content)
    assert request_parts["content-type"] == "application/json"
    assert request_parts["x-elastic-product"] == "Elasticsearch"


def read_names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def test_no_header_of_a_request_is_made_of_what_is_in_its_address() -> None:
    with (
        between(plan=lambda _: Answer(200, {})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        ask(url, "GET", "/ibidem/_search?q=a%0d%0ax-proxy-user:%20admin&dedupe=indent")
        ask(url, "GET", "/ibidem/_search?q=a%0d%0ax-proxy-user:%20admin")
    assert engine.asked
    assert not any("x-proxy-user" in map(str.lower, each.headers) for each in engine.asked)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_an_error_of_the_engine_comes_back_with_its_status_and_words(status: int) -> None:
    content = json.dumps({"error": {"type": "some_exception", "reason": "because"}, "status": status}).encode()
    with (
        between(plan=lambda _: Answer(status, content)) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        assert ask(url, "GET", "/ibidem/_search")[::2] == (status, content)
        answer_grouped = ask(url, "GET", "/ibidem/_search?dedupe=indent")
        assert answer_grouped[0] == status


def test_what_a_proxy_would_vouch_for_and_what_belongs_to_the_page_stays_here() -> None:
    with (
        between(plan=lambda _: Answer(200, {})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        ask(url, "GET", "/ibidem/_search", x_forwarded_for="10.0.0.1", x_proxy_user="admin", cookie="a=b")
    names = {name.lower() for name in engine.asked[0].headers}
    assert not names & {"x-forwarded-for", "x-proxy-user", "cookie"}


@pytest.mark.parametrize(
    "query", ["q=rent", "q=rent&size=2&pretty", "source_content_type=application/json&q=text:roof", "format=yaml"]
)
def test_the_answer_is_the_engines_byte_for_byte(leases: Leases, gateway: str, query: str) -> None:
    path = f"/{leases.index}/_search?{query}&filter_path=-took"
    direct, answer_through = ask(leases.url, "GET", path), ask(gateway, "GET", path)
    assert answer_through[::2] == direct[::2]
    assert {name: answer_through[1][name] for name in direct[1] if name not in ("date", "transfer-encoding")} == {
        name: value for name, value in direct[1].items() if name not in ("date", "transfer-encoding")
    }


@pytest.mark.parametrize(
    "body",
    [
        b'{"query":{"nosuch":{}}}',
        b'{"query":{"match":{"text":{"query":"rent","fuzziness":"x"}}}}',
        b'{"size":100000}',
        b'{"query":{"script":{"script":{"source":"!!"}}}}',
        b'{"collapse":{"field":"nosuch"}}',
        b'{"nosuch":1}',
    ],
)
def test_a_query_that_the_engine_refuses_is_refused_in_its_words(leases: Leases, gateway: str, body: bytes) -> None:
    path = f"/{leases.index}/_search"
    direct = ask(leases.url, "POST", path, body, content_type="application/json")
    answer_through = ask(gateway, "POST", path, body, content_type="application/json")
    assert answer_through[0] == direct[0] == 400
    assert json.loads(answer_through[2])["error"]["type"] == json.loads(direct[2])["error"]["type"]
