"""Tags on the page: a group of a list is tagged in one step, as it was shown, and what differs is told."""

import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from gateway.conftest import Serve
from gateway.page.test_routes import PAGE
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_workers.groups.service import settle_all

ADDRESS = "/ibidem/page/tags"


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve(gateway_overrides=True)


def page(client: TestClient, path: str) -> str:
    response = client.get(path, headers=PAGE)
    assert response.status_code == 200, response.text
    return response.text


def form(text: str, of: str = "list") -> dict[str, str]:
    """Read the hidden fields of the first form of a page that is about something of this kind."""
    for part in re.findall(rf'<form class="decide" action="{ADDRESS}".*?</form>', text, re.DOTALL):
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', part))
        if fields["of"] == of:
            return {name: unescape(value) for name, value in fields.items()}
    raise AssertionError(of)


def send(client: TestClient, fields: dict[str, str], **more: str) -> str:
    response = client.post(ADDRESS, data=fields | more, headers=PAGE)
    assert response.status_code == 200, response.text
    assert response.history[0].status_code == 303
    return str(response.text)


def entries(client: TestClient) -> list[dict[str, object]]:
    found: list[dict[str, object]] = client.get("/ibidem/tags").json()["entries"]
    return found


@pytest.mark.parametrize(
    "more",
    ["", "&dedupe=collapse", "&by=window&keep=longest", "&by=index", "&by=matches&level=partial", "&sort=newest"],
)
def test_a_group_of_a_list_is_tagged_in_one_step_and_the_list_says_so(client: TestClient, more: str) -> None:
    shown = send(client, form(page(client, f"/?q=drains{more}")), tag="relevant")
    (entry,) = entries(client)
    assert sorted(each["id"] for each in entry["documents"]) == ["copy", "draft", "lease"]  # type: ignore[attr-defined]
    assert "3 documents tagged" in shown
    assert shown.count('<span class="tag"><bdi>relevant</bdi></span>') == 4
    assert "not yet tagged" not in shown


def test_a_stored_group_is_tagged_as_far_as_the_list_shows_it(client: TestClient, settings: Settings) -> None:
    engine = open_engine(settings.engine, settings.index)
    settle_all(engine)
    engine.close()
    shown = send(client, form(page(client, "/?q=drains&source=Chambers")), tag="relevant")
    assert "2 documents tagged" in shown
    shown = page(client, "/?q=drains")
    assert (shown.count("<bdi>relevant</bdi>"), shown.count("not yet tagged")) == (2, 1)
    assert 'href="/ibidem/tags/report.csv?by=stored"' in page(client, ADDRESS)


def test_a_tag_is_taken_back_where_the_list_tells_of_it(client: TestClient) -> None:
    shown = send(client, form(page(client, "/?q=drains")), tag="privileged")
    shown = send(client, form(shown, "entry"))
    assert "3 documents no longer tagged" in shown
    assert [each["action"] for each in entries(client)] == ["add", "remove"]


def test_a_group_that_has_another_size_now_is_not_tagged(client: TestClient) -> None:
    fields = form(page(client, "/?q=drains"))
    answer = client.post(ADDRESS, data=fields | {"seen": "2", "tag": "relevant"}, headers=PAGE)
    assert answer.status_code == 400
    assert "nothing was tagged: look at it again" in answer.text
    assert not entries(client)


def test_documents_of_one_group_that_differ_are_told_in_the_list_and_in_the_report(client: TestClient) -> None:
    send(client, form(page(client, "/?q=drains")), tag="relevant")
    send(client, form(page(client, "/ibidem/page/document?id=copy"), "document"), tag="not-relevant")
    assert "tagged differently" in page(client, "/?q=drains")
    report = page(client, ADDRESS)
    assert "Copies that differ in" in report
    assert 'href="/ibidem/tags/report.csv?by=groups"' in report


