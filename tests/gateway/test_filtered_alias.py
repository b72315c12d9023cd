"""A gateway over an alias with a filter shows nothing of what the filter leaves out, by whatever route it is named."""

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from gateway.conftest import HERE, Leases
from ibidem_engines.connect import open_engine
from ibidem_gateway.app import make_gateway
from servers.indices import ask

HIDDEN, SHOWN = "copy", "lease"
PATHS = (
    f"/ibidem/page/document?id={HIDDEN}",
    f"/ibidem/page/inspect?id={HIDDEN}",
    f"/ibidem/page/compare?a={SHOWN}&b={HIDDEN}",
    f"/ibidem/compare?a={HIDDEN}&b={SHOWN}",
    f"/ibidem/inspect/{HIDDEN}",
)


@pytest.fixture(scope="module")
def alias(leases: Leases) -> Iterator[str]:
    """The name of an alias that leaves one of the leases out."""
    name = f"{leases.index}-open"
    hides = {"bool": {"must_not": {"ids": {"values": [HIDDEN]}}}}
    added = {"add": {"index": leases.index, "alias": name, "filter": hides}}
    ask(leases.settings.engine, "POST", "/_aliases", json.dumps({"actions": [added]}))
    yield name
    removed = {"remove": {"index": leases.index, "alias": name}}
    ask(leases.settings.engine, "POST", "/_aliases", json.dumps({"actions": [removed]}))


@pytest.fixture(scope="module")
def client(leases: Leases, alias: str) -> Iterator[TestClient]:
    with TestClient(make_gateway(leases.settings.changed(index=alias)), base_url=HERE) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
def test_a_document_that_the_filter_leaves_out_is_answered_as_one_that_is_not_there(
    client: TestClient, path: str
) -> None:
    assert client.get(path).status_code == client.get(path.replace(HIDDEN, "nosuch")).status_code == 404


def test_documents_that_pass_the_filter_are_read(client: TestClient) -> None:
    assert client.get(f"/ibidem/page/document?id={SHOWN}").status_code == 200
    duplicates = client.get(f"/ibidem/inspect/{SHOWN}").json()["duplicates"]
    assert [each["id"] for each in duplicates] == ["draft"]
    assert client.get("/ibidem/groups").json()["documents"] == 4


def test_a_record_next_to_the_alias_opens_no_document_behind_the_filter(leases: Leases, alias: str) -> None:
    engine = open_engine(leases.settings.engine, alias)
    names = [(leases.index, HIDDEN), (alias, HIDDEN), (leases.index, SHOWN)]
    assert [each.document.id for each in engine.fetch(names)] == [SHOWN]
    engine.close()
