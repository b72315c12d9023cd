"""Every request passes the middleware first."""

import logging
from collections.abc import Iterator

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
    def parts() -> Iterator[bytes]:
        for _ in range(11):
            yield b" " * 1_000_000

    page = serve(gateway_overrides=True)
    assert page.post("/ibidem/page/overrides", content=parts()).status_code == 413
    away = serve(engine="opensearch+http://127.0.0.1:9")
    assert away.post("/news/_search", content=parts()).status_code == 413


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
