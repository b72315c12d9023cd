"""The gateway has no rights of its own: whatever is answered was read with the caller's."""

from collections.abc import Iterator

import httpx2
import pytest

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from servers.fake_server import Between
from support.archive import CLERK, READER
from support.rights_server import Rights, with_rights

GUEST, HIDDEN = READER, "copy"  # who may not read this document, and writes nothing
USERS = {CLERK: None, GUEST: Rights({"bool": {"must_not": {"ids": {"values": [HIDDEN]}}}})}
READS = [
    "/{index}/_search?q=text:rent",
    "/{index}/_search?q=text:rent&dedupe=indent&dedupe_explain=true",
    "/{index}/_search?q=text:rent&dedupe=collapse&dedupe_scope=matches",
    "/{index}/_count?q=text:rent",
    "/{index}/_doc/lease",
    "/_cat/indices/{index}",
    "/ibidem/search?q=rent&dedupe_scope=index&dedupe_explain=true",
    "/ibidem/search?q=roof&dedupe_scope=index&dedupe=collapse",
    "/ibidem/inspect/lease",
    "/ibidem/compare?a=lease&b=draft",
    "/ibidem/groups",
    "/ibidem/overrides",
    "/?q=rent&level=partial",
    "/ibidem/page/document?id=lease",
    "/ibidem/page/inspect?id=lease",
    "/ibidem/page/compare?a=lease&b=draft",
    "/ibidem/page/overrides",
    "/ibidem/doctor",
]


@pytest.fixture(scope="module")
def guarded(leases: Leases) -> Iterator[Between]:
    with with_rights(leases.settings.engine, USERS) as server:
        yield server


@pytest.fixture(scope="module")
def gateway(leases: Leases, guarded: Between) -> Iterator[str]:
    """The gateway before it; its own address names a user with all rights, who must never be used."""
    address = guarded.address(leases.kind).replace("://", "://clerk:pw@")
    with run_gateway(leases.settings.changed(engine=address, gateway_overrides=True)) as where:
        yield where


def find_accounts(guarded: Between) -> set[str | None]:
    """Return whose requests the engine got."""
    all_headers = [{name.lower(): value for name, value in each.headers.items()} for each in guarded.asked]
    return {headers.get("authorization") for headers in all_headers}


def is_page(path: str) -> bool:
    return path.startswith(("/?", "/ibidem/page/"))


def get(url: str, path: str, account: str, method: str = "GET", body: object = None) -> httpx2.Response:
    headers = ({"authorization": account} if account else {}) | ({"accept": "text/html"} if is_page(path) else {})
    return httpx2.request(method, f"{url}{path}", headers=headers, json=body, timeout=60)


@pytest.mark.parametrize("path", READS)
def test_every_request_to_the_engine_carries_the_callers_own_account(
    leases: Leases, guarded: Between, gateway: str, path: str
) -> None:
    for account in (CLERK, GUEST):
        guarded.asked.clear()
        assert get(gateway, path.format(index=leases.index), account).status_code == 200
        assert find_accounts(guarded) == {account}


@pytest.mark.parametrize("path", READS)
def test_a_stranger_is_turned_away_by_the_engine(leases: Leases, gateway: str, path: str) -> None:
    for account in ("", "Basic bm9ib2R5OnB3", "Bearer x"):
        answer = get(gateway, path.format(index=leases.index), account)
        assert answer.status_code == 401
        if is_page(path):
            assert answer.headers["www-authenticate"].startswith("Basic ")
        else:
            assert answer.json()["error"]["type"] == "security_exception"


def test_a_document_that_may_not_be_read_is_answered_as_one_that_is_not_there(gateway: str) -> None:
    pages = [f"/ibidem/page/{page}" for page in ("document?id={}", "inspect?id={}", "compare?a={}&b=lease")]
    for path in ("/ibidem/inspect/{}", "/ibidem/compare?a=lease&b={}", "/ibidem/compare?a={}&b=lease", *pages):
        hidden_answer, missing = (get(gateway, path.format(name), GUEST) for name in (HIDDEN, "nosuch"))
        assert hidden_answer.status_code == missing.status_code == 404
        assert hidden_answer.text.replace(HIDDEN, "nosuch") == missing.text


def test_several_searches_are_each_asked_with_the_callers_account(
    leases: Leases, guarded: Between, gateway: str
) -> None:
    body = f'{{"index":"{leases.index}"}}\n{{"dedupe":"indent"}}\n{{"index":"{leases.index}"}}\n{{"size":1}}\n'
    guarded.asked.clear()
    headers = {"authorization": GUEST, "content-type": "application/x-ndjson"}
    response = httpx2.post(f"{gateway}/_msearch", content=body, headers=headers, timeout=60).json()["responses"]
    assert response[0]["hits"]["total"]["value"] == 4
    assert find_accounts(guarded) == {GUEST}


def test_who_may_not_write_next_to_the_index_says_nothing_there(gateway: str) -> None:
    answer = get(gateway, "/ibidem/overrides", GUEST, "POST", {"a": "lease", "b": "draft", "verdict": "not"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "security_exception")
    assert get(gateway, "/ibidem/overrides", CLERK).json() == {"overrides": []}


def test_an_engine_that_asks_for_an_account_is_ready_and_its_dead_letters_are_for_those_who_may_read_them(
    gateway: str,
) -> None:
    assert get(gateway, "/readyz", "").status_code == 200
    assert "ibidem_dead_letters 0.0" in get(gateway, "/metrics", CLERK).text
    assert "ibidem_dead_letters" not in get(gateway, "/metrics", "").text
