"""Refused requests get an error in the engine's form."""

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve


@pytest.mark.parametrize("path", ["/_cat/indices", "/ibidem/_doc/lease", "/_bulk", "/ibidem", "/..%2f..%2fetc"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_other_endpoints_of_the_engine_are_not_there_and_the_answer_says_which_are(
    client: TestClient, method: str, path: str
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 404
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


def test_over_a_file_the_root_says_what_the_gateway_is(client: TestClient) -> None:
    assert client.get("/").json()["version"]["distribution"] == "ibidem"


def test_what_a_client_adds_to_its_first_question_is_no_parameter_of_the_page(client: TestClient) -> None:
    assert client.get("/?pretty&human=true").status_code == 200
    page = client.get("/?pretty", headers={"accept": "text/html"})
    assert page.status_code == 400
    assert "pretty" in page.text


def test_the_documentation_lists_every_route(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/ibidem/search", "/ibidem/inspect/{id}", "/ibidem/compare", "/ibidem/groups"} <= set(paths)
