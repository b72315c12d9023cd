"""The current version is shown on top of its group in searches of clients, too."""

import json
from collections.abc import Iterator
from contextlib import closing
from os import getpid
from typing import Any

import pytest

import ibidem
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_workers.groups.service import settle_all
from mail.test_current_version import TEXT, VERSIONS
from servers.indices import ask, remove_indices
from support.general_tables import general_tables
from support.wrapped_clients import CLIENTS, fill_index

INDEX = f"current-{getpid()}"
BODY = {"query": {"match": {"text": "tenant"}}, "_source": ["title"]}


@pytest.fixture(scope="module")
def client(kind: str, address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A wrapped client of an index of ours, and of one whose fields have other names."""
    tables = general_tables()
    documents = [Document(id_, TEXT, title=title, date=date, language="en") for id_, title, date in VERSIONS]
    engine = fill_index(address, INDEX, list(records(documents, tables)))
    settle_all(engine)
    others = f"{address}/?fields=title%3Dheadline,text%3Dtext,date%3Dday,meta%3D"
    other = fill_index(others, f"{INDEX}-other", list(records(documents, tables)))
    other.close()
    with closing(CLIENTS[kind][0](address.partition("+")[2])) as client:
        yield ibidem.wrap(client)
    engine.close()
    for index in (INDEX, f"{INDEX}-other"):
        remove_indices(address, index)


def shown(client: Any, index: str = INDEX, **options: Any) -> list[str]:
    given = {"dedupe": "indent", "dedupe_keep": "current", "index": index} | options
    return [hit["_id"] for hit in client.search(body=BODY, **given)["hits"]["hits"]]


def test_the_highest_version_number_leads(client: Any) -> None:
    found = shown(client)
    assert found[0] == "c"
    assert sorted(found) == ["a", "b", "c"]


def test_of_stored_groups_it_leads_too(client: Any) -> None:
    assert shown(client, dedupe_by="stored")[0] == "c"


def test_in_one_of_several_searches(client: Any) -> None:
    options = {"dedupe": "indent", "dedupe_keep": "current"}
    (answer,) = client.msearch(body=[{"index": INDEX} | options, BODY])["responses"]
    assert answer["hits"]["hits"][0]["_id"] == "c"


def test_the_hits_are_as_they_were_asked_for(client: Any) -> None:
    answer = client.search(index=INDEX, body=BODY, dedupe="indent", dedupe_keep="current")
    assert answer["hits"]["hits"][0]["_source"] == {"title": "Lease v10"}
    assert "fields" not in answer["hits"]["hits"][0]


def test_where_fields_have_other_names_dates_decide_unless_these_are_known(
    client: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = f"{INDEX}-other"
    assert "headline" in json.dumps(ask(address, "GET", f"/{index}/_doc/a"))
    assert shown(client, index)[0] == "b"
    monkeypatch.setenv("IBIDEM_ENGINE", address)
    monkeypatch.setenv("IBIDEM_FIELDS", "title=headline,date=day,meta=")
    assert shown(client, index)[0] == "c"
