"""A page of groups of all matches is what the server's own hits, grouped by hand, are, whatever orders them."""

import json
import random
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_workers.groups.follower import settle_all
from plugin.answers import Json, differences, read_account, run_search, take_parts, through_plugin
from plugin.conftest import STORIES
from plugin.test_same_answers import BY_ID, WORDS
from servers.indices import ask, create_index, remove_indices
from servers.nodes import EngineName
from support.examples import examples

pytestmark = pytest.mark.server
FOREIGN = 10  # documents that were never signed
SORTS: tuple[list[Json], ...] = (
    [],
    [{"ibidem.date": {"order": "desc", "unmapped_type": "date"}}, BY_ID],
    [{"ibidem.length": {"order": "asc", "unmapped_type": "integer"}}, {"_score": "desc"}, BY_ID],
)


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def settled(request: pytest.FixtureRequest, cluster: str, signed_records: list[Record]) -> Iterator[str]:
    """An index whose groups are settled, with documents of others in it, and without some that were deleted."""
    index = f"settled-{request.param}"
    remove_indices(cluster, index)
    create_index(cluster, index, number_of_shards=request.param)
    engine = open_engine(cluster, index)
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
    """Make up a search; on several shards no two hits are equal in its order."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    words = " ".join(rng.choices([*WORDS[:40], "said"], k=rng.randrange(1, 4)))
    sort = rng.choice(SORTS) or ([] if index.endswith("-1") else [{"_score": "desc"}, BY_ID])
    body: Json = {"query": rng.choice([{"match": {"text": words}}, {"match": {"text": "said"}}, {"match_all": {}}])}
    body |= {"sort": sort} if sort else {}
    body |= rng.choice([{}, {}, {"post_filter": {"exists": {"field": "ibidem.date"}}}, {"min_score": 0.4}])
    body |= rng.choice([{}, {"track_scores": True}, {"highlight": {"fields": {"text": {}}}}, {"version": True}])
    return body | rng.choice([{}, {"aggs": {"groups": {"cardinality": {"field": "ibidem.group"}}}}, {"_source": False}])


def group_by_hand(cluster: str, index: str, body: Json) -> list[tuple[list[Json], int]]:
    """Group all hits by their stored groups, in the server's order; a document without one is alone."""
    whole = body | {"size": 1_000, "docvalue_fields": ["ibidem.group"]}
    groups: dict[str, list[Json]] = {}
    for hit in ask(cluster, "POST", f"/{index}/_search?preference=one", json.dumps(whole))["hits"]["hits"]:
        name = hit.get("fields", {}).get("ibidem.group", [f"alone {hit['_id']}"])[0]
        groups.setdefault(name, []).append(shown(hit))
    return [(hits, len(hits)) for hits in groups.values()]


def shown(hit: Json) -> Json:
    """Return what a hit shows beside its mark and its duplicates; a score may differ in its last digit."""
    left = {name: part for name, part in hit.items() if name not in ("_dedupe", "inner_hits", "fields")}
    return left | {"_score": left["_score"] and pytest.approx(left["_score"], rel=1e-5)}


def read_groups(answer: Json) -> list[tuple[list[Json], int]]:
    groups: list[tuple[list[Json], int]] = []
    for hit in answer["hits"]["hits"]:
        inner = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", [])
        if hit["_dedupe"]["indent"] == 0:
            groups.append(([], hit["_dedupe"]["size"]))
        groups[-1][0].extend(shown(each) for each in [hit, *inner])
    return groups


@pytest.mark.parametrize("seed", range(examples(30)))
def test_a_page_has_the_groups_of_all_hits(
    kind: EngineName, cluster: str, plain_client: Any, settled: str, seed: int
) -> None:
    if kind == "opensearch":  # the other one always searches segments side by side
        mode = {"index.search.concurrent_segment_search.mode": ("none", "all")[seed % 2]}
        ask(cluster, "PUT", f"/{settled}/_settings", json.dumps(mode))
    body, rng = made_up(seed, settled), random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    expected = group_by_hand(cluster, settled, body)
    size, most = rng.choice([1, 10, 25]), rng.choice([0, 1, 3, None])
    options: Json = {"dedupe": rng.choice(["indent", "collapse"]), "by": "stored"}
    options |= {} if most is None else {"max_per_group": most}
    limit = 1 + (most if most is not None else 10 if options["dedupe"] == "collapse" else 1_000)
    for start in (0, size, 40, 900):
        answer = through_plugin(plain_client, settled, body | {"from": start, "size": size}, options, preference="one")
        assert read_groups(answer) == [(hits[:limit], count) for hits, count in expected[start : start + size]]
        matched = sum(count for _, count in expected)
        account = answer["account"]
        assert account["documents"]["matched"] == answer["hits"]["total"]["value"] == matched
        assert (account["groups"]["matching"], account["groups"]["exact"]) == (len(expected), True)
        if "aggs" in body:
            assert "groups" in answer["aggregations"]


