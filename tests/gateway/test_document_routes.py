"""`/ibidem/…` answers what the commands of the same names print, and takes manual decisions."""

import base64

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve, fill
from ibidem_core.settings import Settings
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import save_preset
from ibidem_gateway import document_routes
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("q=rent&dedupe=maybe", "allowed: off, collapse, indent"),
        ("q=rent&dedup=indent", "takes no 'dedup'"),
        ("q=rent&page=0", "page"),
        ("q=", "holds no word"),
        ("", "q"),
        ("q=rent&filter=colour=red", "colour"),
        ("q=rent&dedupe_cursor=zzz", "cursor"),
    ],
)
def test_a_wrong_search_is_told_what_would_be_right(client: TestClient, address: str, message: str) -> None:
    answer = client.get(f"/ibidem/search?{address}")
    assert answer.status_code == 400
    assert message in answer.json()["error"]["reason"]


def test_a_cursor_is_accepted_by_every_process_and_by_no_other_index(
    client: TestClient, serve: Serve, settings: Settings, tables: Tables
) -> None:
    cursor = client.get("/ibidem/search?q=rent").json()["dedupe"]["cursor"]
    other = open_engine(settings.engine, "other")
    fill(other, tables)
    other.close()
    address = "/ibidem/search?q=rent&page=2&dedupe_cursor="
    assert serve().get(f"{address}{cursor}").status_code == 200
    forged = cursor[:80] + ("A" if cursor[80] != "A" else "B") + cursor[81:]
    for gateway, text in ((serve(index="other"), cursor), (client, forged)):
        answer = gateway.get(f"{address}{text}")
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "illegal_argument_exception")
        assert "dedupe_cursor" in answer.json()["error"]["reason"]


def test_a_text_that_is_not_in_the_index_has_its_duplicates_shown_and_is_not_stored(client: TestClient) -> None:
    asked = {"text": f"{LEASE} And so on.", "language": "en"}
    found = client.post("/ibidem/duplicates", json=asked).json()["duplicates"]
    assert {each["id"] for each in found} >= {"lease", "copy"}
    assert client.get("/ibidem/inspect/text").status_code == 404
    for wrong in ({"text": "… !"}, {"text": ""}, {"text": "a", "date": "May"}, {"text": "a", "nosuch": 1}):
        assert client.post("/ibidem/duplicates", json=wrong).status_code == 400


def test_the_whole_index_is_grouped_for_one_caller_at_a_time(client: TestClient) -> None:
    with document_routes.lock_index():
        answer = client.get("/ibidem/groups")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert client.get("/ibidem/groups").status_code == 200


def test_a_preset_of_the_index_is_known_to_searches_and_to_what_looks_closer(index: Engine, client: TestClient) -> None:
    save_preset(
        index, "copies", Preset(Policy(slots=None, terms=None, fingerprint=None, characters=None), "copies alone")
    )
    inspection = client.get("/ibidem/inspect/lease?dedupe_preset=copies").json()
    assert [each["id"] for each in inspection["duplicates"]] == ["copy"]
    response = client.get("/ibidem/search?q=lease&dedupe_preset=copies").json()
    assert response["dedupe"]["duplicates"] == 1
    assert client.get("/ibidem/search?q=lease").json()["dedupe"]["duplicates"] == 2
    assert client.get("/ibidem/compare?a=lease&b=draft&dedupe_preset=copies&dedupe_level=near").json()["level"] is None
    assert "copies" in client.get("/ibidem/groups?dedupe_preset=nothing").json()["error"]["reason"]


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
