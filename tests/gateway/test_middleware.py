"""Every request passes the middleware first: by which name the gateway is called, and from which site."""

import logging

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve
from ibidem_gateway.middleware import POLICY


def test_every_answer_forbids_browsers_to_load_or_guess(client: TestClient) -> None:
    for path in ("/healthz", "/nowhere", "/readyz"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in POLICY} == POLICY
    assert "unsafe" not in POLICY["content-security-policy"]


def test_a_body_over_the_maximum_length_is_refused_also_where_it_hides_its_length(serve: Serve) -> None:
    page, parts, headers = serve(gateway_overrides=True), [b" " * 1_000_000] * 11, {"content-type": "application/json"}
    for path in ("/ibidem/page/overrides", "/ibidem/duplicates"):
        assert page.post(path, content=iter(parts), headers=headers).status_code == 413
    assert "cannot be read; send JSON" in page.post(path, content=b"\xff{", headers=headers).text
    away = serve(engine="opensearch+http://127.0.0.1:9")
    assert away.post("/news/_search", content=iter(parts)).status_code == 413


@pytest.mark.parametrize("engine", ["elasticsearch+http://127.0.0.1:9", "opensearch+http://127.0.0.1:9"])
def test_the_product_header_is_sent_for_the_one_engine_whose_clients_insist_on_it(serve: Serve, engine: str) -> None:
    headers = serve(engine=engine).get("/healthz").headers
    assert headers.get("x-elastic-product") == ("Elasticsearch" if engine.startswith("elasticsearch") else None)


def test_an_answer_is_logged_with_its_stages_and_without_what_was_asked(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ibidem_gateway")
    client.get("/ibidem/search", params={"q": "drains"})
    client.get("/healthz")
    (line,) = (vars(each) for each in caplog.records if each.message == "answered")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/ibidem/search", 200)
    assert {"window_ms", "grouping_ms", "fetch_ms", "all_ms"} <= line.keys()
    assert not [value for value in line.values() if "drains" in str(value)]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1@evil.example", "a b"])
def test_a_name_that_another_site_points_here_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/openapi.json", headers={"host": host})
    assert answer.status_code == 421
    assert "IBIDEM_GATEWAY_HOSTS" in answer.json()["error"]["reason"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_sites_page_may_send_nothing_but_reads(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/healthz", headers=headers).status_code == 403
    assert client.get("/healthz", headers=headers).status_code == 200


FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
LOADED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/ibidem/groups", FOLLOWED, 403),
        ("/ibidem/groups?dedupe_level=partial", FOLLOWED, 403),
        ("/ibidem/groups", LOADED, 403),
        ("/ibidem/groups", {"referer": "http://evil.example/a"}, 403),
        ("/ibidem/search?q=rent", LOADED, 403),
        ("/?q=rent", FOLLOWED, 200),
    ],
)
def test_a_reader_may_follow_links_of_another_site_that_loads_nothing_and_asks_for_nothing_that_takes_long(
    client: TestClient, path: str, headers: dict[str, str], status: int
) -> None:
    assert client.get(path, headers=headers).status_code == status


@pytest.mark.parametrize("name", ["host", "authorization", "content-type", "content-encoding", "securitytenant"])
def test_a_header_that_two_readers_could_read_differently_is_taken_once(client: TestClient, name: str) -> None:
    pairs = [("host", "127.0.0.1")] if name == "host" else [(name, "a"), (name, "b")]
    headers = [*pairs, ("host", "127.0.0.1")]
    answer = client.get("/healthz", headers=headers)
    assert (answer.status_code, name in answer.json()["error"]["reason"]) == (400, True)
