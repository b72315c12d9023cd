"""Who may see some documents and fields alone is answered by clients and gateway as if there were no others."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

import ibidem
from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from servers.indices import remove_indices
from servers.kinds import CLUSTERS
from support.archive import (
    BLIND,
    BODIES,
    CLERK,
    GROUPED,
    READER,
    USERS,
    Json,
    check_hidden,
    documents,
    fill,
    public,
    same_for_all,
)
from support.rights_server import with_rights
from support.wrapped_clients import CLIENTS

SHARDS = pytest.mark.parametrize("archives", [1, 3], ids=["one shard", "three shards"], indirect=True)
# Paths of the gateway whose answers are those over an archive without hidden documents.
PATHS = (
    "/{index}/_search?q=text:said&dedupe=indent&dedupe_by=window&size=50&sort=ibidem.date:asc",
    "/{index}/_search?q=text:said&size=50&sort=ibidem.date:asc",
    "/ibidem/search?q=said&dedupe_by=window&dedupe_explain=true&size=50",
    "/ibidem/search?q=said&dedupe=collapse&dedupe_scope=index&size=3",
    "/ibidem/search?q=said&dedupe_level=partial&dedupe_scope=matches&dedupe_window=3&size=3",
    "/ibidem/inspect/story-1",
    "/ibidem/inspect/long-1",
    "/ibidem/compare?a=story-1&b=first-half-1",
    "/ibidem/groups",
    "/ibidem/overrides",
)

PAGES = (
    "/?q=said",
    "/?q=said&scope=index&level=partial",
    "/?q=said&by=stored",
    "/?q=said&sort=newest",
    "/ibidem/page/document?id=story-1&q=said",
    "/ibidem/page/inspect?id=story-1",
    "/ibidem/page/compare?a=story-1&b=first-half-1",
    "/ibidem/page/overrides",
    "/{index}/_count?q=text:said",
    "/{index}/_doc/story-1",
    "/ibidem/search?q=said&dedupe_by=stored&dedupe_explain=true&size=50",
    "/{index}/_search?q=text:said&dedupe=collapse&dedupe_by=stored&dedupe_explain=true&size=50",
    "/ibidem/doctor",
    "/metrics",
)


@dataclass(frozen=True)
class Archives:
    """Three archives behind a server that knows what its users may see."""

    kind: str  # the engine
    guarded: str  # address of the server before it
    whole: str  # index of all documents
    bare: str  # index of the public ones
    titled: str  # index whose titles and margins hold what is hidden from some

    def search(self, index: str, account: str, body: Json, options: Json, by: str = "window") -> Json:
        """Search by a wrapped client with an account."""
        client = CLIENTS[self.kind][0](self.guarded.partition("+")[2], headers={"authorization": account})
        options = {"by": by, **options}
        arguments = {name if name == "dedupe" else f"dedupe_{name}": value for name, value in options.items()}
        try:
            return dict(ibidem.wrap(client).search(index=index, body=dict(body), **arguments))
        finally:
            client.close()


@pytest.fixture(params=CLUSTERS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def archives(request: pytest.FixtureRequest, kind: str) -> Iterator[Archives]:
    address: str = request.getfixturevalue(kind)
    shards: int = getattr(request, "param", 1)
    indices = [f"archive-{name}-{shards}{os.getpid()}" for name in ("whole", "bare", "titled")]
    for index, held in zip(indices, (documents(), public(documents()), public(documents(titles=True))), strict=True):
        fill(address, index, held, shards)
    with with_rights(address, USERS) as server:
        yield Archives(kind, server.address(kind), *indices)
    for index in indices:
        remove_indices(address, index)


@pytest.fixture(scope="module", autouse=True)
def layer_alone() -> Iterator[None]:
    """The Python layer groups by itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("IBIDEM_PLUGIN", "off")
        yield


@SHARDS
@pytest.mark.parametrize(
    ("body", "options"), [*((body, "indent") for body in BODIES), *(("all", each) for each in GROUPED)]
)
def test_a_client_answers_a_reader_as_if_hidden_documents_were_not_there(
    archives: Archives, body: str, options: str
) -> None:
    seen = archives.search(archives.whole, READER, BODIES[body], GROUPED[options])
    there = archives.search(archives.bare, CLERK, BODIES[body], GROUPED[options])
    check_hidden(seen)
    assert same_for_all(seen) == same_for_all(there)