def test_a_document_without_a_tag_in_a_group_with_some_is_not_yet_tagged(client: TestClient) -> None:
    send(client, form(page(client, "/ibidem/page/document?id=lease"), "document"), tag="relevant")
    assert page(client, "/?q=drains").count("not yet tagged") == 2
    assert page(client, "/ibidem/page/inspect?id=lease").count("not yet tagged") == 2
    assert "Not yet fully tagged" in page(client, ADDRESS)


def test_all_duplicates_in_the_whole_index_are_tagged_from_their_page(client: TestClient) -> None:
    shown = send(client, form(page(client, "/ibidem/page/inspect?id=draft"), "group"), tag="Project Falcon")
    assert "the group of <bdi>draft</bdi>" in shown
    assert shown.count("<bdi>project falcon</bdi>") == 4
    fields = form(page(client, "/ibidem/page/inspect?id=draft&level=identical"), "group")
    assert fields["seen"] == "1"
    send(client, fields, tag="alone")


def test_further_duplicates_of_a_group_show_their_tags(client: TestClient) -> None:
    text = page(client, "/?q=drains&dedupe=collapse")
    send(client, form(text), tag="relevant")
    group = form(text)["group"]
    assert page(client, f"/ibidem/page/group?q=drains&group={group}").count("<bdi>relevant</bdi>") == 2


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"tag": ""}, 400, "the form has no &#39;tag&#39;"),
        ({"tag": "a,b"}, 400, "is not allowed"),
        ({"of": "pile"}, 400, "allowed: list, document, group"),
        ({"of": ""}, 400, "of"),
        ({"group": "nosuch"}, 404, "nosuch"),
        ({"list": "q=drains&page=x"}, 400, "page"),
        ({"seen": "many"}, 400, "nothing was tagged"),
        ({"of": "thread"}, 400, "is not a mail"),
        ({"of": "document", "id": "nosuch"}, 404, "nosuch"),
        ({"of": "entry", "date": "yesterday"}, 404, "yesterday"),
    ],
)
def test_a_wrong_form_is_refused_in_words_and_tags_nothing(
    client: TestClient, changes: dict[str, str], status: int, message: str
) -> None:
    fields = form(page(client, "/?q=drains")) | {"tag": "relevant"} | changes
    answer = client.post(ADDRESS, data=fields, headers=PAGE)
    assert (answer.status_code, message in answer.text) == (status, True), answer.text
    assert not entries(client)


def test_an_entry_that_others_have_replaced_cannot_be_taken_back(client: TestClient) -> None:
    text = send(client, form(page(client, "/?q=drains")), tag="relevant")
    send(client, form(page(client, "/?q=drains")), tag="not-relevant")
    answer = client.post(ADDRESS, data=form(text, "entry"), headers=PAGE)
    assert (answer.status_code, "nothing to take back" in answer.text) == (400, True)


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_a_form_of_another_site_tags_nothing(client: TestClient, headers: dict[str, str]) -> None:
    fields = form(page(client, "/?q=drains")) | {"tag": "relevant"}
    assert client.post(ADDRESS, data=fields, headers=PAGE | headers).status_code == 403
    assert not entries(client)


def test_without_the_setting_tags_are_shown_and_no_form_gives_them(serve: Serve) -> None:
    send(client := serve(gateway_overrides=True), form(page(client, "/?q=drains")), tag="relevant")
    closed = serve()
    text = page(closed, "/?q=drains")
    assert "<bdi>relevant</bdi>" in text
    assert f'action="{ADDRESS}"' not in text
    assert closed.post(ADDRESS, data={"of": "document", "id": "lease", "tag": "relevant"}).status_code == 403


def test_hostile_tags_stay_inert(client: TestClient) -> None:
    fields = form(page(client, "/ibidem/page/document?id=lease"), "document")
    send(client, fields, tag="<script>alert(1)</script>", reason="<b>")
    for path in ("/?q=drains", ADDRESS, "/ibidem/page/document?id=lease"):
        assert "<script>alert" not in page(client, path)
