"""A retriever is grouped by the plugin: the engine's hits, scores and order, deep enough."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import elasticsearch
import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from plugin.answers import Json, differences, through_layer, through_plugin
from servers.indices import ask

pytestmark = pytest.mark.server

SHARDS = {"placed": 1, "spaced": 3}
ALL = 500
SAID: Json = {"match": {"text": "said"}}
WHEAT: Json = {"match": {"text": {"query": "wheat trade", "_name": "grain"}}}
PLACE: Json = {"field": "place", "query_vector": [1.0, 1.0]}
NEAREST: Json = {"knn": PLACE | {"k": 10, "num_candidates": 20}}
FILTERED: Json = {"standard": {"query": SAID, "filter": {"range": {"ibidem.length": {"gte": 20}}}}}
AGAIN: Json = {"window_size": 20, "query": {"rescore_query": WHEAT, "query_weight": 0.3}}
RRF: Json = {"rrf": {"retrievers": [{"standard": {"query": SAID}}, NEAREST], "rank_window_size": 40}}
LINEAR: Json = {
    "linear": {
        "retrievers": [
            {"retriever": {"standard": {"query": SAID}}, "weight": 2, "normalizer": "minmax"},
            {"retriever": NEAREST, "weight": 0.5, "normalizer": "minmax"},
        ],
        "filter": {"match": {"text": "said"}},
        "rank_window_size": 40,
    }
}
AGAIN_OVER_RRF: Json = {"rescorer": {"rescore": AGAIN, "retriever": RRF}}
# `rrf` and `linear` are those of `tests/servers/ElasticsearchFusion.java`.
RETRIEVERS: dict[str, Json] = {
    "standard": FILTERED,
    "standard that sorts": {"standard": {"query": SAID, "sort": [{"ibidem.length": "desc"}, {"ibidem.id": "asc"}]}},
    "standard with neighbours": {"standard": {"query": {"bool": {"should": [SAID, NEAREST]}}, "min_score": 0.1}},
    "knn": {"knn": NEAREST["knn"] | {"filter": {"exists": {"field": "ibidem.date"}}}},
    "rescorer": {"rescorer": {"rescore": AGAIN, "retriever": FILTERED}},
    "rrf": RRF,
    "linear": LINEAR,
    "nested": {"rrf": {"retrievers": [LINEAR, AGAIN_OVER_RRF, NEAREST], "rank_window_size": 20}},
}


@pytest.fixture(scope="module", autouse=True)
def vectors(kind: str, cluster: str, signed_records: list[Record]) -> Iterator[None]:
    """Indexes of one shard and of several whose documents have vectors."""
    if kind != "elasticsearch":
        pytest.skip("retrievers are Elasticsearch's")
    place = {"type": "dense_vector", "dims": 2, "index": True, "similarity": "l2_norm"}
    for name, shards in SHARDS.items():
        ask(cluster, "DELETE", f"/{name}?ignore_unavailable=true")
        settings = {"number_of_shards": shards, "number_of_replicas": 0}
        fields = {"place": place, "bare": place, "text": {"type": "text"}}
        ask(cluster, "PUT", f"/{name}", json.dumps({"settings": settings, "mappings": {"properties": fields}}))
        with closing(open_engine(cluster, name)) as engine:
            engine.create()
            engine.write(signed_records)
        lines: list[Json] = []
        for at, each in enumerate(signed_records):
            lines += [{"update": {"_id": each.document.id}}, {"doc": {"place": [at / 7.0, float(at % 11)]}}]
        ask(cluster, "POST", f"/{name}/_bulk?refresh=true", "\n".join(map(json.dumps, lines)) + "\n")
    yield
    ask(cluster, "DELETE", f"/{','.join(SHARDS)}")


@pytest.mark.parametrize(
    "body",
    [
        {"knn": NEAREST["knn"]},
        {"knn": [NEAREST["knn"], PLACE | {"k": 5}], "query": SAID},
        {"query": {"bool": {"must": [SAID], "should": [NEAREST], "filter": [NEAREST]}}},
    ],
)
def test_neighbours_are_looked_for_as_deep_as_the_wrapped_client_does(
    plain_client: Any, wrapped_client: Any, body: Json
) -> None:
    shown, options = body | {"_source": False}, {"dedupe": "indent"}
    expected = through_layer(wrapped_client, "spaced", shown, options)
    assert list(differences(expected, through_plugin(plain_client, "spaced", shown, options))) == []
    assert {each["used"] for each in expected["account"]["adjusted"]} == {ALL}


@pytest.mark.parametrize("index", SHARDS)
@pytest.mark.parametrize("name", RETRIEVERS)
def test_the_hits_of_a_retriever_are_those_of_the_engine(plain_client: Any, index: str, name: str) -> None:
    aggs = {"best": {"top_hits": {"size": 3, "_source": False}}, "longest": {"max": {"field": "ibidem.length"}}}
    body = {"retriever": deep(RETRIEVERS[name]), "_source": False, "aggs": aggs}
    answer = plain_client.search(index=index, size=ALL, **body)
    native = answer["hits"]["hits"]
    grouped = through_plugin(plain_client, index, body | {"size": ALL}, {"dedupe": "indent"})
    assert grouped["aggregations"] == answer["aggregations"]
    scores = {hit["_id"]: (hit["_score"], hit.get("matched_queries")) for hit in native}
    assert {hit["_id"]: (hit["_score"], hit.get("matched_queries")) for hit in grouped["hits"]["hits"]} == scores
    leads = [hit["_id"] for hit in grouped["hits"]["hits"] if not hit["_dedupe"]["indent"]]
    assert [scores[lead] for lead in leads] == [scores[hit["_id"]] for hit in native if hit["_id"] in leads]
    assert 10 < len(leads) < len(native)
    shallow = {"retriever": RETRIEVERS[name], "_source": False, "size": 5, "from": 5}
    page = through_plugin(plain_client, index, shallow, {"dedupe": "collapse"})
    assert [hit["_id"] for hit in page["hits"]["hits"]] == leads[5:10]


def deep(part: Any) -> Any:
    """Return a retriever that ranks the whole window itself."""
    if isinstance(part, list):
        return [deep(each) for each in part]
    if not isinstance(part, dict):
        return part
    sizes = {"k", "num_candidates", "rank_window_size", "window_size"}
    return {name: ALL if name in sizes else deep(each) for name, each in part.items()}


def nest(levels: int) -> Json:
    """Return a retriever inside so many others."""
    retriever: Json = {"standard": {"query": SAID}}
    for _ in range(levels):
        retriever = {
            "rescorer": {"retriever": retriever, "rescore": {"window_size": 10, "query": {"rescore_query": SAID}}}
        }
    return retriever


MILLION = PLACE | {"k": 1_000_000}
CUT: Json = {"standard": {"query": SAID, "terminate_after": 5}}
REFUSED: list[tuple[Json, str]] = [
    ({"knn": MILLION}, "cannot be less than"),
    ({"retriever": nest(100)}, "exceeds the maximum nested depth"),
    (
        {"retriever": {"standard": {"query": SAID, "collapse": {"field": "ibidem.content"}}}},
        "collapse cannot be combined with dedupe",
    ),
    (
        {"retriever": {"rrf": {"retrievers": [CUT, NEAREST]}}},
        "terminate_after cannot be combined with dedupe: hits that it leaves out",
    ),
]


@pytest.mark.parametrize(("body", "message"), REFUSED)
def test_what_cannot_be_grouped_is_named_with_what_would_be_right(plain_client: Any, body: Json, message: str) -> None:
    with pytest.raises(elasticsearch.BadRequestError, match=re.escape(message)):
        through_plugin(plain_client, "placed", body, {"dedupe": "indent"})


@pytest.mark.parametrize("field", ["bare", "nowhere"])
def test_a_field_without_vectors_has_no_neighbours_and_the_answer_says_where_to_look(
    plain_client: Any, wrapped_client: Any, field: str
) -> None:
    body = {"knn": NEAREST["knn"] | {"field": field}}
    expected = through_layer(wrapped_client, "spaced", body, {"dedupe": "indent"})
    assert list(differences(expected, through_plugin(plain_client, "spaced", body, {"dedupe": "indent"}))) == []
    assert (
        expected["account"]["remedy"] == f"check whether documents have vectors in {field}, and pass the filters of knn"
    )
