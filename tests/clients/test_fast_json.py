"""A client's transport, seen with a faster reading of JSON: all else is the caller's."""

import json
from typing import Any

import elastic_transport
import elasticsearch
import opensearchpy
import pytest
from opensearchpy.serializer import JSONSerializer

from ibidem.clients import elasticsearch as of_elasticsearch
from ibidem.clients import opensearch as of_opensearch
from ibidem.clients.fast_json import read_fast

HEADERS = {"content-type": "application/json", "x-elastic-product": "Elasticsearch"}
PLAIN, SURROGATE, NO_NUMBER = b'{"hits": [1, 2.5]}', b'{"name": "\\ud800"}', b'{"score": NaN}'


class Node(elastic_transport.Urllib3HttpNode):
    """A node of Elasticsearch that gives one answer."""

    answer = PLAIN

    def perform_request(self, *_: Any, **__: Any) -> Any:
        headers = elastic_transport.HttpHeaders(HEADERS)
        meta = elastic_transport.ApiResponseMeta(200, "1.1", headers, 0.0, self.config)
        return elastic_transport.TransportApiResponse(meta, self.answer)


class Connection(opensearchpy.Urllib3HttpConnection):
    """A connection to OpenSearch that gives one answer."""

    answer = PLAIN

    def perform_request(self, *_: Any, **__: Any) -> Any:
        return 200, HEADERS, self.answer.decode()


class Jotting(JSONSerializer, elasticsearch.JsonSerializer):
    """Reading of JSON that the owner of a client changed."""

    def loads(self, data: Any) -> Any:
        return {"jotted": json.loads(data)}


def make_transport(kind: str, **options: Any) -> Any:
    if kind == "opensearch":
        return opensearchpy.OpenSearch(connection_class=Connection, **options).transport
    return elasticsearch.Elasticsearch("http://localhost:9200", node_class=Node, **options).transport


def make_fast_client(kind: str, transport: Any) -> Any:
    if kind == "opensearch":
        return read_fast(transport, "deserializer", of_opensearch.reads_json_plainly)
    return read_fast(transport, "serializers", of_elasticsearch.reads_json_plainly)


def answered(transport: Any) -> Any:
    answer = transport.perform_request("GET", "/")
    return answer.body if hasattr(answer, "body") else answer


KINDS = pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])


@KINDS
def test_an_answer_is_read_without_the_clients_decoder(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = make_transport(kind)
    monkeypatch.setattr(json, "loads", None)
    assert answered(make_fast_client(kind, transport)) == {"hits": [1, 2.5]}


@KINDS
@pytest.mark.parametrize("answer", [SURROGATE, NO_NUMBER])
def test_what_orjson_refuses_is_read_by_the_client_itself(
    kind: str, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Node, "answer", answer)
    monkeypatch.setattr(Connection, "answer", answer)
    transport = make_transport(kind)
    assert repr(answered(make_fast_client(kind, transport))) == repr(answered(transport)) == repr(json.loads(answer))


@KINDS
def test_a_client_whose_owner_changed_how_json_is_read_keeps_that(kind: str) -> None:
    transport = make_transport(kind, serializer=Jotting())
    assert make_fast_client(kind, transport) is transport
    assert answered(make_fast_client(kind, transport)) == {"jotted": {"hits": [1, 2.5]}}


@KINDS
def test_whatever_changes_in_the_view_changes_in_the_clients_transport(kind: str) -> None:
    transport = make_transport(kind)
    view = make_fast_client(kind, transport)
    assert isinstance(view, type(transport))
    view.max_retries = 7
    assert transport.max_retries == 7
    transport.max_retries = 2
    assert make_fast_client(kind, transport).max_retries == 2
