"""Failures that a server reports count: a failed shard is an error."""

from typing import Any

import pytest

from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.search import dsl_search
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import ApiRequest, run_sync
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import SCHEMA

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
    hit = {"_index": "news", "_id": "a", "_score": 1.0, "_seq_no": 6}
    total = {"value": 1, "relation": "eq"}
    assert request.body is not None
    source = {} if "stored_fields" in request.body else {"_source": {"title": "A"}}
    return {"timed_out": False, "hits": {"total": total, "max_score": 1.0, "hits": [hit | source]}, **window}


def make_response(**window: Any) -> Any:
    flow = read_search("news", {}, {}, DedupeRequest("indent"))
    return run_sync(dsl_search(flow, IndexMetadataCache()), lambda ask: answers(ask, **window))


def test_a_whole_answer_is_exact() -> None:
    assert make_response()["dedupe"]["groups"]["exact"]
    assert make_response()["hits"]["hits"][0]["_source"] == {"title": "A"}


def test_a_part_of_the_index_that_failed_is_an_error_with_the_servers_reason() -> None:
    failure = {"status": 500, "reason": {"type": "io", "reason": "the disk is gone"}}
    with pytest.raises(Failure, match="the disk is gone") as raised:
        make_response(_shards={"failed": 1, "failures": [failure]})
    assert raised.value.status == 500


def test_a_part_of_the_index_that_no_node_holds_is_an_error_though_the_server_calls_it_no_failure() -> None:
    with pytest.raises(Failure, match="2 of 3 shards") as raised:
        make_response(_shards={"total": 3, "successful": 2, "skipped": 0, "failed": 0})
    assert raised.value.status == 503


def test_hits_from_which_a_pipeline_took_the_id_are_named_with_the_remedy() -> None:
    hits = {"total": {"value": 1, "relation": "eq"}, "max_score": 1.0, "hits": [{"_index": "news", "_score": 1.0}]}
    with pytest.raises(UsageError, match="a hit of the index 'news' has no _id; do not let a search pipeline"):
        make_response(hits=hits)


def test_over_several_shards_no_cursor_is_promised() -> None:
    assert make_response()["dedupe"]["cursor"] == ""


def test_what_was_read_of_indexes_is_remembered() -> None:
    flow = read_search("news", {}, {}, DedupeRequest("indent"))
    cache, bodies = IndexMetadataCache(), list[str]()

    def send(request: ApiRequest) -> Any:
        bodies.append(request.path)
        return answers(request)

    for _ in range(2):
        run_sync(dsl_search(flow, cache), send)
    assert bodies == ["/news", "/_msearch", "/_nodes/plugins", *["/news/_search"] * 4]
