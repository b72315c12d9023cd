"""Whether gateway and engine answer."""

from starlette.testclient import TestClient

from gateway.conftest import Serve


def test_a_gateway_that_lives_says_so_and_names_its_engine(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok", "engine": "sqlite"}


def test_an_engine_that_does_not_answer_leaves_the_gateway_alive_and_not_ready(serve: Serve) -> None:
    client = serve(engine="opensearch+http://127.0.0.1:9")
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "does not answer" in answer.json()["error"]["reason"]
    assert answer.headers["retry-after"] == "5"
