"""A client's transport with a faster reading of JSON; failures that a server reports count."""

import json
from typing import Any

import elastic_transport
import elasticsearch
import opensearchpy
import pytest
from opensearchpy.serializer import JSONSerializer

from ibidem.clients import elasticsearch as of_elasticsearch
from ibidem.clients import opensearch as of_opensearch
from ibidem.clients.search import read_fast
from ibidem.grouped_search.dsl.backend import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.search import grouped_search
from ibidem_dedupe.parameters import DedupeRequest
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest, run_sync
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import SCHEMA

HEADERS = {"content-type": "application/json", "x-elastic-product": "Elasticsearch"}
PLAIN, SURROGATE, NO_NUMBER = b'{"hits": [1, 2.5]}', b'{"name": "\\ud800"}', b'{"score": NaN}'


class Node(elastic_transport.Urllib3HttpNode):
    answer = PLAIN

    def perform_request(self, *_: Any, **__: Any) -> Any:
        headers = elastic_transport.HttpHeaders(HEADERS)
        meta = elastic_transport.ApiResponseMeta(200, "1.1", headers, 0.0, self.config)
        return elastic_transport.TransportApiResponse(meta, self.answer)


class Connection(opensearchpy.Urllib3HttpConnection):
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
    decoders, adapter = ("deserializer", of_opensearch) if kind == "opensearch" else ("serializers", of_elasticsearch)
    return read_fast(transport, decoders, adapter.reads_json_plainly)


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
def test_a_client_whose_owner_changed_how_json_is_read_keeps_that(kind: str) -> None:
    transport = make_transport(kind, serializer=Jotting())
    assert make_fast_client(kind, transport) is transport
    assert answered(make_fast_client(kind, transport)) == {"jotted": {"hits": [1, 2.5]}}


@KINDS
@pytest.mark.parametrize("answer", [SURROGATE, NO_NUMBER])
def test_what_orjson_refuses_is_read_by_the_client_itself(
    kind: str, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Node, "answer", answer)
    monkeypatch.setattr(Connection, "answer", answer)
    transport = make_transport(kind)
    assert repr(answered(make_fast_client(kind, transport))) == repr(answered(transport)) == repr(json.loads(answer))


LAYOUT = {
    "news": {"settings": {"index": {"number_of_shards": "2"}}, "mappings": {"_meta": {"ibidem": {"schema": SCHEMA}}}}
}


def answers(request: ApiRequest, **window: Any) -> Any:
    """Answer as a server with one hit does."""
    if request.method == "GET":
        return LAYOUT
    if request.path == "/_msearch":
        assert request.lines is not None
        missing = {"status": 404, "error": {"type": "index_not_found_exception"}}
        return {"responses": [missing] * (len(request.lines) // 2)}
    if request.path.endswith("/_mget"):
        assert request.body is not None
        return {"docs": [{"found": False} for _ in request.body["docs"]]}
    hit = {"_index": "news", "_id": "a", "_score": 1.0, "_seq_no": 6}
    total = {"value": 1, "relation": "eq"}
    return {"timed_out": False, "hits": {"total": total, "max_score": 1.0, "hits": [hit]}, **window}


def make_response(**window: Any) -> Any:
    flow = read_search("news", {}, {}, DedupeRequest("indent"))
    return run_sync(grouped_search(flow, IndexMetadataCache()), lambda ask: answers(ask, **window))


@pytest.mark.parametrize(
    ("shards", "status", "message"),
    [
        ({"failed": 1, "failures": [{"status": 500, "reason": {"type": "io", "reason": "no disk"}}]}, 500, "no disk"),
        # The server calls it no failure that no node holds a part.
        ({"total": 3, "successful": 2, "skipped": 0, "failed": 0}, 503, "2 of 3 shards"),
    ],
)
def test_a_part_of_the_index_that_failed_is_an_error(shards: Any, status: int, message: str) -> None:
    with pytest.raises(Failure, match=message) as raised:
        make_response(_shards=shards)
    assert raised.value.status == status


def test_hits_from_which_a_pipeline_took_the_id_are_named_with_the_remedy() -> None:
    hits = {"total": {"value": 1, "relation": "eq"}, "max_score": 1.0, "hits": [{"_index": "news", "_score": 1.0}]}
    with pytest.raises(UsageError, match="a hit of the index 'news' has no _id; do not let a search pipeline"):
        make_response(hits=hits)
