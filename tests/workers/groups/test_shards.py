"""Groups of an index of several shards: every promise but which of two documents leads."""

import json
from collections.abc import Iterator
from secrets import token_hex

import pytest

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_workers.groups.follower import Follower, regroup
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from support.signed_records import make_record
from workers.groups.test_service import check, signed, stored

SHARDS = 3


@pytest.fixture(params=CLUSTERS)
def absent(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An empty index of three shards."""
    address: str = request.getfixturevalue(request.param)
    name = f"shards-{token_hex(4)}"
    engine = open_engine(address, name)
    engine.create()
    definition = ask(address, "GET", f"/{name}")[name]
    index = {part: each for part, each in definition["settings"]["index"].items() if part in ("analysis", "codec")}
    ask(address, "DELETE", f"/{name}")
    body = {"settings": {"index": index | {"number_of_shards": SHARDS}}, "mappings": definition["mappings"]}
    ask(address, "PUT", f"/{name}", json.dumps(body))
    engine.close()
    engine = open_engine(address, name)
    yield engine
    engine.close()
    remove_indices(address, name)


@pytest.mark.parametrize("many", [10, 10_000], ids=["columns", "look-ups"])
def test_documents_join_leads_that_they_duplicate_whatever_the_shards(engine: Engine, many: int) -> None:
    records = signed(5, families=25, versions=6)
    half = len(records) // 2
    engine.write(records[:half])
    Follower(engine, size=20, min_new=many).catch_up()
    engine.write(records[half:])
    Follower(engine, size=20, min_new=many).catch_up()
    check(engine)
    assert sum(not each.lead for each in stored(engine)) > 10
    regroup(engine, everything=True, size=20)
    check(engine)


def test_a_search_counts_what_is_not_settled_in_each_shard(engine: Engine) -> None:
    records = signed(6, families=15, versions=4)
    engine.write(records)
    Follower(engine).catch_up()
    engine.refresh()
    query, request = parse_query("said"), parse_request({"dedupe": "indent", "dedupe_by": "stored"})
    account = search_index(engine, query, request)["dedupe"]
    assert (account["index"]["unsettled"], account["groups"]["exact"]) == (0, True)
    matching = {hit.id for hit in engine.search(query, 1_000).hits}
    assert account["groups"]["matching"] == len({each.group for each in stored(engine) if each.name.id in matching})
    engine.write([make_record(f"late{at}", f"said number{at} all alone here") for at in range(5)])
    engine.refresh()
    assert search_index(engine, query, request)["dedupe"]["index"]["unsettled"] == 5


def test_who_was_declared_the_same_is_joined_only_once_its_own_shard_is_settled(engine: Engine) -> None:
    texts = {at: " ".join(f"word{at}x{number}" for number in range(40)) for at in range(24)}
    records = [make_record(f"lead{at}", text) for at, text in texts.items()]
    records += [make_record(f"other{at}", f"something else said {at} times over again here") for at in texts]
    records += [make_record(f"copy{at}", text) for at, text in texts.items()]
    engine.write(records)
    for at in texts:
        a, b = [engine.index, f"copy{at}"], [engine.index, f"other{at}"]
        entry = {"a": a, "b": b, "verdict": "same"}
        engine.put_records("overrides", {json.dumps([a, b], separators=(",", ":")): entry})
    Follower(engine, size=4).catch_up()
    groups = stored(engine)
    assert sorted(each.group for each in groups if each.lead) == sorted({each.group for each in groups})