@SHARDS
@pytest.mark.parametrize("body", BODIES)
def test_stored_groups_show_and_count_what_a_reader_may_see(archives: Archives, body: str) -> None:
    seen = archives.search(archives.whole, READER, BODIES[body], {"dedupe": "indent", "explain": True}, "stored")
    check_hidden(seen)
    matching = len(public(documents()))
    assert seen["hits"]["total"]["value"] == seen["dedupe"]["documents"]["matched"] == matching
    sizes = {hit["_dedupe"]["group"]: hit["_dedupe"]["size"] for hit in seen["hits"]["hits"]}
    if body != "a page":
        assert sum(sizes.values()) == matching


@pytest.mark.parametrize("options", GROUPED)
def test_no_hidden_field_is_shown_by_a_client(archives: Archives, options: str) -> None:
    check_hidden(archives.search(archives.titled, BLIND, BODIES["all"], GROUPED[options]))
    check_hidden(archives.search(archives.titled, BLIND, BODIES["all"], {"dedupe": "indent"}, "stored"))


@pytest.fixture(scope="module")
def gateways(archives: Archives) -> Iterator[dict[str, str]]:
    """A gateway before each archive, by its index; its own account may see all, and is never used."""
    address = archives.guarded.replace("://", "://clerk:pw@")
    settings = Settings(engine=address, gateway_overrides=True)
    with (
        run_gateway(settings.changed(index=archives.whole)) as whole,
        run_gateway(settings.changed(index=archives.bare)) as bare,
        run_gateway(settings.changed(index=archives.titled)) as titled,
    ):
        yield {archives.whole: whole, archives.bare: bare, archives.titled: titled}


def get(gateways: dict[str, str], index: str, path: str, account: str) -> httpx2.Response:
    """Ask the gateway before an archive."""
    accept = "text/html" if path.startswith(("/?", "/ibidem/page/")) else "application/json"
    headers = {"authorization": account, "accept": accept}
    answer = httpx2.get(f"{gateways[index]}{path.format(index=index)}", headers=headers, timeout=60)
    assert answer.status_code < 500, answer.text
    return answer


@pytest.mark.parametrize("path", PATHS)
def test_the_gateway_answers_a_reader_as_if_hidden_documents_were_not_there(
    archives: Archives, gateways: dict[str, str], path: str
) -> None:
    get(gateways, archives.whole, path, CLERK)  # what he may see is remembered for him alone
    seen = get(gateways, archives.whole, path, READER).json()
    check_hidden(seen)
    assert same_for_all(seen) == same_for_all(get(gateways, archives.bare, path, CLERK).json())


@pytest.mark.parametrize("path", [*PAGES, *PATHS])
def test_nothing_that_the_gateway_shows_tells_of_hidden_documents_and_fields(
    archives: Archives, gateways: dict[str, str], path: str
) -> None:
    for index, account in ((archives.whole, READER), (archives.titled, BLIND)):
        get(gateways, index, path, CLERK)
        check_hidden(get(gateways, index, path, account).text)


def test_no_word_of_a_hidden_document_is_suggested(archives: Archives, gateways: dict[str, str]) -> None:
    path = "/?q=unspeakble"
    assert "unspeakable" in get(gateways, archives.whole, path, CLERK).text
    check_hidden(get(gateways, archives.whole, path, READER).text)


def test_decisions_on_hidden_documents_are_neither_shown_nor_told_by_their_effect(
    archives: Archives, gateways: dict[str, str]
) -> None:
    decision = {"a": "story-1", "b": "classified-1", "verdict": "not", "reason": "unspeakable"}

    def decide(account: str, method: str) -> httpx2.Response:
        body = {"json": decision} if method == "POST" else {"params": {"a": "story-1", "b": "classified-1"}}
        url = f"{gateways[archives.whole]}/ibidem/overrides"
        return httpx2.request(method, url, headers={"authorization": account}, timeout=60, **body)

    assert decide(CLERK, "POST").json()["overrides"][0]["author"] == "clerk"
    for path in (*PATHS, "/?q=said"):
        check_hidden(get(gateways, archives.whole, path, READER).text)
    check_hidden(archives.search(archives.whole, READER, BODIES["all"], GROUPED["indent"]))
    assert json.loads(get(gateways, archives.whole, "/ibidem/overrides", READER).text) == {"overrides": []}
    assert [decide(READER, method).status_code for method in ("POST", "DELETE")] == [404, 404]
    assert decide(CLERK, "DELETE").status_code == 200
