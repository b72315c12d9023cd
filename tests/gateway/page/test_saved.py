"""Saved searches on the page, with what is new."""

import re

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.records import records
from ibidem_gateway.page.saved import alert_page_state, make_alert
from ibidem_gateway.page.state import PageState
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE

PAGE = {"accept": "text/html"}
SAVED = "/ibidem/page/saved"


@pytest.fixture
def client(serve: Serve) -> TestClient:
    client = serve(gateway_overrides=True)
    form = {"action": "save", "name": "drains", "list": "q=drains&source=Chambers&level=near"}
    answer = client.post(SAVED, data=form, headers=PAGE)
    assert (answer.status_code, answer.url.path) == (200, SAVED)
    return client


def write(settings: Settings, tables: Tables, *documents: Document) -> None:
    engine = open_engine(settings.engine, settings.index)
    engine.write(list(records(documents, tables)))
    engine.close()


def test_what_is_there_when_a_search_is_saved_is_not_new(client: TestClient) -> None:
    page = client.get(SAVED, headers=PAGE).text
    assert "Nothing new." in page
    assert "source=Chambers" in page
    assert 'href="/?q=drains&amp;source=Chambers"' in page


def test_new_texts_are_counted_until_they_are_marked_as_seen_and_copies_of_seen_ones_are_not(
    client: TestClient, settings: Settings, tables: Tables
) -> None:
    letter = Document("letter-2", "Dear Sir, the drains of the house are blocked.", source="Chambers", version=1)
    document = Document("again", LEASE, source="Chambers", version=1)
    write(settings, tables, letter, document)
    page = client.get(SAVED, headers=PAGE).text
    assert "1 new" in page
    assert re.findall(r'<bdi class="id">([^<]+)<', page) == ["letter-2"]
    response = client.get("/ibidem/alerts/drains.json").json()
    assert (response["count"], [each["id"] for each in response["new"]]) == (1, ["letter-2"])
    assert "letter-2" not in client.get("/ibidem/alerts/drains.atom").text
    page = client.post(SAVED, data={"action": "seen", "name": "drains"}, headers=PAGE).text
    assert "Nothing new." in page
    assert client.get("/ibidem/alerts/drains.json").json()["count"] == 0
    assert "letter-2" in client.get("/ibidem/alerts/drains.atom").text


def test_a_saved_search_is_removed(client: TestClient) -> None:
    page = client.post(SAVED, data={"action": "remove", "name": "drains"}, headers=PAGE).text
    assert "No saved searches yet." in page
    assert client.get("/ibidem/alerts/drains.json").status_code == 404


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"action": "save", "name": "a b", "list": "q=rent"}, "use letters, digits"),
        ({"action": "save", "name": "rent", "list": "q=-rent"}, "must occur"),
        ({"action": "run", "name": "drains"}, "allowed: save, seen, remove"),
        ({"action": "seen"}, "name"),
        ({"action": "seen", "name": "nosuch"}, "nosuch"),
    ],
)
def test_what_cannot_be_saved_is_refused(client: TestClient, form: dict[str, str], message: str) -> None:
    answer = client.post(SAVED, data=form, headers=PAGE)
    assert answer.status_code in {400, 404}
    assert message in answer.text


def test_where_it_is_not_allowed_searches_are_listed_and_not_saved(serve: Serve) -> None:
    client = serve()
    assert client.post(SAVED, data={"action": "save", "name": "rent", "list": "q=rent"}).status_code == 403
    assert "ibidem alerts add" in client.get(SAVED, headers=PAGE).text


def test_a_list_that_is_saved_is_the_list_that_is_shown_again() -> None:
    state = PageState(
        q="rent", level="identical", preset="law", days="42", source=("AP",), language=("de",), date="1987"
    )
    assert alert_page_state(make_alert("rents", state)) == state
