"""A wrapped client behaves as before, except for searches with dedupe; it reads JSON faster."""

import ast
import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import elastic_transport
import elasticsearch
import elasticsearch.dsl
import opensearchpy
import pytest
from opensearchpy.serializer import JSONSerializer

import ibidem
from ibidem.clients import elasticsearch as of_elasticsearch
from ibidem.clients import opensearch as of_opensearch
from ibidem.clients import search
from ibidem.clients.search import read_fast
from ibidem.grouped_search.dsl.search import IndexMetadataCache, grouped_search
from ibidem.grouped_search.dsl.syntax import read_search
from ibidem_dedupe.parameters import PARAMETERS, DedupeRequest
from ibidem_engines.cluster.client import Failure
from ibidem_engines.engine import Engine
from ibidem_engines.requests import ApiRequest, run_sync
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import SCHEMA
from servers.indices import ask
from support.wrapped_clients import CLIENTS, INDEX

BODY = {"query": {"match": {"text": "said"}}, "size": 7, "aggs": {"sources": {"terms": {"field": "source"}}}}


def ids(response: Any) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def without_time(response: Any) -> dict[str, Any]:
    """Return the parts of a response that two equal searches share."""
    return {name: part for name, part in dict(response).items() if name != "took"}


def test_a_search_without_dedupe_is_answered_as_the_client_answers_it(plain_client: Any, wrapped_client: Any) -> None:
    arguments = {"index": INDEX, "body": BODY, "preference": "one"}
    assert without_time(wrapped_client.search(**arguments)) == without_time(plain_client.search(**arguments))
    assert type(wrapped_client.search(**arguments)) is type(plain_client.search(**arguments))
    assert without_time(wrapped_client.search(**arguments, dedupe="off")) == without_time(
        plain_client.search(**arguments)
    )


def test_a_wrapped_client_is_of_its_own_class_and_shares_the_connections(
    plain_client: Any, wrapped_client: Any
) -> None:
    assert isinstance(wrapped_client, type(plain_client))
    assert wrapped_client.transport is plain_client.transport
    assert ibidem.wrap(wrapped_client) is wrapped_client
    assert repr(wrapped_client) == repr(plain_client)
    assert copy.copy(wrapped_client).count(index=INDEX)["count"] == plain_client.count(index=INDEX)["count"]


def test_every_other_method_passes_through(plain_client: Any, wrapped_client: Any) -> None:
    assert wrapped_client.indices.exists(index=INDEX)
    assert wrapped_client.count(index=INDEX)["count"] == plain_client.count(index=INDEX)["count"]
    twice = [{"index": INDEX}, BODY] * 2
    assert [ids(each) for each in wrapped_client.msearch(body=twice)["responses"]] == [
        ids(plain_client.search(index=INDEX, body=BODY))
    ] * 2


def test_a_search_with_dedupe_carries_groups_and_an_account(wrapped_client: Any) -> None:
    answer = wrapped_client.search(index=INDEX, body=BODY, dedupe="indent")
    assert answer["dedupe"]["groups"]["on_page"] == 7
    assert answer["dedupe"]["documents"]["matched"] == answer["hits"]["total"]["value"] == 114
    assert all("_dedupe" in hit for hit in answer["hits"]["hits"])
    assert list(answer["aggregations"]) == ["sources"]


def test_a_client_that_is_waited_for_finds_the_same(kind: str, address: str, wrapped_client: Any) -> None:
    async def search() -> Any:
        async with CLIENTS[kind][1](address.partition("+")[2]) as client:
            waiting = ibidem.wrap(client)
            assert without_time(await waiting.search(index=INDEX, body=BODY, preference="one")) == without_time(
                await client.search(index=INDEX, body=BODY, preference="one")
            )
            return await waiting.search(index=INDEX, body=BODY, dedupe="collapse")

    response = asyncio.run(search())
    assert type(response) is type(wrapped_client.search(index=INDEX, body=BODY))
    assert response["hits"] == wrapped_client.search(index=INDEX, body=BODY, dedupe="collapse")["hits"]


