"""Manual decisions over HTTP."""

import base64

import pytest
from starlette.testclient import TestClient

from gateway.conftest import HERE, Serve

PAIR = {"a": "lease", "b": "draft", "verdict": "not"}


@pytest.fixture
def open_client(serve: Serve) -> TestClient:
    """A gateway whose callers may say what is a duplicate."""
    return serve(gateway_overrides=True)


def indented(client: TestClient) -> int:
    hits = client.get("/ibidem/search?q=rent").json()["hits"]["hits"]
    return sum(hit["_dedupe"]["indent"] for hit in hits)


def test_a_word_takes_a_pair_apart_and_can_be_taken_back(open_client: TestClient) -> None:
    assert indented(open_client) == 2
    response = open_client.post("/ibidem/overrides", json=PAIR | {"reason": "York, not London", "author": "Ada"})
    assert response.status_code == 201
    assert indented(open_client) == 1
    entries = open_client.get("/ibidem/overrides").json()
    assert entries == response.json()
    assert (entries["overrides"][0]["reason"], entries["overrides"][0]["author"]) == ("York, not London", "Ada")
    assert open_client.delete("/ibidem/overrides?a=draft&b=lease").json() == entries
    assert indented(open_client) == 2
    assert open_client.delete("/ibidem/overrides?a=draft&b=lease").status_code == 404


def test_nobody_says_anything_where_the_settings_do_not_let_him(client: TestClient) -> None:
    answer = client.post("/ibidem/overrides", json=PAIR)
    assert answer.status_code == 403
    assert "IBIDEM_GATEWAY_OVERRIDES" in answer.json()["error"]["reason"]
    assert client.delete("/ibidem/overrides?a=lease&b=draft").status_code == 403
    assert client.get("/ibidem/overrides").json() == {"overrides": []}


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_another_sites_page_cannot_say_anything_in_a_readers_name(
    open_client: TestClient, headers: dict[str, str]
) -> None:
    assert open_client.post("/ibidem/overrides", json=PAIR, headers=headers).status_code == 403
    assert open_client.delete("/ibidem/overrides?a=lease&b=draft", headers=headers).status_code == 403
    assert open_client.get("/ibidem/overrides").json() == {"overrides": []}


def test_the_gateways_own_page_can(open_client: TestClient) -> None:
    assert open_client.post("/ibidem/overrides", json=PAIR, headers={"origin": HERE}).status_code == 201


def test_the_author_is_the_user_who_was_let_in_whatever_the_body_says(open_client: TestClient) -> None:
    basic = base64.b64encode(b"ada:pw").decode()
    response = open_client.post(
        "/ibidem/overrides", json=PAIR | {"author": "Somebody else"}, headers={"authorization": f"Basic {basic}"}
    )
    assert response.json()["overrides"][0]["author"] == "ada"


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"verdict": "perhaps"}, 400, "not, same"),
        ({"b": "nosuch"}, 404, "nosuch"),
        ({"b": "lease"}, 400, "one document"),
        ({"b": ""}, 400, "b"),
        ({"why": "typo"}, 400, "'why'"),
        ({"reason": "x" * 3_000}, 400, "reason"),
        ({"a": None}, 400, "a"),
    ],
)
def test_a_wrong_word_is_refused_by_name(
    open_client: TestClient, changes: dict[str, object], status: int, message: str
) -> None:
    answer = open_client.post("/ibidem/overrides", json=PAIR | changes)
    assert answer.status_code == status
    assert message in answer.json()["error"]["reason"]


@pytest.mark.parametrize("body", ["{", "[]", "null", '"a"', "\x00"])
def test_a_broken_body_is_refused(open_client: TestClient, body: str) -> None:
    answer = open_client.post("/ibidem/overrides", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


def test_a_comparison_heeds_what_was_said_of_the_pair(open_client: TestClient) -> None:
    address = "/ibidem/compare?a=draft&b=lease"
    compared = open_client.get(address).json()
    assert (compared["level"], compared["decision"]) == ("near", None)
    open_client.post("/ibidem/overrides", json=PAIR | {"reason": "York, not London", "author": "Ada"})
    compared = open_client.get(address).json()
    assert (compared["level"], compared["decision"]["verdict"], compared["decision"]["author"]) == (None, "not", "Ada")
    open_client.post("/ibidem/overrides", json={"a": "lease", "b": "letter", "verdict": "same"})
    assert open_client.get("/ibidem/compare?a=lease&b=letter").json()["why"]["signature"] == "override"
