"""Tags over HTTP: given to a group in one entry, reported where copies differ, exported."""

import base64
import csv
import json

import pytest
from starlette.testclient import TestClient

from gateway.conftest import HERE, Serve

GROUP = {"tag": "Privileged", "ids": ["lease"], "of": "group"}
ADDRESS = "/ibidem/tags"


@pytest.fixture
def open_client(serve: Serve) -> TestClient:
    """A gateway whose callers may tag."""
    return serve(gateway_overrides=True)


def post(client: TestClient, **body: object) -> dict[str, object]:
    response = client.post(ADDRESS, json=body)
    assert response.status_code == 201, response.text
    (entry,) = response.json()["entries"]
    return dict(entry)


def test_a_group_is_tagged_in_one_entry_which_the_ledger_then_has(open_client: TestClient) -> None:
    entry = post(open_client, **GROUP, author="Ada", reason="counsel")
    assert open_client.get(ADDRESS).json() == {"entries": [entry]}
    assert (entry["tag"], entry["author"], entry["kind"]) == ("privileged", "Ada", "group")
    taken_back = post(open_client, tag="privileged", ids=["draft"], action="remove")
    assert open_client.get(ADDRESS).json() == {"entries": [entry, taken_back]}


def test_copies_that_were_tagged_differently_are_reported(open_client: TestClient) -> None:
    post(open_client, **GROUP)
    post(open_client, tag="relevant", ids=["copy"])
    report = open_client.get(f"{ADDRESS}/report").json()
    assert (report["counts"]["inconsistent"], report["inconsistent"][0]["differing"]) == (1, ["relevant"])
    assert open_client.get(f"{ADDRESS}/report?dedupe_level=identical").json()["counts"]["groups"] == 2
    assert open_client.get(f"{ADDRESS}/report?by=threads").json()["counts"]["outside"] == 3


@pytest.mark.parametrize("name", ["ledger", "report"])
def test_ledger_and_report_are_tables_to_download(open_client: TestClient, name: str) -> None:
    post(open_client, **GROUP, reason="=1+1")
    post(open_client, tag="relevant", ids=["copy"])
    table, lines = (open_client.get(f"{ADDRESS}/{name}.{ending}") for ending in ("csv", "jsonl"))
    assert "attachment" in table.headers["content-disposition"]
    assert lines.headers["content-type"] == "application/x-ndjson"
    in_table = [row["id"] for row in csv.DictReader(table.text.splitlines())]
    assert in_table == [json.loads(line)["id"] for line in lines.text.splitlines()]
    assert sorted(set(in_table)) == ["copy", "draft", "lease"]
    assert ",=1+1" not in table.text


def test_nobody_tags_where_the_settings_do_not_let_him(client: TestClient) -> None:
    answer = client.post(ADDRESS, json=GROUP)
    assert answer.status_code == 403
    assert "IBIDEM_GATEWAY_OVERRIDES" in answer.json()["error"]["reason"]
    assert client.get(ADDRESS).json() == {"entries": []}
    assert client.get(f"{ADDRESS}/report").json()["counts"]["groups"] == 0


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_another_sites_page_cannot_tag_in_a_readers_name(open_client: TestClient, headers: dict[str, str]) -> None:
    assert open_client.post(ADDRESS, json=GROUP, headers=headers).status_code == 403
    assert open_client.get(ADDRESS).json() == {"entries": []}
    assert open_client.post(ADDRESS, json=GROUP, headers={"origin": HERE}).status_code == 201


def test_the_author_is_the_user_who_was_let_in_whatever_the_body_says(open_client: TestClient) -> None:
    basic = base64.b64encode(b"ada:pw").decode()
    response = open_client.post(
        ADDRESS, json=GROUP | {"author": "Somebody else"}, headers={"authorization": f"Basic {basic}"}
    )
    assert response.json()["entries"][0]["author"] == "ada"


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"tag": "a,b"}, 400, "without a comma"),
        ({"tag": ""}, 400, "not-relevant"),
        ({"tag": "x" * 150}, 400, "at most 100"),
        ({"tag": None}, 400, "tag"),
        ({"ids": []}, 400, "ids"),
        ({"ids": ["nosuch"]}, 404, "nosuch"),
        ({"ids": ["lease", "copy"]}, 400, "name one document"),
        ({"of": "pile"}, 400, "of"),
        ({"of": "thread"}, 400, "is not a mail"),
        ({"ids": ["lease", "nosuch"], "of": "document"}, 404, "nosuch"),
        ({"action": "drop"}, 400, "action"),
        ({"seen": 2}, 400, "3 documents now, and had 2"),
        ({"seen": 0}, 400, "seen"),
        ({"reason": "x" * 3_000}, 400, "reason"),
        ({"why": "typo"}, 400, "'why'"),
    ],
)
def test_a_wrong_step_is_refused_by_name_and_tags_nothing(
    open_client: TestClient, changes: dict[str, object], status: int, message: str
) -> None:
    answer = open_client.post(ADDRESS, json=GROUP | changes)
    assert answer.status_code == status
    assert message in answer.json()["error"]["reason"]
    assert open_client.get(ADDRESS).json() == {"entries": []}


@pytest.mark.parametrize("body", ["{", "[]", "null", '"a"', "\x00"])
def test_a_broken_body_is_refused(open_client: TestClient, body: str) -> None:
    answer = open_client.post(ADDRESS, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/ledger.xls", "/report.txt", "/report?by=pile", "/report?by=stored", "?q=1"])
def test_what_is_not_there_is_refused_with_what_is(open_client: TestClient, path: str) -> None:
    assert open_client.get(f"{ADDRESS}{path}").status_code == 400
