"""The HTTP API, as a page."""

from starlette.testclient import TestClient

from ibidem_dedupe.parameters import PARAMETERS
from ibidem_gateway.page.rendering import operations


def test_every_question_and_every_dedupe_parameter_is_described(client: TestClient) -> None:
    page = client.get("/docs").text
    for path in client.get("/openapi.json").json()["paths"]:
        assert f"{path}</code>" in page
    for name in PARAMETERS:
        assert f"<code>{name}</code>" in page
    assert "GET, POST /{indexes}/_search" in page


def test_what_is_sent_in_a_body_is_described_as_well(client: TestClient) -> None:
    by_path = {(each.path, each.methods): each for each in operations(client.get("/openapi.json").json())}
    word = {each.name: (each.place, each.required) for each in by_path["/ibidem/overrides", "POST"].parameters}
    assert word["a"] == ("body", True)
    assert word["reason"] == ("body", False)
    assert {each.name: each.place for each in by_path["/ibidem/overrides", "DELETE"].parameters} == {
        "a": "query",
        "b": "query",
    }
