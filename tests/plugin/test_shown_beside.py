"""What a search shows besides its hits is as the server shows it: inner hits, documents in buckets, completions."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from plugin.answers import Json, differences, run_search, through_layer, through_plugin
from servers.indices import ask

pytestmark = pytest.mark.server
INDENT: Json = {"dedupe": "indent"}
CHAPTERS: Json = {"match": {"chapters.text": "said"}}
NESTED: Json = {
    "nested": {"path": "chapters", "query": CHAPTERS, "inner_hits": {"size": 2, "_source": ["chapters.at"]}}
}
TOP: Json = {"by": {"terms": {"field": "kind"}, "aggs": {"best": {"top_hits": {"size": 2, "_source": ["text"]}}}}}
PREFIX: Json = {"titles": {"prefix": "sto", "completion": {"field": "title", "size": 3}}}
TALES: Json = {"match": {"text": "tale"}}

BODIES: dict[str, Json] = {
    "inner hits": {"query": NESTED},
    "inner hits in a bool": {"query": {"bool": {"must": [TALES], "should": [NESTED]}}},
    "inner hits of a post_filter": {"query": TALES, "post_filter": NESTED},
    "a field named inner_hits": {
        "query": {"bool": {"must": [TALES], "should": [NESTED], "must_not": [{"term": {"inner_hits": "x"}}]}}
    },
    "top hits": {"query": TALES, "aggs": {"best": {"top_hits": {"size": 3}}}},
    "top hits in buckets": {"query": TALES, "aggs": TOP},
    "a completion": {"query": TALES, "suggest": PREFIX},
    "a completion alone": {"suggest": PREFIX},
    "all of them": {"query": NESTED, "aggs": TOP, "suggest": PREFIX, "_source": ["text"]},
}


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def tales(request: pytest.FixtureRequest, cluster: str) -> Iterator[str]:
    """An index of stories with chapters."""
    index = f"tales-{request.param}"
    ask(cluster, "DELETE", f"/{index}?ignore_unavailable=true")
    properties: Json = {
        "text": {"type": "text"},
        "kind": {"type": "keyword"},
        "inner_hits": {"type": "keyword"},
        "title": {"type": "completion"},
        "chapters": {"type": "nested", "properties": {"text": {"type": "text"}, "at": {"type": "integer"}}},
    }
    settings = {"number_of_shards": request.param, "number_of_replicas": 0}
    ask(cluster, "PUT", f"/{index}", json.dumps({"settings": settings, "mappings": {"properties": properties}}))
    lines: list[Json] = []
    for at in range(20):
        chapters = [{"text": "said" if number % 2 else "heard", "at": number} for number in range(at % 5)]
        tale = {"text": "tale " * (at + 1), "kind": "odd" if at % 2 else "even", "title": f"story {at}"}
        lines += [{"index": {"_id": f"t{at}"}}, tale | {"chapters": chapters}]
    ask(cluster, "POST", f"/{index}/_bulk?refresh=true", "\n".join(map(json.dumps, lines)) + "\n")
    yield index
    ask(cluster, "DELETE", f"/{index}")


@pytest.mark.parametrize("name", BODIES)
def test_it_is_as_the_server_shows_it(plain_client: Any, wrapped_client: Any, tales: str, name: str) -> None:
    body = BODIES[name] | {"size": 15}
    native = run_search(plain_client, tales, dict(body), {})
    answer = through_plugin(plain_client, tales, body, INDENT)
    assert answer.get("aggregations") == native.get("aggregations")
    assert answer.get("suggest") == native.get("suggest")
    assert "ibidem." not in json.dumps({part: answer.get(part) for part in ("hits", "aggregations", "suggest")})
    hits = [{name: part for name, part in hit.items() if name != "_dedupe"} for hit in answer["hits"]["hits"]]
    assert sorted(hits, key=lambda hit: hit["_id"]) == sorted(native["hits"]["hits"], key=lambda hit: hit["_id"])
    assert answer["hits"]["total"] == native["hits"]["total"]
    if "suggest" not in body:
        expected = through_layer(wrapped_client, tales, body, INDENT)
        assert list(differences(expected["hits"], answer["hits"])) == []


def test_a_wildcard_that_matches_no_index_finds_nothing(plain_client: Any) -> None:
    body = {"query": TALES, "aggs": TOP, "suggest": PREFIX}
    answer = through_plugin(plain_client, "nothing-at-all-*", body, INDENT)
    assert (answer["hits"]["hits"], answer["account"]["documents"]["matched"]) == ([], 0)
