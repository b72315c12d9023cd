"""A page of groups of all matches is what the server's own hits, grouped by hand, are, whatever orders them."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_workers.groups.service import settle_all
from plugin.answers import Json, differences, through_layer, through_plugin
from plugin.conftest import STORIES
from plugin.test_same_answers import BY_ID, WORDS
from servers.indices import ask, remove_indices
from servers.nodes import EngineName

pytestmark = pytest.mark.server
FOREIGN = 10  # documents that were never signed
SORTS: tuple[list[Json], ...] = (
    [],
    [{"ibidem.date": {"order": "desc", "unmapped_type": "date"}}, BY_ID],
    [{"ibidem.length": {"order": "asc", "unmapped_type": "integer"}}, {"_score": "desc"}, BY_ID],
)


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def settled(
    request: pytest.FixtureRequest, kind: EngineName, cluster: str, signed_records: list[Record]
) -> Iterator[str]:
    """An index whose groups are settled, with documents of others in it, and without some that were deleted."""
    if kind == "opensearch" and request.param > 1:
        pytest.skip("the plugin for OpenSearch groups several shards by window")
    index = f"settled-{request.param}"
    settings = {"number_of_shards": request.param, "number_of_replicas": 0}
    template = {"index_patterns": [index], "template": {"settings": settings}}
    ask(cluster, "PUT", f"/_index_template/{index}", json.dumps(template))
    engine = open_engine(cluster, index)
    engine.create()
    engine.write(signed_records)
    engine.refresh()
    settle_all(engine)
    for at in range(FOREIGN):
        ask(cluster, "PUT", f"/{index}/_doc/foreign{at}", json.dumps({"text": f"said {at}"}))
    engine.delete([story.id for story in STORIES[::17]], 2)
    engine.refresh()
    settle_all(engine)
    engine.refresh()
    yield index
    engine.close()
    remove_indices(cluster, index)


def made_up(seed: int, index: str) -> Json:
    """Make up a search; on several shards its order is a whole one."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    words = " ".join(rng.choices([*WORDS[:40], "said"], k=rng.randrange(1, 4)))
    sort = rng.choice(SORTS) or ([] if index.endswith("-1") else [{"_score": "desc"}, BY_ID])
    body: Json = {"query": rng.choice([{"match": {"text": words}}, {"match": {"text": "said"}}, {"match_all": {}}])}
    body |= {"sort": sort} if sort else {}
    body |= rng.choice([{}, {}, {"post_filter": {"exists": {"field": "ibidem.date"}}}, {"min_score": 0.4}])
    return body


def group_by_hand(cluster: str, index: str, body: Json) -> list[tuple[str, list[str]]]:
    """Group all hits by their stored groups, in the server's order; a document without one is alone."""
    whole = body | {"size": 1_000, "_source": False, "docvalue_fields": ["ibidem.group"]}
    groups: dict[str, list[str]] = {}
    for hit in ask(cluster, "POST", f"/{index}/_search?preference=one", json.dumps(whole))["hits"]["hits"]:
        name = hit.get("fields", {}).get("ibidem.group", [f"alone {hit['_id']}"])[0]
        groups.setdefault(name, []).append(hit["_id"])
    return list(groups.items())


def read_groups(answer: Json) -> list[tuple[list[str], int]]:
    """Return the shown documents of each group, and how many it has."""
    groups: list[tuple[list[str], int]] = []
    for hit in answer["hits"]["hits"]:
        inner = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", [])
        if hit["_dedupe"]["indent"] == 0:
            groups.append(([hit["_id"]], hit["_dedupe"]["size"]))
        groups[-1][0].extend(each["_id"] for each in ([hit, *inner] if hit["_dedupe"]["indent"] else inner))
    return groups


@pytest.mark.parametrize("seed", range(20))
def test_a_page_has_the_groups_of_all_hits(cluster: str, plain_client: Any, settled: str, seed: int) -> None:
    body, rng = made_up(seed, settled), random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    expected = group_by_hand(cluster, settled, body)
    size, most = rng.choice([1, 10, 25]), rng.choice([0, 1, 3, None])
    options: Json = {"dedupe": rng.choice(["indent", "collapse"]), "by": "stored"}
    options |= {} if most is None else {"max_per_group": most}
    shown = 1 + (most if most is not None else 10 if options["dedupe"] == "collapse" else 1_000)
    for start in (0, size, 40):
        answer = through_plugin(plain_client, settled, body | {"from": start, "size": size}, options, preference="one")
        page = [(names[:shown], len(names)) for _, names in expected[start : start + size]]
        assert read_groups(answer) == page
        matched = sum(len(names) for _, names in expected)
        account = answer["account"]
        assert account["documents"]["matched"] == answer["hits"]["total"]["value"] == matched
        assert (account["groups"]["matching"], account["groups"]["exact"]) == (len(expected), True)


@pytest.mark.parametrize("seed", range(8))
def test_the_answer_is_that_of_the_wrapped_client(
    plain_client: Any, wrapped_client: Any, settled: str, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    body = {"query": {"match": {"text": "said"}}, "sort": [{"_score": "desc"}, BY_ID], "size": 10}
    body |= {"from": rng.choice([0, 10, 30]), "track_scores": True}
    options: Json = {"dedupe": rng.choice(["indent", "collapse"]), "by": "stored", "explain": rng.random() < 0.5}
    options |= rng.choice([{}, {"keep": "earliest"}, {"keep": "longest"}, {"max_per_group": 1}])
    expected = through_layer(wrapped_client, settled, body, options)
    answer = through_plugin(plain_client, settled, body, options)
    assert list(differences(expected["hits"], answer["hits"])) == []
    assert expected["account"]["documents"] == answer["account"]["documents"]  # the client counts no groups unasked


def test_documents_that_were_never_signed_are_each_alone(plain_client: Any, settled: str) -> None:
    body = {"query": {"ids": {"values": [f"foreign{at}" for at in range(FOREIGN)]}}, "size": 50}
    answer = through_plugin(plain_client, settled, body, {"dedupe": "indent", "by": "stored"})
    assert [hit["_dedupe"]["size"] for hit in answer["hits"]["hits"]] == [1] * FOREIGN


@pytest.mark.parametrize(
    ("options", "part", "way"),
    [
        ({}, {}, "window"),  # one in twenty has no group
        ({"by": "stored"}, {}, "stored"),
        ({"by": "window"}, {}, "window"),
        ({"by": "stored"}, {"size": 0}, "stored"),
    ],
)
def test_the_account_names_the_way(plain_client: Any, settled: str, options: Json, part: Json, way: str) -> None:
    body = {"query": {"match": {"text": "said"}}} | part
    answer = through_plugin(plain_client, settled, body, {"dedupe": "indent", **options})
    assert (answer["account"]["index"]["ungrouped"] if way == "stored" else FOREIGN) == FOREIGN
    assert answer["account"]["groups"]["in_window"] > 0
    assert answer["account"].get("why", "").endswith("have no settled group") == (options == {})


def test_a_window_alone_is_ranked_again(cluster: str, settled: str) -> None:
    again = {"rescore": {"window_size": 30, "query": {"rescore_query": {"match_all": {}}}}}
    body = {"query": {"match": {"text": "said"}}} | again | {"ext": {"ibidem": {"dedupe": "indent", "by": "stored"}}}
    with pytest.raises(RuntimeError, match="rescore cannot be combined with by=stored"):
        ask(cluster, "POST", f"/{settled}/_search", json.dumps(body))