@pytest.mark.parametrize("seed", range(examples(15)))
def test_the_answer_is_that_of_the_wrapped_client_without_the_plugin(
    asking: Any, monkeypatch: pytest.MonkeyPatch, settled: str, seed: int
) -> None:
    body, rng = made_up(seed, settled), random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    size = rng.choice([1, 10, 25])
    body |= {"from": rng.choice([0, 0, size, 40, 900]), "size": size, "track_total_hits": True}
    options: Json = {"dedupe": rng.choice(["indent", "collapse"]), "dedupe_explain": rng.random() < 0.5}
    options |= rng.choice([*[{"dedupe_by": "stored"}] * 4, {"dedupe_level": "identical"}])
    options |= rng.choice([{}, {}, {"dedupe_max_per_group": 0}, {"dedupe_max_per_group": 1}])
    answers = []
    for mode in ("auto", "off"):
        monkeypatch.setenv("IBIDEM_PLUGIN", mode)
        answers.append(run_search(asking, settled, dict(body), {}, **options))
    accounts = [answer["dedupe"] for answer in answers]
    assert accounts[0]["by"] == accounts[1]["by"] != "window"
    # What has to be compared with another lead is left to the client.
    is_compared_again = "would not pass against" in json.dumps(answers)
    assert accounts[0]["grouper"].startswith("client" if is_compared_again else "plugin")
    if "post_filter" not in body and answers[1]["hits"]["hits"]:  # else the client looks further
        assert accounts[0]["cursor"] == accounts[1]["cursor"]
    parts = [take_parts(answer) for answer in answers]
    for each in parts:
        each["hits"].pop("max_score")  # which engines set in different cases
        each["account"].pop("too_short" if "dedupe_max_per_group" in options else "late")  # of documents that are read
    assert list(differences(*parts)) == []


def test_each_shard_is_searched_once(cluster: str, plain_client: Any, settled: str) -> None:
    def searches() -> int:
        total: int = ask(cluster, "GET", f"/{settled}/_stats/search")["_all"]["total"]["search"]["query_total"]
        return total

    options = {"dedupe": "indent", "by": "stored", "max_per_group": 0}
    counts = []
    for _ in range(2):  # one of them may count what the groups cover, which is kept for five seconds
        before = searches()
        through_plugin(plain_client, settled, {"query": {"match": {"text": "said"}}}, options)
        counts.append(searches() - before)
    shards = int(settled.rpartition("-")[2])
    assert set(counts) in ({shards}, {shards, 5 * shards})


@pytest.mark.parametrize(
    ("options", "by", "why"),
    [
        ({}, "window", "have no settled group"),  # one in twenty has none
        ({"by": "stored"}, "stored", ""),
        ({"by": "window"}, "window", ""),
        ({"level": "identical"}, "content", ""),
    ],
)
def test_the_account_names_the_way(cluster: str, settled: str, options: Json, by: str, why: str) -> None:
    body = {"query": {"match": {"text": "said"}}, "ext": {"ibidem": {"dedupe": "indent"} | options}}
    account = read_account(ask(cluster, "POST", f"/{settled}/_search", json.dumps(body)))
    assert account["by"] == by
    assert account.get("why", "").endswith(why)
    assert account["groups"]["in_window"] > 0
    assert by == "window" or account["index"]["ungrouped"] == FOREIGN


def test_where_there_is_no_index_there_are_no_groups(cluster: str) -> None:
    body = json.dumps({"ext": {"ibidem": {"dedupe": "indent", "by": "stored"}}})
    assert ask(cluster, "POST", "/nowhere-*/_search", body)["hits"]["hits"] == []
    with pytest.raises(RuntimeError, match="no such index"):
        ask(cluster, "POST", "/nowhere/_search", body)


def test_a_window_alone_is_ranked_again(cluster: str, settled: str) -> None:
    again = {"rescore": {"window_size": 30, "query": {"rescore_query": {"match_all": {}}}}}
    body = {"query": {"match": {"text": "said"}}} | again | {"ext": {"ibidem": {"dedupe": "indent", "by": "stored"}}}
    with pytest.raises(RuntimeError, match="rescore cannot be combined with by=stored"):
        ask(cluster, "POST", f"/{settled}/_search", json.dumps(body))


def test_memory_that_the_node_lacks_is_refused_and_nothing_stays_counted(cluster: str, settled: str) -> None:
    search = {"query": {"match_all": {}}, "ext": {"ibidem": {"dedupe": "indent", "by": "stored"}}}
    for limit, error in (
        ("1kb", pytest.raises(RuntimeError, match="circuit_breaking_exception")),
        (None, nullcontext()),
    ):
        ask(cluster, "PUT", "/_cluster/settings", json.dumps({"persistent": {"indices.breaker.request.limit": limit}}))
        with error:
            ask(cluster, "POST", f"/{settled}/_search", json.dumps(search))
    nodes = ask(cluster, "GET", "/_nodes/stats/breaker")["nodes"].values()
    assert [node["breakers"]["request"]["estimated_size_in_bytes"] for node in nodes] == [0, 0]