def test_the_engines_errors_are_the_clients_own_and_may_be_passed_over_as_ever(
    kind: str, plain_client: Any, wrapped_client: Any
) -> None:
    arguments = {"index": "clients-nowhere", "body": BODY, "dedupe": "indent"}
    not_found = opensearchpy.NotFoundError if kind == "opensearch" else elasticsearch.NotFoundError
    with pytest.raises(not_found, match="no such index"):
        wrapped_client.search(**arguments)
    if kind == "elasticsearch":
        answer = wrapped_client.options(ignore_status=404).search(**arguments)
        assert (answer["status"], answer["error"]["type"]) == (404, "index_not_found_exception")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dedupe": "maybe"}, "dedupe='maybe' is not valid; allowed: off, collapse, indent"),
        ({"dedupe": "indent", "dedupe_window": 0}, "dedupe_window='0' is not valid"),
        ({"dedupe": "indent", "dedupe_lvl": "near"}, "did you mean dedupe_level"),
        ({"dedupe_level": "near"}, "dedupe_level is given without dedupe; add dedupe=indent"),
        ({"dedupe": "indent", "dedupe_cursor": "junk"}, "dedupe_cursor is not valid"),
        ({"dedupe": "indent", "body": "[1]"}, "the body of the search is not a JSON object"),
    ],
)
def test_mistakes_in_what_is_asked_of_dedupe_are_ours(
    wrapped_client: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ibidem.UsageError, match=message):
        wrapped_client.search(**{"index": INDEX, "body": BODY, **options})


def test_a_cursor_of_another_query_or_index_is_refused(wrapped_client: Any) -> None:
    cursor = wrapped_client.search(index=INDEX, body=BODY, dedupe="indent")["dedupe"]["cursor"]
    with pytest.raises(ibidem.UsageError, match="belongs to another query"):
        wrapped_client.search(index=INDEX, dedupe="indent", dedupe_cursor=cursor)
    with pytest.raises(ibidem.UsageError, match="belongs to another index"):
        wrapped_client.search(index=f"{INDEX}*", body=BODY, dedupe="indent", dedupe_cursor=cursor)


def test_a_window_that_the_index_does_not_allow_is_refused_with_its_limit(
    plain_client: Any, wrapped_client: Any
) -> None:
    settings = {"settings": {"max_result_window": 100}}
    plain_client.indices.create(index=f"{INDEX}-small", body=settings)
    try:
        with pytest.raises(ibidem.UsageError, match="dedupe_window=500 is more than the index allows; use 1 to 100"):
            wrapped_client.search(index=f"{INDEX}-small", dedupe="indent")
        assert wrapped_client.search(index=f"{INDEX}-small", dedupe="indent", dedupe_window=100)["hits"]["hits"] == []
    finally:
        plain_client.indices.delete(index=f"{INDEX}-small")


def test_an_alias_over_two_schemas_is_refused_by_name(plain_client: Any, wrapped_client: Any, library: Engine) -> None:
    mappings = {"_meta": {"ibidem": {"schema": "0", "layout": "full"}}}
    plain_client.indices.create(index=f"{INDEX}-old", body={"mappings": mappings, "aliases": {f"{INDEX}-two": {}}})
    plain_client.indices.put_alias(index=INDEX, name=f"{INDEX}-two")
    try:
        refused = f"index '{INDEX}-old' with 0; this version reads {SCHEMA}.*ibidem backfill --into"
        with pytest.raises(ibidem.UsageError, match=refused):
            wrapped_client.search(index=f"{INDEX}-two", body=BODY, dedupe="indent")
    finally:
        plain_client.indices.delete(index=f"{INDEX}-old")
        plain_client.indices.delete_alias(index=INDEX, name=f"{INDEX}-two")


def test_keyword_arguments_say_the_same_as_a_body(kind: str, wrapped_client: Any) -> None:
    page = wrapped_client.search(index=INDEX, body={**BODY, "from": 7, "_source": ["title"]}, dedupe="indent")
    if kind == "opensearch":
        parts = {"body": BODY, "from_": 7, "_source_includes": "title"}
    else:
        parts = {"query": BODY["query"], "aggs": BODY["aggs"], "size": 7, "from_": 7, "source_includes": "title"}
    by_name = wrapped_client.search(index=[INDEX], **parts, dedupe="indent")
    assert by_name["hits"] == page["hits"]


