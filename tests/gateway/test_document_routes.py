"""`/ibidem/…` answers what the commands of the same names print and takes decisions; health, metrics and errors."""

import base64
from pathlib import Path

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
    with document_routes.WHOLE_INDEX:
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


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_an_engine_that_does_not_answer_leaves_the_gateway_alive_and_not_ready_and_lets_nobody_read_where_it_is(
    serve: Serve, kind: str
) -> None:
    away = serve(engine=f"{kind}+http://127.1.2.3:9")
    assert away.get("/healthz").status_code == 200
    answer = away.get("/readyz")
    assert "does not answer" in answer.json()["error"]["reason"]
    assert answer.headers["retry-after"] == "5"
    assert "ibidem_dead_letters" not in read_counts(away)
    grouped = "/ibidem/_search?dedupe=indent"
    for path in ("/readyz", "/ibidem/doctor", "/ibidem/search?q=a", "/ibidem/_search", grouped, "/", "/metrics"):
        answer = away.get(path)
        assert answer.status_code == (200 if path == "/metrics" else 503), path
        assert "127.1.2.3" not in answer.text
        assert "IBIDEM_" not in answer.text


def test_a_file_that_is_no_index_lets_nobody_read_where_it_is(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "strange.sqlite").write_text("no database at all")
    answer = serve(engine=f"sqlite:///{tmp_path}/strange.sqlite").get("/ibidem/search?q=a")
    assert answer.status_code >= 500
    assert "strange" not in answer.text


def test_other_endpoints_of_the_engine_are_not_there_and_the_answer_says_which_are(client: TestClient) -> None:
    for path in ("/_cat/indices", "/ibidem/_doc/lease", "/_bulk", "/ibidem", "/..%2f..%2fetc"):
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = client.request(method, path)
            assert answer.status_code == 404, (method, path)
            error = answer.json()["error"]
            assert error["type"] == error["root_cause"][0]["type"] == "not_proxied_exception"
            assert "/openapi.json" in error["reason"]


def test_a_fault_of_the_gateway_is_answered_as_json_and_tells_nothing_of_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("ibidem_gateway.document_routes.inspect_document", fail)
    answer = serve().get("/ibidem/inspect/lease")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def read_counts(client: TestClient) -> dict[str, float]:
    lines = [line for line in client.get("/metrics").text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_requests_are_counted_by_route_and_status_and_never_by_what_was_asked(client: TestClient) -> None:
    client.get("/ibidem/inspect/lease")
    client.get("/ibidem/inspect/nosuch")
    client.get("/secret/plan")
    counts = read_counts(client)
    assert counts['ibidem_requests_total{route="/ibidem/inspect/{id:path}",status="200"}'] == 1
    assert counts['ibidem_requests_total{route="/ibidem/inspect/{id:path}",status="404"}'] == 1
    assert counts['ibidem_requests_total{route="",status="404"}'] == 1
    assert counts['ibidem_errors_total{type="resource_not_found_exception"}'] == 1
    assert not any("secret" in name or "lease" in name for name in counts)


def test_a_grouped_search_tells_its_stages_groups_and_unsigned_documents(client: TestClient) -> None:
    client.get("/ibidem/search?q=rent")
    counts = read_counts(client)
    assert [counts[f"ibidem_window_{name}_total"] for name in ("documents", "groups", "unsigned")] == [5, 3, 1]
    assert counts["ibidem_dead_letters"] == 0
    assert all(counts[f'ibidem_stage_seconds_count{{stage="{each}"}}'] == 1 for each in ("window", "grouping", "fetch"))
