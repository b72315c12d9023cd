"""By which name the gateway is called, and from which site."""

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve
from ibidem_gateway.middleware import same_site


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1@evil.example", "a b"])
def test_a_name_that_another_site_points_here_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/openapi.json", headers={"host": host})
    assert answer.status_code == 421
    assert "IBIDEM_GATEWAY_HOSTS" in answer.json()["error"]["reason"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8042", "LOCALHOST:80", "[::1]:8042"])
def test_this_machine_is_known_by_each_of_its_names(client: TestClient, host: str) -> None:
    assert client.get("/openapi.json", headers={"host": host}).status_code == 200


def test_a_probe_may_call_the_gateway_by_whatever_address_it_has(client: TestClient) -> None:
    assert client.get("/healthz", headers={"host": "10.1.2.3:8042"}).status_code == 200
    assert client.get("/metrics", headers={"host": "10.1.2.3:8042"}).status_code == 421


def test_a_star_lets_every_name_in(serve: Serve) -> None:
    assert serve(gateway_hosts="*").get("/openapi.json", headers={"host": "search.example"}).status_code == 200


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


@pytest.mark.parametrize(
    "headers",
    [{}, {"sec-fetch-site": "same-origin"}, {"origin": "http://127.0.0.1:8042", "host": "127.0.0.1:8042"}],
)
def test_the_gateways_own_page_and_programs_are_of_the_same_site(headers: dict[str, str]) -> None:
    assert same_site(headers)


@pytest.mark.parametrize("path", ["/ibidem/groups", "/ibidem/groups?dedupe_level=partial"])
@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"referer": "http://evil.example/a"},
    ],
)
def test_no_page_of_another_site_makes_a_browser_ask_for_what_takes_long(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    assert client.get(path, headers=headers).status_code == 403


def test_no_page_of_another_site_loads_anything_but_a_reader_may_follow_its_links(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get("/ibidem/search?q=rent", headers=headers).status_code == 403
    assert client.get("/?q=rent", headers=headers | {"sec-fetch-mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("name", ["host", "authorization", "content-type", "content-encoding", "securitytenant"])
def test_a_header_that_two_readers_could_read_differently_is_taken_once(client: TestClient, name: str) -> None:
    pairs = [("host", "127.0.0.1")] if name == "host" else [(name, "a"), (name, "b")]
    headers = [*pairs, ("host", "127.0.0.1")]
    answer = client.get("/healthz", headers=headers)
    assert (answer.status_code, name in answer.json()["error"]["reason"]) == (400, True)


def test_an_origin_that_is_no_address_is_another_site() -> None:
    assert not same_site({"host": "localhost", "origin": "http://[::1"})