def test_type_checkers_know_every_parameter() -> None:
    tree = ast.parse(Path(search.__file__).read_text(encoding="utf-8"))
    found = [
        [each.arg for each in node.args.kwonlyargs] for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    assert [each for each in found if each] == [list(PARAMETERS)]


def test_a_default_pipeline_that_collapses_is_refused_by_name(
    address: str, kind: str, plain_client: Any, wrapped_client: Any
) -> None:
    if kind == "elasticsearch":
        return
    steps = {"response_processors": [{"collapse": {"field": "source"}}]}
    ask(address, "PUT", "/_search/pipeline/clients-once", json.dumps(steps))
    index = f"{INDEX}-piped"
    plain_client.indices.create(index=index, body={"settings": {"index.search.default_pipeline": "clients-once"}})
    try:
        with pytest.raises(ibidem.UsageError, match=r"pipeline 'clients-once' collapses: it discards hits"):
            wrapped_client.search(index=index, dedupe="indent")
    finally:
        plain_client.indices.delete(index=index)
        ask(address, "DELETE", "/_search/pipeline/clients-once")


def test_arguments_that_are_not_grouped_are_refused_by_name_and_pass_without_dedupe(
    plain_client: Any, wrapped_client: Any
) -> None:
    body = {"query": BODY["query"], "rescore": {"window_size": 5, "query": {"rescore_query": {"match_all": {}}}}}
    with pytest.raises(ibidem.UsageError, match=r"^rescore cannot be combined with dedupe; leave dedupe out, or let"):
        wrapped_client.search(index=INDEX, body=body, dedupe="indent")
    with pytest.raises(ibidem.UsageError, match=r"^filter_path cannot be combined with dedupe"):
        wrapped_client.search(index=INDEX, body=BODY, dedupe="indent", filter_path="hits.total")
    with pytest.raises(ibidem.UsageError, match=r"^max_concurrent_searches cannot be combined with dedupe"):
        wrapped_client.msearch(body=[{"index": INDEX}, BODY], dedupe="indent", max_concurrent_searches=2)
    assert ids(wrapped_client.search(index=INDEX, body=body)) == ids(plain_client.search(index=INDEX, body=body))
    assert dict(wrapped_client.search(index=INDEX, body=BODY, filter_path="hits.total.value")) == {
        "hits": {"total": {"value": 114}}
    }


def test_what_is_no_client_is_refused_with_those_that_are() -> None:
    with pytest.raises(ibidem.UsageError, match=r"a dict cannot be wrapped; give a client: elasticsearch\.Elastic"):
        ibidem.wrap({})  # type: ignore[call-overload]
    with pytest.raises(ibidem.UsageError, match=r"'wheat' has none; write search\(client, index="):
        ibidem.search({}, "wheat")  # type: ignore[call-overload]


def test_each_of_several_searches_says_itself_whether_it_is_grouped(kind: str, wrapped_client: Any) -> None:
    lines = [
        *({"index": INDEX}, BODY),
        *({"index": INDEX}, {**BODY, "dedupe": "collapse"}),
        *({"index": INDEX, "dedupe": "indent"}, BODY),
        *({"index": INDEX}, {**BODY, "dedupe": "perhaps"}),
        *({"index": "clients-nowhere"}, {**BODY, "dedupe": "indent"}),
        *({"index": INDEX}, {**BODY, "nosuch": {}, "dedupe": "indent"}),
    ]
    answer = wrapped_client.msearch(body=lines)
    assert [each["status"] for each in answer["responses"]] == [200, 200, 200, 400, 404, 400]
    assert ["dedupe" in each for each in answer["responses"]] == [False, True, True, False, False, False]
    grouped = wrapped_client.search(index=INDEX, body=BODY, dedupe="collapse")
    assert answer["responses"][1]["hits"] == grouped["hits"]
    assert "dedupe='perhaps' is not valid" in answer["responses"][3]["error"]["reason"]
    assert answer["responses"][4]["error"]["type"] == "index_not_found_exception"
    for_all = wrapped_client.msearch(body=iter([{}, BODY] * 2), index=INDEX, dedupe="collapse")
    assert [each["hits"] for each in for_all["responses"]] == [grouped["hits"]] * 2
    if kind == "opensearch":
        text = "".join(json.dumps(line) + "\n" for line in lines[:4])
        assert wrapped_client.msearch(body=text)["responses"][1]["hits"] == grouped["hits"]


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
