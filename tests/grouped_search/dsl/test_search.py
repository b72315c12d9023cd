"""A search in the engine's own language keeps what it asks for, and its hits and buckets are grouped."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import elasticsearch
import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from servers.indices import ask, remove_indices
from support.wrapped_clients import ELASTICSEARCH_ALONE, INDEX, STORIES, fill_index, open_point

QUERY = {"match": {"text": "said"}}
ALL = 200
SAYING = sum("said" in story.text.split() for story in STORIES)


def by_id(response: Any) -> dict[str, dict[str, Any]]:
    """The hits without what the layer says of them."""
    return {
        hit["_id"]: {name: part for name, part in hit.items() if name != "_dedupe"} for hit in response["hits"]["hits"]
    }


def ids(response: Any) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def says(record: Record) -> bool:
    return "said" in record.document.text.split()


def leads(response: Any) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"] if not hit["_dedupe"]["indent"]]


PARTS: dict[str, dict[str, Any]] = {
    "nothing more": {},
    "highlight": {"highlight": {"fields": {"text": {"fragment_size": 40}}}},
    "highlight of all fields": {"highlight": {"fields": {"*": {}}, "require_field_match": False}},
    "some of the source": {"_source": ["title", "date"]},
    "includes and excludes": {"_source": {"includes": ["t*"], "excludes": ["text"]}},
    "no source": {"_source": False},
    "fields": {"fields": ["source", "ibidem.date"], "_source": False},
    "docvalue_fields": {"docvalue_fields": ["source", "ibidem.length"]},
    "stored_fields": {"stored_fields": ["_source", "title"]},
    "explain": {"explain": True},
    "version": {"version": True},
    "post_filter": {"post_filter": {"term": {"source": "AP"}}},
    "sort": {"sort": [{"source": {"order": "asc", "missing": "_last"}}, {"ibidem.id": "desc"}]},
    "sort with scores": {"sort": [{"ibidem.id": "desc"}], "track_scores": True},
    "sort by score": {"sort": ["_score", {"ibidem.id": "asc"}]},
    "min_score": {"min_score": 0.05},
    "named queries": {
        "query": {"bool": {"should": [{"match": {"text": {"query": "said", "_name": "by text"}}}]}},
        "post_filter": {"terms": {"source": ["AP", "Reuters"], "_name": "by source"}},
    },
    "no query": {"query": None},
    "indices_boost": {"indices_boost": [{INDEX: 2.0}]},
}


@pytest.mark.parametrize("part", PARTS)
def test_each_hit_is_the_servers_own_whatever_is_asked_of_it(plain_client: Any, wrapped_client: Any, part: str) -> None:
    body = {name: each for name, each in {"query": QUERY, "size": ALL, **PARTS[part]}.items() if each is not None}
    native = plain_client.search(index=INDEX, body=body)
    grouped = wrapped_client.search(index=INDEX, body=body, dedupe="indent")
    assert by_id(grouped) == by_id(native)
    assert grouped["hits"]["total"] == native["hits"]["total"]
    assert grouped["hits"]["max_score"] == native["hits"]["max_score"]
    assert 0 < len(leads(grouped)) < len(ids(grouped))


SCRIPTED: dict[str, dict[str, Any]] = {
    "script_fields": {"script_fields": {"n": {"script": {"source": "doc['ibidem.length'].value * 2"}}}},
    "script_score": {
        "query": {"script_score": {"query": QUERY, "script": {"source": "doc['ibidem.length'].value / 100.0"}}}
    },
}


@pytest.mark.parametrize("part", SCRIPTED)
def test_scripts_run_where_the_server_has_their_language_and_else_the_clients_own_error_is_raised(
    kind: str, plain_client: Any, wrapped_client: Any, part: str
) -> None:
    body = {"query": QUERY, "size": ALL, **SCRIPTED[part]}
    if kind == "elasticsearch":
        with pytest.raises(elasticsearch.BadRequestError, match="painless"):
            wrapped_client.search(index=INDEX, body=body, dedupe="indent")
    else:
        native = plain_client.search(index=INDEX, body=body)
        grouped = wrapped_client.search(index=INDEX, body=body, dedupe="indent")
        assert by_id(grouped) == by_id(native)


def test_pages_hold_each_document_once_in_the_order_of_one_long_page(wrapped_client: Any) -> None:
    full_page = ids(wrapped_client.search(index=INDEX, body={"query": QUERY, "size": ALL}, dedupe="indent"))
    paged, cursor = [], None
    for start in range(0, ALL, 10):
        body = {"query": QUERY, "from": start, "size": 10}
        page = wrapped_client.search(index=INDEX, body=body, dedupe="indent", dedupe_cursor=cursor)
        paged, cursor = paged + ids(page), page["dedupe"]["cursor"]
    assert paged == full_page
    assert len(set(full_page)) == len(full_page) == SAYING


def test_a_point_in_time_is_ranked_without_naming_its_index(kind: str, plain_client: Any, wrapped_client: Any) -> None:
    point = {"id": open_point(kind, plain_client, INDEX), "keep_alive": "1m"}
    body = {"query": QUERY, "size": 9, "pit": point, "sort": [{"ibidem.id": "asc"}]}
    body_without = {name: part for name, part in body.items() if name != "pit"}
    for scope in ("window", "matches"):
        options = {"dedupe": "indent", "dedupe_scope": scope, "dedupe_window": 20}
        found, named = (
            [(hit["_id"], hit["_dedupe"]) for hit in wrapped_client.search(**asked, **options)["hits"]["hits"]]
            for asked in ({"body": body}, {"index": INDEX, "body": body_without})
        )
        assert found == named


@pytest.fixture(scope="module")
def mixed(address: str, signed_records: list[Record]) -> Iterator[str]:
    """Three indexes behind an alias: signed over three shards, the same ids signed once more, and never signed."""
    names = ("mixed-many", "mixed-again", "mixed-bare")
    for name in names:
        remove_indices(address, name)
    body = {"settings": {"number_of_shards": 3}, "mappings": {"properties": {"source": {"type": "keyword"}}}}
    ask(address, "PUT", "/mixed-many", json.dumps(body))
    ask(address, "PUT", "/mixed-bare", json.dumps(body | {"settings": {"number_of_shards": 1}}))
    engines = [open_engine(address, "mixed-many"), fill_index(address, "mixed-again", signed_records[:20])]
    engines[0].create()
    engines[0].write(signed_records[:40])
    lines = []
    for each in signed_records[30:45]:
        document = {"title": each.document.title, "text": each.document.text, "source": each.document.source}
        lines += [json.dumps({"index": {"_id": each.document.id}}), json.dumps(document)]
    ask(address, "POST", "/mixed-bare/_bulk", "\n".join(lines) + "\n")
    actions = [{"add": {"index": name, "alias": "mixed"}} for name in names]
    ask(address, "POST", "/_aliases", json.dumps({"actions": actions}))
    ask(address, "POST", "/mixed/_refresh")
    yield "mixed"
    for each in engines:
        each.close()
    for name in names:
        remove_indices(address, name)


@pytest.mark.parametrize(
    "target", ["mixed", "mixed-*", "mixed-many,mixed-again,mixed-bare", ["mixed-many", "mixed-again", "mixed-b*"]]
)
def test_over_several_indexes_each_document_is_index_and_id(
    wrapped_client: Any, mixed: str, signed_records: list[Record], target: Any
) -> None:
    response = wrapped_client.search(index=target, body={"query": QUERY, "size": ALL}, dedupe="indent")
    names = {(hit["_index"], hit["_id"]) for hit in response["hits"]["hits"]}
    matching = sum(map(says, [*signed_records[:40], *signed_records[:20], *signed_records[30:45]]))
    assert len(names) == len(response["hits"]["hits"]) == matching
    assert all("text" in hit["_source"] for hit in response["hits"]["hits"])
    groups: dict[str, set[tuple[str, str]]] = {}
    for hit in response["hits"]["hits"]:
        groups.setdefault(hit["_dedupe"]["group"], set()).add((hit["_index"], hit["_id"]))
    names_again = {name for index, name in names if index == "mixed-again"}
    assert all(
        any({("mixed-many", name), ("mixed-again", name)} <= members for members in groups.values())
        for name in names_again
    )


@pytest.mark.parametrize("options", [{}, {"dedupe_scope": "matches"}, {"dedupe_by": "stored"}], ids=str)
@pytest.mark.parametrize("aggs", [None, {"by": {"terms": {"field": "source"}}}, {"top": {"top_hits": {}}}], ids=str)
def test_a_wildcard_that_matches_no_index_finds_nothing(
    plain_client: Any, wrapped_client: Any, options: dict[str, Any], aggs: Any
) -> None:
    body = {"query": QUERY} | ({"aggs": aggs} if aggs else {})
    native = plain_client.search(index="nothing-at-all-*", body=body)
    for _ in range(2):  # the second search may be answered from what was counted by the first
        answer = wrapped_client.search(index="nothing-at-all-*", body=body, dedupe="indent", **options)
        assert (answer["hits"]["hits"], answer["hits"]["total"]["value"]) == ([], 0)
        assert ("aggregations" in answer) == ("aggregations" in native)
        assert answer["dedupe"]["documents"]["matched"] == 0


@pytest.fixture(scope="module")
def parted(kind: str, address: str, signed_records: list[Record]) -> Iterator[str]:
    """An index of others, with nested objects and, where the server has them, vectors; signed by us."""
    remove_indices(address, "parted")
    fields = {"body": {"type": "text"}, "parts": {"type": "nested", "properties": {"of": {"type": "keyword"}}}}
    if kind == "elasticsearch":
        fields["place"] = {"type": "dense_vector", "dims": 2, "index": True, "similarity": "l2_norm"}
    ask(address, "PUT", "/parted", json.dumps({"mappings": {"properties": fields}}))
    with closing(open_engine(f"{address}/?fields=text=body,meta=", "parted")) as engine:
        engine.create()
        engine.write(signed_records)
    lines = []
    for at, each in enumerate(signed_records):
        part = {"parts": [{"of": "trade"}, {"of": "grain"}], "place": [float(at % 7), 1.0]}
        lines += [{"update": {"_id": each.document.id}}, {"doc": part}]
    ask(address, "POST", "/parted/_bulk?refresh=true", "\n".join(map(json.dumps, lines)) + "\n")
    yield "parted"
    remove_indices(address, "parted")


@ELASTICSEARCH_ALONE
def test_a_search_for_neighbours_finds_so_many_that_the_page_is_full(
    plain_client: Any, wrapped_client: Any, parted: str
) -> None:
    knn = {"field": "place", "query_vector": [1.0, 1.0], "k": 10, "num_candidates": 20}
    aggs = {"all": {"value_count": {"field": "ibidem.id"}}}
    deep, steps = (
        wrapped_client.search(index=parted, knn=knn, size=60, aggs=aggs, dedupe="collapse", dedupe_window=window)
        for window in (ALL, 10)
    )
    assert len(leads(steps)) == 60
    assert leads(steps) == leads(deep)
    used = steps["dedupe"]["adjusted"][0]["used"]
    assert steps["dedupe"]["adjusted"][0]["asked"] == 10 < used
    native = plain_client.search(index=parted, knn=knn | {"k": used, "num_candidates": used}, size=ALL, aggs=aggs)
    assert steps["hits"]["total"] == native["hits"]["total"]
    assert steps["aggregations"] == native["aggregations"]


@ELASTICSEARCH_ALONE
def test_a_field_without_vectors_has_no_neighbours_and_the_answer_says_where_to_look(
    address: str, plain_client: Any, wrapped_client: Any, parted: str
) -> None:
    vector = {"type": "dense_vector", "dims": 2, "index": True, "similarity": "l2_norm"}
    ask(address, "PUT", f"/{parted}/_mapping", json.dumps({"properties": {"empty": vector}}))
    knn = {"field": "empty", "query_vector": [1.0, 1.0], "k": 10, "num_candidates": 20}
    for field in ("empty", "nowhere"):
        response = wrapped_client.search(index=parted, knn=knn | {"field": field}, dedupe="collapse")
        assert ids(response) == ids(plain_client.search(index=parted, knn=knn | {"field": field})) == []
        assert response["dedupe"]["remedy"] == (
            f"check whether documents have vectors in {field}, and pass the filters of knn"
        )


UNGROUPED = [
    ({"size": 0, "aggs": {"by": {"terms": {"field": "source"}}}}, "size is 0"),
    ({"timeout": "10s"}, "timeout"),
]


@pytest.mark.parametrize(("part", "note"), UNGROUPED)
def test_a_search_without_hits_or_with_a_timeout_is_the_engines_own_with_a_note(
    plain_client: Any, wrapped_client: Any, part: dict[str, Any], note: str
) -> None:
    body = {"query": QUERY, **part}
    native = dict(plain_client.search(index=INDEX, body=body))
    answer = dict(wrapped_client.search(index=INDEX, body=body, dedupe="indent"))
    account = answer.pop("dedupe")
    assert account["mode"] == "off"
    assert note in account["note"]
    assert answer | {"took": 0} == native | {"took": 0}


BY_SOURCE = {"sources": {"terms": {"field": "source"}}}
SOURCES = {story.id: story.source for story in STORIES}


def buckets(response: Any, name: str = "sources") -> dict[str, dict[str, Any]]:
    return {each["key"]: each for each in response["aggregations"][name]["buckets"]}


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
    pairs = {(SOURCES[hit["_id"]], hit["_dedupe"]["group"]) for hit in response["hits"]["hits"]}
    counts = Counter(source for source, _ in pairs if source)  # groups in the list itself
    assert marks == {source: {"groups": count, "approximate": False} for source, count in counts.items()}
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
