"""Each bucket of a terms aggregation shows its number of groups next to the server's number of documents."""

from collections import Counter
from typing import Any

import pytest

from ibidem_engines.engine import Record
from servers.indices import remove_indices
from support.wrapped_clients import INDEX, STORIES, fill_index

QUERY = {"match": {"text": "said"}}
BY_SOURCE = {"sources": {"terms": {"field": "source"}}}
SOURCES = {story.id: story.source for story in STORIES}


def buckets(response: Any, name: str = "sources") -> dict[str, dict[str, Any]]:
    return {each["key"]: each for each in response["aggregations"][name]["buckets"]}


def groups_by_source(response: Any) -> Counter[str]:
    """Count, in the list itself, the groups with a member of each source."""
    pairs = {(SOURCES[hit["_id"]], hit["_dedupe"]["group"]) for hit in response["hits"]["hits"]}
    return Counter(source for source, _ in pairs if source)


def without_groups(part: Any) -> Any:
    if isinstance(part, list):
        return [without_groups(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: without_groups(each) for name, each in part.items() if name != "_dedupe"}


@pytest.mark.parametrize("level", ["identical", "near"])
def test_where_the_window_holds_all_that_matches_the_groups_are_exact(wrapped_client: Any, level: str) -> None:
    response = wrapped_client.search(
        index=INDEX, body={"query": QUERY, "aggs": BY_SOURCE, "size": 200}, dedupe="indent", dedupe_level=level
    )
    marks = {key: each["_dedupe"] for key, each in buckets(response).items()}
    assert marks == {
        source: {"groups": count, "approximate": False} for source, count in groups_by_source(response).items()
    }
    if level == "near":
        assert any(each["_dedupe"]["groups"] < each["doc_count"] for each in buckets(response).values())


def test_all_else_is_what_the_server_answers(plain_client: Any, wrapped_client: Any) -> None:
    aggs = {
        "months": {
            "date_histogram": {"field": "ibidem.date", "calendar_interval": "quarter"},
            "aggs": {**BY_SOURCE, "long": {"max": {"field": "ibidem.length"}}},
        },
        "long ones": {"filter": {"range": {"ibidem.length": {"gte": 100}}}, "aggs": BY_SOURCE},
        "everything": {"global": {}, "aggs": BY_SOURCE},
    }
    body = {"query": QUERY, "aggs": aggs, "size": 3}
    native = plain_client.search(index=INDEX, body=body)
    response = wrapped_client.search(index=INDEX, body=body, dedupe="indent")
    assert without_groups(response["aggregations"]) == native["aggregations"]
    for month in response["aggregations"]["months"]["buckets"]:
        assert all(0 < each["_dedupe"]["groups"] <= each["doc_count"] for each in month["sources"]["buckets"])


@pytest.mark.parametrize("level", ["identical", "near"])
def test_beyond_the_window_the_groups_are_estimated_by_equal_texts(wrapped_client: Any, level: str) -> None:
    body = {"query": QUERY, "aggs": BY_SOURCE, "size": 3}
    full_buckets = buckets(wrapped_client.search(index=INDEX, body=body, dedupe="indent", dedupe_level=level))
    texts = buckets(wrapped_client.search(index=INDEX, body=body, dedupe="indent", dedupe_level="identical"))
    part = buckets(wrapped_client.search(index=INDEX, body=body, dedupe="indent", dedupe_level=level, dedupe_window=40))
    for key, each in part.items():
        assert each["_dedupe"]["approximate"]
        assert full_buckets[key]["_dedupe"]["groups"] <= each["_dedupe"]["groups"] <= texts[key]["_dedupe"]["groups"]
    if level == "near":
        assert sum(each["_dedupe"]["groups"] for each in part.values()) < sum(
            each["_dedupe"]["groups"] for each in texts.values()
        )


def test_the_same_id_in_two_indexes_is_two_documents_of_a_group(
    address: str, wrapped_client: Any, signed_records: list[Record]
) -> None:
    engines = [fill_index(address, name, signed_records[:30]) for name in ("twice-a", "twice-b")]
    try:
        body = {"query": QUERY, "aggs": BY_SOURCE, "size": 200}
        response = wrapped_client.search(index="twice-*", body=body, dedupe="indent")
        assert {key: each["_dedupe"]["groups"] for key, each in buckets(response).items()} == groups_by_source(response)
        buckets_of_one = buckets(wrapped_client.search(index="twice-a", body=body, dedupe="indent"))
        for key, each in buckets(response).items():
            assert each["doc_count"] == 2 * buckets_of_one[key]["doc_count"]
            assert each["_dedupe"]["groups"] == buckets_of_one[key]["_dedupe"]["groups"]
    finally:
        for engine in engines:
            engine.close()
            remove_indices(address, engine.index)
