"""The official clients, pointed at the gateway, work as they do with the engine."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import elasticsearch
import opensearchpy
import pytest

from gateway.conftest import Leases
from gateway.gateway_server import run_gateway
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table

RENT = {"query": {"match": {"text": "rent"}}}


@pytest.fixture
def client(leases: Leases, gateway: str) -> Iterator[Any]:
    """The official client of the engine behind the gateway."""
    if leases.kind == "opensearch":
        parts = urlsplit(gateway)
        connection: Any = opensearchpy.OpenSearch([{"host": parts.hostname, "port": parts.port}], max_retries=0)
    else:
        connection = elasticsearch.Elasticsearch(gateway, max_retries=0)
    yield connection
    connection.close()


def as_plain(answer: Any) -> Any:
    """Return an answer as JSON, without the time it took."""
    body = getattr(answer, "body", answer)
    return {name: value for name, value in body.items() if name != "took"}


def ids(answer: Any) -> list[str]:
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def test_a_search_without_dedupe_is_the_engines_own(client: Any, leases: Leases) -> None:
    factory: Any = opensearchpy.OpenSearch if leases.kind == "opensearch" else elasticsearch.Elasticsearch
    direct = factory([leases.url])
    try:
        body = {**RENT, "highlight": {"fields": {"text": {}}}, "aggs": {"n": {"terms": {"field": "ibidem.idf"}}}}
        assert as_plain(client.search(index=leases.index, body=body)) == as_plain(
            direct.search(index=leases.index, body=body)
        )
    finally:
        direct.close()


def test_a_search_with_dedupe_in_its_body_indents_the_duplicates(client: Any, leases: Leases) -> None:
    answer = client.search(index=leases.index, body={**RENT, "dedupe": "indent", "dedupe_explain": True})
    indents = {hit["_id"]: hit["_dedupe"]["indent"] for hit in answer["hits"]["hits"]}
    assert sum(indents.values()) == 2
    assert answer["dedupe"]["groups"]["in_window"] == 2
    assert answer["hits"]["total"] == {"value": 4, "relation": "eq"}


def test_what_another_table_than_the_gateways_signed_is_counted(leases: Leases, tmp_path: Path) -> None:
    Tables(tmp_path).use(Table.build("en", 10_000, {"rent": 10.0}, "another test"))
    with run_gateway(leases.settings) as first_gateway, run_gateway(leases.settings.changed(tables=tmp_path)) as other:
        for url, count in ((first_gateway, 0), (other, 4)):
            address = f"{url}/{leases.index}/_search?dedupe=indent&q=text:rent"
            with urlopen(address) as answer:  # noqa: S310 - the gateway that was just started
                assert json.loads(answer.read())["dedupe"]["mixed_tables"] == count


def test_a_collapsed_search_carries_its_duplicates_as_native_collapse_does(client: Any, leases: Leases) -> None:
    answer = client.search(
        index=leases.index, body={**RENT, "dedupe": "collapse", "dedupe_keep": "earliest", "size": 2, "_source": False}
    )
    lead = next(hit for hit in answer["hits"]["hits"] if hit["_id"] == "lease")
    assert len(answer["hits"]["hits"]) == 2
    assert {hit["_id"] for hit in lead["inner_hits"]["duplicates"]["hits"]["hits"]} == {"copy", "draft"}
    assert "_source" not in lead


def test_a_long_window_is_grouped_as_a_short_one_is(client: Any, leases: Leases) -> None:
    short, long = (
        client.search(index=leases.index, body={**RENT, "dedupe": "indent", "dedupe_window": window})
        for window in (500, 5_000)
    )
    assert short["hits"] == long["hits"]
    assert short["dedupe"]["groups"] == long["dedupe"]["groups"]


def test_pages_are_cut_from_groups(client: Any, leases: Leases) -> None:
    pages = [
        client.search(index=leases.index, body={**RENT, "dedupe": "indent", "from": start, "size": 1})
        for start in (0, 1)
    ]
    assert sorted(ids(pages[0]) + ids(pages[1])) == ["copy", "draft", "lease", "letter"]


def test_a_count_is_the_engines_own(client: Any, leases: Leases) -> None:
    assert client.count(index=leases.index, body=RENT)["count"] == 4


def test_several_searches_keep_their_order_and_one_that_fails_harms_no_other(client: Any, leases: Leases) -> None:
    head = {"index": leases.index}
    lines = [
        head,
        {**RENT, "dedupe": "indent"},
        head,
        {"query": {"match": {"text": "roof"}}},
        head,
        {"query": {"nosuch": {}}, "dedupe": "indent"},
        {"index": [leases.index]},
        {**RENT, "dedupe": "maybe"},
    ]
    arguments = {"body": lines} if leases.kind == "opensearch" else {"searches": lines}
    responses = client.msearch(**arguments)["responses"]
    assert [each["status"] for each in responses] == [200, 200, 400, 400]
    assert "_dedupe" in responses[0]["hits"]["hits"][0]
    assert "_dedupe" not in responses[1]["hits"]["hits"][0]
    assert "nosuch" in str(responses[2]["error"])
    assert "allowed: off, collapse, indent" in responses[3]["error"]["reason"]


def test_errors_come_out_as_the_clients_own_exceptions(client: Any, leases: Leases) -> None:
    library: Any = opensearchpy if leases.kind == "opensearch" else elasticsearch
    error_class = library.RequestError if leases.kind == "opensearch" else library.BadRequestError
    with pytest.raises(error_class) as error:
        client.search(index=leases.index, body={**RENT, "dedupe": "maybe"})
    assert "illegal_argument_exception" in str(error.value)
    with pytest.raises(error_class) as error:
        client.search(index=leases.index, body={"query": {"nosuch": {}}, "dedupe": "indent"})
    assert "nosuch" in str(error.value)
    with pytest.raises(error_class):
        client.search(index=leases.index, body={**RENT, "dedupe": "indent", "collapse": {"field": "ibidem.idf"}})
    with pytest.raises(library.NotFoundError):
        client.search(index="another", body={**RENT, "dedupe": "indent"})


def test_the_root_is_the_engines_own(client: Any, leases: Leases) -> None:
    if leases.kind == "opensearch":
        assert client.info()["version"]["distribution"] == "opensearch"
        assert client.ping()
    else:  # assembled from Maven it has no root: what it answers comes back
        with pytest.raises(elasticsearch.ApiError):
            client.info()


@pytest.mark.parametrize("version", [8, 9])
def test_an_answer_has_the_form_of_the_version_that_the_client_speaks(
    leases: Leases, gateway: str, version: int
) -> None:
    if leases.kind == "opensearch":
        return
    form = f"application/vnd.elasticsearch+json; compatible-with={version}"
    parts = urlsplit(gateway)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    connection.request(
        "POST", f"/{leases.index}/_search?dedupe=indent", json.dumps(RENT), {"accept": form, "content-type": form}
    )
    answer = connection.getresponse()
    assert len(json.load(answer)["hits"]["hits"]) == 4
    connection.close()
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    assert answer.headers["content-type"].replace(" ", "") == form.replace(" ", "")
