"""Manual decisions are listed by title, and are taken back where they are listed."""

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve
from gateway.page.test_routes import PAGE

WORD = {"a": "lease", "b": "draft", "verdict": "not", "reason": "York"}
LIST = "/ibidem/page/overrides"


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve(gateway_overrides=True)


def test_a_decision_is_listed_by_titles_that_lead_to_the_documents(client: TestClient) -> None:
    client.post(LIST, data=WORD, headers=PAGE)
    page = client.get(LIST, headers=PAGE).text
    assert '<a class="title" href="/ibidem/page/document?id=draft"><bdi>Lease' in page
    assert "York" in page


def test_a_decision_is_taken_back_in_the_list_which_says_so(client: TestClient) -> None:
    client.post(LIST, data=WORD, headers=PAGE)
    page = client.post(LIST, data=WORD | {"verdict": "none", "page": "overrides"}, headers=PAGE)
    assert page.history[0].headers["location"].startswith(f"{LIST}?said=none")
    assert "Decision undone: <bdi>Lease" in page.text
    assert "No manual decisions yet" in page.text


def test_a_decision_on_documents_that_went_is_not_reported(client: TestClient) -> None:
    assert "Marked as" not in client.get("/?q=rent&said=same&about=lease&about=nosuch", headers=PAGE).text
    assert client.get("/?q=rent&said=maybe", headers=PAGE).status_code == 400
