"""The gateway serves metrics for Prometheus."""

from starlette.testclient import TestClient

from gateway.conftest import Serve


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
    assert counts["ibidem_window_documents_total"] == 5
    assert counts["ibidem_window_groups_total"] == 3
    assert counts["ibidem_window_unsigned_total"] == 1
    assert [counts[f'ibidem_stage_seconds_count{{stage="{stage}"}}'] for stage in ("window", "grouping", "fetch")] == [
        1,
        1,
        1,
    ]


def test_dead_letters_are_counted_for_those_who_may_read_them(client: TestClient, serve: Serve) -> None:
    assert read_counts(client)["ibidem_dead_letters"] == 0
    away = serve(engine="opensearch+http://127.0.0.1:9")
    assert "ibidem_dead_letters" not in read_counts(away)
