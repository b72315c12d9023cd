"""The official clients, pointed at the gateway, work as they do with the engine."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import elasticsearch
import opensearchpy
import pytest

from gateway.conftest import Leases

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
