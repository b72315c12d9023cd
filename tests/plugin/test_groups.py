"""Groups that are stored are found in one pass over the matches, and are those of the engine's own ranking."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from ibidem_engines.connect import open_engine
from plugin.conftest import STORIES
from servers.indices import ask
from servers.nodes import EngineName

pytestmark = pytest.mark.server
Json = dict[str, Any]
QUERIES = 40
DOCUMENTS = 400
WORDS = sorted({word for story in STORIES for word in story.text.split() if word.isalpha()})
SORTS: tuple[list[Any], ...] = (
    [{"ibidem.date": {"order": "desc"}}, {"ibidem.id": "asc"}],
    [{"ibidem.date": {"order": "asc", "missing": "_first"}}, "_score"],
    ["_score", {"ibidem.id": "desc"}],
    [{"ibidem.id": "asc"}],
)


@pytest.fixture(scope="module", params=[1, 3], ids=["one shard", "three shards"])
def index(request: pytest.FixtureRequest, kind: EngineName, cluster: str) -> Iterator[str]:
    """An index of documents in small and large groups, and of some without a group, in segments with deletions."""
    if kind == "opensearch":
        pytest.skip("the plugin for OpenSearch refuses by=stored")
    name, rng = f"groups{request.param}", random.Random(request.param)  # noqa: S311 - made-up data keeps no secret
    settings = {"number_of_shards": request.param, "number_of_replicas": 0}
    template = {"index_patterns": [name], "template": {"settings": settings}}
    ask(cluster, "PUT", f"/_index_template/{name}", json.dumps(template))
    engine = open_engine(cluster, name)
    engine.create()
    engine.close()
    for at in range(DOCUMENTS + 100):
        group = rng.choice([None, f"g{rng.randrange(30)}", f"h{rng.randrange(DOCUMENTS)}", "large"])
        ibidem: Json = {"id": f"d{at:03}", "date": f"19{rng.randrange(70, 99)}-01-01"}
        ibidem |= {"group": group} if group else {}
        source = {"title": rng.choice(WORDS), "text": " ".join(rng.choices(WORDS[:60], k=30)), "ibidem": ibidem}
        refresh = "?refresh=true" if at % 90 == 0 else ""
        ask(cluster, "PUT", f"/{name}/_doc/d{at:03}{refresh}", json.dumps(source))
    for at in rng.sample(range(DOCUMENTS + 100), 100):
        ask(cluster, "DELETE", f"/{name}/_doc/d{at:03}")
    ask(cluster, "POST", f"/{name}/_refresh")
    yield name
    ask(cluster, "DELETE", f"/{name}")
    ask(cluster, "DELETE", f"/_index_template/{name}")


def body(rng: random.Random) -> Json:
    """Make up a search."""
    match: Json = {"match": {"text": {"query": " ".join(rng.choices(WORDS[:60], k=rng.randrange(1, 4))), "_name": "w"}}}
    query = rng.choice([match, match, {"match_all": {}}, {"constant_score": {"filter": match}}])
    random_score = {"seed": rng.randrange(1_000), "field": "_seq_no"}  # no two are equal
    made: Json = {"query": {"function_score": {"query": query, "random_score": random_score, "boost_mode": "sum"}}}
    extras: tuple[Json, ...] = (
        {},
        {"sort": rng.choice(SORTS)},
        {"sort": rng.choice(SORTS), "track_scores": True},
        {"highlight": {"fields": {"text": {}}}, "_source": ["title"]},
        {"post_filter": {"match": {"text": rng.choice(WORDS[:60])}}, "_source": False},
        {"min_score": 0.3, "explain": True},
        {"version": True, "seq_no_primary_term": True, "docvalue_fields": ["ibidem.date"], "fields": ["title"]},
        {"aggs": {"groups": {"cardinality": {"field": "ibidem.group"}}}},
    )
    for each in rng.sample(extras, 2):
        made |= each
    return made


def plain_hits(hit: Json) -> Json:
    """Return what a hit shows beside its mark and its shard; scores may differ in their last digit."""
    shown = {name: value for name, value in hit.items() if name not in ("_dedupe", "_shard", "_node")}
    if shown["_score"] is not None:
        shown["_score"] = pytest.approx(shown["_score"], rel=1e-5)
    if explanation := shown.get("_explanation"):
        shown["_explanation"] = pytest.approx(explanation["value"], rel=1e-5)
    return shown


@pytest.mark.parametrize("seed", range(QUERIES))
def test_a_page_is_cut_from_the_groups_of_the_whole_ranking(plain_client: Any, index: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    search, size, start = body(rng), rng.choice([1, 4, 10]), rng.choice([0, 0, 3, 20])
    ranking = plain_client.search(index=index, body=search | {"size": 1_000, "track_total_hits": True})
    names = plain_client.search(index=index, body={"size": 1_000, "_source": ["ibidem.group"]})["hits"]["hits"]
    group_of = {hit["_id"]: hit["_source"].get("ibidem", {}).get("group", hit["_id"]) for hit in names}
    groups: dict[str, list[Json]] = {}
    for hit in ranking["hits"]["hits"]:
        groups.setdefault(group_of[hit["_id"]], []).append(hit)
    options: Json = {"dedupe": "indent", "by": "stored"} | rng.choice([{}, {"max_per_group": 2}])
    answer = plain_client.search(index=index, body=search | {"from": start, "size": size, "ext": {"ibidem": options}})
    most = 1 + int(options.get("max_per_group", 1_000))
    page = list(groups.values())[start : start + size]
    expected = [plain_hits(hit) for group in page for hit in group[:most]]
    assert [plain_hits(hit) for hit in answer["hits"]["hits"]] == expected
    assert [hit["_dedupe"]["size"] for hit in answer["hits"]["hits"]] == [len(g) for g in page for _ in g[:most]]
    assert answer["hits"]["total"] == ranking["hits"]["total"]
    assert answer.get("aggregations") == ranking.get("aggregations")
    counted = answer["dedupe"]["groups"]
    assert (counted["matching"], counted["on_page"], counted["exact"]) == (len(groups), len(page), True)
    if "sort" not in search:
        assert answer["hits"]["max_score"] == ranking["hits"]["max_score"]
