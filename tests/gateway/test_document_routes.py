"""`/ibidem/…` answers what the commands of the same names print."""

import threading

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve, fill
from ibidem_core.settings import Settings
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.stored_presets import save_preset
from ibidem_gateway import document_routes
from ibidem_ingest.idf.store import Tables


def test_a_search_indents_its_duplicates_as_the_command_does(client: TestClient) -> None:
    response = client.get("/ibidem/search", params={"q": "rent", "dedupe_explain": "true"}).json()
    marks = {hit["_id"]: hit["_dedupe"] for hit in response["hits"]["hits"]}
    assert sum(mark["indent"] for mark in marks.values()) == 2
    assert response["dedupe"]["groups"]["in_window"] == 3
    assert all(mark["why"] for mark in marks.values() if mark["indent"])


def test_a_search_takes_filters_pages_and_modes(client: TestClient) -> None:
    response = client.get("/ibidem/search?q=rent&filter=source=Chambers&dedupe=collapse&size=1&page=1").json()
    assert [hit["inner_hits"]["duplicates"]["hits"]["total"]["value"] for hit in response["hits"]["hits"]] == [1]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("q=rent&dedupe=maybe", "allowed: off, collapse, indent"),
        ("q=rent&dedup=indent", "takes no 'dedup'"),
        ("q=rent&page=0", "page"),
        ("q=rent&size=many", "size"),
        ("q=", "holds no word"),
        ("", "q"),
        ("q=rent&filter=colour=red", "colour"),
        ("q=rent&dedupe_cursor=zzz", "cursor"),
        ("q=rent&dedupe_window=0", "1 to 10,000"),
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
        assert "no search of this index has issued it" in answer.json()["error"]["reason"]


def test_inspect_lists_the_duplicates_in_the_whole_index(client: TestClient) -> None:
    response = client.get("/ibidem/inspect/lease").json()
    assert [each["id"] for each in response["duplicates"]] == ["copy", "draft"]
    assert len(client.get("/ibidem/inspect/lease?dedupe_level=identical").json()["duplicates"]) == 1


def test_an_id_may_hold_strokes_and_marks(client: TestClient) -> None:
    answer = client.get("/ibidem/inspect/a%2Fb/c%3Fd")
    assert answer.status_code == 404
    assert "'a/b/c?d'" in answer.json()["error"]["reason"]


def test_compare_tells_every_signal_of_a_pair(client: TestClient) -> None:
    response = client.get("/ibidem/compare?a=lease&b=draft").json()
    assert (response["a"], response["b"], response["level"]) == ("lease", "draft", "near")
    assert client.get("/ibidem/compare?a=lease&b=nosuch").status_code == 404
    assert client.get("/ibidem/compare?a=lease").status_code == 400


def test_groups_count_the_whole_index(client: TestClient) -> None:
    response = client.get("/ibidem/groups").json()
    assert (response["documents"], response["groups"], response["sizes"]) == (5, 3, {"3": 1})


def test_the_whole_index_is_grouped_for_one_caller_at_a_time(client: TestClient) -> None:
    with document_routes.lock_index():
        answer = client.get("/ibidem/groups")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert client.get("/ibidem/groups").status_code == 200


def test_doctor_shows_settings_without_passwords(serve: Serve) -> None:
    response = serve(broker="amqp://ann:s3cret@127.0.0.1:9//").get("/ibidem/doctor")
    assert "s3cret" not in response.text
    checks = {check["name"]: check["ok"] for check in response.json()["checks"]}
    assert checks["index"]
    assert not checks["broker"]


def test_an_index_that_is_not_there_is_named_with_the_command_that_makes_it(serve: Serve) -> None:
    answer = serve(index="nosuch").get("/ibidem/search?q=rent")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "index_not_found_exception"
    assert "ibidem ingest" in answer.json()["error"]["reason"]


def test_many_callers_read_one_index_at_once(client: TestClient) -> None:
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(client.get("/ibidem/search?q=rent").json()["dedupe"]["groups"]["in_window"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [3] * 8


def test_a_preset_of_the_index_is_known_to_searches_and_to_what_looks_closer(
    settings: Settings, client: TestClient
) -> None:
    engine = open_engine(settings.engine, settings.index)
    save_preset(
        engine, "copies", Preset(Policy(slots=None, terms=None, fingerprint=None, characters=None), "copies alone")
    )
    engine.close()
    inspection = client.get("/ibidem/inspect/lease?dedupe_preset=copies").json()
    assert [each["id"] for each in inspection["duplicates"]] == ["copy"]
    response = client.get("/ibidem/search?q=lease&dedupe_preset=copies").json()
    assert response["dedupe"]["duplicates"] == 1
    assert client.get("/ibidem/search?q=lease").json()["dedupe"]["duplicates"] == 2
    assert client.get("/ibidem/compare?a=lease&b=draft&dedupe_preset=copies&dedupe_level=near").json()["level"] is None
    assert "copies" in client.get("/ibidem/groups?dedupe_preset=nothing").json()["error"]["reason"]
