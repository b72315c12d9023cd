"""The health check shows whether gateway and engine answer."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve


def test_a_gateway_that_lives_says_so_and_names_its_engine(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok", "engine": "sqlite"}


@pytest.mark.slow
def test_an_engine_that_does_not_answer_leaves_the_gateway_alive_and_not_ready(serve: Serve) -> None:
    client = serve(engine="opensearch+http://127.0.0.1:9")
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "does not answer" in answer.json()["error"]["reason"]
    assert answer.headers["retry-after"] == "5"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize(
    "path",
    [
        "/readyz",
        "/ibidem/doctor",
        "/ibidem/search?q=a",
        "/ibidem/_search",
        "/ibidem/_search?dedupe=indent",
        "/",
        "/metrics",
    ],
)
def test_an_engine_that_does_not_answer_lets_nobody_read_where_it_is(serve: Serve, kind: str, path: str) -> None:
    answer = serve(engine=f"{kind}+http://127.1.2.3:9").get(path)
    assert answer.status_code == (200 if path == "/metrics" else 503)
    assert "127.1.2.3" not in answer.text
    assert "IBIDEM_" not in answer.text


def test_a_file_that_is_no_index_lets_nobody_read_where_it_is(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "strange.sqlite").write_text("no database at all")
    answer = serve(engine=f"sqlite:///{tmp_path}/strange.sqlite").get("/ibidem/search?q=a")
    assert answer.status_code >= 500
    assert "strange" not in answer.text
