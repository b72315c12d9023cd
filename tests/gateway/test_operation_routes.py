"""Health, metrics, and errors in the engine's form."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve


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
