"""Groups of all indexes behind an alias, or of a data stream: those of one plain pass over all of their documents."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from os import getpid
from secrets import token_hex
from typing import Any

import pytest

import ibidem
from ibidem.grouped_search.api import search_index
from ibidem_core.address import Fields
from ibidem_core.errors import Permanent
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, WriteStatus
from ibidem_engines.ledger import KEY, POLICY, GroupCheckpoint, load_overrides
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Assignment, GroupedDocument, StoredGroups
from ibidem_ingest.errors import UsageError
from ibidem_workers.groups.follower import Follower, regroup, settle_all
from ibidem_workers.groups.settle import make_row
from servers.indices import ask, create_index, remove_indices
from servers.kinds import CLUSTERS
from support.naive_settling import judge, leads
from support.signed_records import make_record
from support.wrapped_clients import CLIENTS
from workers.groups.test_service import check, signed, stored

STORE = ClusterEngine.groups
NUMBERS = count(1)
TEXT, OTHER = (" ".join(f"{stem}{at}" for at in range(90)) for stem in ("word", "grain"))


WORDS = ("word1", "said", "grain1")
Json = dict[str, Any]


class Cluster:
    """Indexes of one name: behind an alias, or of a data stream."""

    def __init__(self, address: str, name: str) -> None:
        self.address, self.name = address, name
        self.engines: list[Engine] = []

    def by(self, name: str = "") -> Engine:
        self.engines.append(open_engine(self.address, name or self.name))
        return self.engines[-1]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        return ask(self.address, method, path, body)

    def add(self, number: int, **properties: object) -> str:
        """Make the next index behind the alias."""
        index = f"{self.name}-{number}"
        self.by(index).create()
        self.ask("PUT", f"/{index}/_alias/{self.name}", properties)
        return index

    def roll_over(self) -> None:
        """Write into another index from now on."""
        self.ask("POST", f"/{self.name}/_rollover")


@pytest.fixture(params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    place = Cluster(request.getfixturevalue(request.param), f"set-{getpid()}-{next(NUMBERS)}")
    yield place
    for engine in place.engines:
        engine.close()
    gone = "ignore_unavailable=true&expand_wildcards=all"
    indices = [*place.ask("GET", f"/{place.name}*,.ds-{place.name}*,.ibidem-{place.name}*?{gone}")]
    if any(each.startswith(".ds-") for each in indices):
        place.ask("DELETE", f"/_data_stream/{place.name}")
        place.ask("DELETE", f"/_index_template/{place.name}")
    plain = [each for each in indices if not each.startswith(".ds-")]
    if plain:
        place.ask("DELETE", f"/{','.join(plain)}?{gone}")


def fill(engine: Engine, records: list[Record]) -> None:
    assert {each.status for each in engine.write(records)} == {WriteStatus.INDEXED}


def documents(engine: Engine) -> list[GroupedDocument]:
    """All documents in the order of their indexes and writes."""
    together = engine.group_set()
    store = together.groups()
    store.newest()
    names = [(hit.index, hit.id) for some in together.scan() for hit in some]
    places = {part.index: place for place, part in enumerate(store.parts())}
    return sorted(store.read(names), key=lambda each: (places[each.name.index], each.name.order))


def groups(engine: Engine) -> dict[DocumentRef, DocumentRef]:
    """The lead of each document's group."""
    rows = documents(engine)
    lead = {each.group: make_row(each).name for each in rows if each.lead}
    assert len(lead) == sum(each.lead for each in rows)
    return {make_row(each).name: lead[each.group] for each in rows}


def plain(engine: Engine) -> dict[DocumentRef, DocumentRef]:
    """The groups of one plain pass."""
    return leads([make_row(each) for each in documents(engine)], judge(POLICY, load_overrides(engine)))


def account(engine: Engine, size: int = 3) -> tuple[Json, list[list[str]]]:
    """Page through a collapsed search to its end; gives the account, and the documents of each group."""
    engine.refresh()
    found, following, page = [], None, 1
    while True:
        request = parse_request({"dedupe": "collapse", "dedupe_by": "stored", "dedupe_cursor": following})
        answer = search_index(engine, parse_query(" OR ".join(WORDS)), request, page, size)
        if not answer["hits"]["hits"]:
            return answer["dedupe"], found
        for hit in answer["hits"]["hits"]:
            inner = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())
            found.append([f"{each['_index']}/{each['_id']}" for each in (hit, *inner)])
        following, page = answer["dedupe"]["cursor"], page + 1


def check_client(cluster: Cluster, counts: Json) -> None:
    """See that a wrapped client counts by the alias what the program counts."""
    kind = cluster.address.partition("+")[0]
    query = {"bool": {"should": [{"match": {"text": word}} for word in WORDS]}}
    body = {"query": query, "track_total_hits": True}
    with closing(CLIENTS[kind][0](cluster.address.partition("+")[2])) as client:
        answer = ibidem.wrap(client).search(index=cluster.name, body=body, dedupe="collapse", dedupe_by="stored")
    assert {name: answer["dedupe"][name] for name in ("duplicates", "index", "limited")} == {
        name: counts[name] for name in ("duplicates", "index", "limited")
    }
    assert answer["dedupe"]["groups"]["matching"] == counts["groups"]["matching"]


class Cut(Exception):
    """The settling process ended."""


class Altered:
    """Groups of an index that are written in another way."""

    def __init__(self, store: StoredGroups, assign: Callable[[StoredGroups, Sequence[Assignment]], object]) -> None:
        self._store, self._assign = store, assign

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def assign(self, changes: Sequence[Assignment]) -> object:
        return self._assign(self._store, changes)


def ending(writes: int) -> Callable[[StoredGroups, Sequence[Assignment]], object]:
    """Let a process end in the middle of a write."""
    turns = iter(range(writes))

    def assign(store: StoredGroups, changes: Sequence[Assignment]) -> object:
        if next(turns, None) is not None:
            return store.assign(changes)
        store.assign(changes[: len(changes) // 2])
        raise Cut

    return assign


def test_groups_reach_over_a_rollover_in_the_middle_of_settling_that_is_cut(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cluster.add(1, is_write_index=True)
    records = signed(9, families=12, versions=5)
    engine = cluster.by()
    fill(engine, records[:25])
    settle_all(engine)
    assert GroupCheckpoint.read(cluster.by(first)).done  # of the one index behind the alias
    fill(engine, records[25:35])
    cluster.roll_over()
    fill(engine, records[35:])
    with monkeypatch.context() as patched:
        patched.setattr(ClusterEngine, "groups", lambda each: Altered(STORE(each), ending(2)))
        with pytest.raises(Cut):
            Follower(engine.group_set(), size=7).catch_up()
    settle_all(engine)
    assert groups(engine) == plain(engine)
    indices = {(name[0] == lead[0], name == lead) for name, lead in groups(engine).items()}
    assert indices == {(True, True), (True, False), (False, False)}
    assert GroupCheckpoint.read(cluster.by(first)) == GroupCheckpoint.read(engine.group_set())
    counts, found = account(engine)
    assert len(found) == counts["groups"]["matching"]
    assert (counts["groups"]["exact"], counts["index"]["unsettled"]) == (True, 0)
    check_client(cluster, counts)
    several = {each.group for each in documents(engine) if not each.lead}
    monkeypatch.setattr("ibidem_engines.cluster.search.MAX_GROUPS", len(several))
    assert len(several) < len(found)
    assert account(cluster.by(), size=100)[0]["groups"] == counts["groups"]
    written = documents(engine)
    regroup(engine, everything=True)
    assert documents(engine) == written
    assert engine.write([replace(records[0], version=9, digest="9" * 32)])[0].previous_version == records[0].version
    engine.refresh()
    assert len(documents(engine)) == len(written)


def test_the_same_id_in_two_indexes_is_two_documents_each_in_its_own_group(cluster: Cluster) -> None:
    first, second = cluster.add(1), cluster.add(2, is_write_index=True)
    fill(cluster.by(first), [make_record("a", TEXT), make_record("b", f"{TEXT} more")])
    fill(cluster.by(second), [make_record("a", OTHER), make_record("b", TEXT)])
    fill(cluster.by(second), [make_record("c", f"{OTHER} again")])
    engine = cluster.by()
    for version in (2, 3):  # a lead that is written again goes on leading
        settle_all(engine)
        assert version == 3 or groups(engine) == plain(engine)
        counts, found = account(engine, size=1)
        assert sorted(map(sorted, found)) == [
            [f"{first}/a", f"{first}/b", f"{second}/b"],
            [f"{second}/a", f"{second}/c"],
        ]
        assert counts["groups"]["matching"] == 2
        fill(cluster.by(second), [make_record("a", f"{OTHER} number {version}", version=version)])
    (refused,) = engine.write([make_record("a", TEXT, version=4)])
    assert (refused.status, refused.field) == (WriteStatus.REFUSED, "id")
    assert (
        refused.why == f"it is in several indexes: {first}, {second}; name one of them in IBIDEM_INDEX, or remove one"
    )
    (kept,) = engine.delete(["a"], 5)
    assert (kept.status, kept.why) == (refused.status, refused.why)


def test_where_an_index_is_deleted_followers_in_others_choose_new_leads(cluster: Cluster) -> None:
    first, second = cluster.add(1), cluster.add(2, is_write_index=True)
    fill(cluster.by(first), [make_record("a", TEXT), make_record("x", "grain prices rose in chicago again")])
    fill(cluster.by(second), [make_record("b", f"{TEXT} more"), make_record("c", f"{TEXT} again")])
    engine = cluster.by()
    settle_all(engine)
    name = {each.group for each in documents(engine) if each.name.id in "abc"}
    cluster.ask("DELETE", f"/{first}")
    settle_all(engine)
    assert groups(engine) == {(second, "b"): (second, "b"), (second, "c"): (second, "b")}
    assert {each.group for each in documents(engine)} == name
    third = cluster.add(3)
    fill(cluster.by(third), [make_record("d", TEXT)])
    settle_all(engine)
    assert groups(engine)[third, "d"] == (second, "b")
    assert GroupCheckpoint.read(engine.group_set()).done.keys() == {f"{second}/0", f"{third}/0"}


def test_an_index_that_is_deleted_while_groups_are_settled_is_not_made_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = cluster.add(1), cluster.add(2)
    fill(cluster.by(first), [make_record("a", TEXT), make_record("b", f"{TEXT} more")])
    fill(cluster.by(second), [make_record("c", TEXT), make_record("d", f"{TEXT} again")])
    engine = cluster.by()

    def assign(store: StoredGroups, changes: Sequence[Assignment]) -> object:
        cluster.ask("DELETE", f"/{first}?ignore_unavailable=true")
        return store.assign(changes)

    monkeypatch.setattr(ClusterEngine, "groups", lambda each: Altered(STORE(each), assign))
    settle_all(engine)
    assert groups(engine) == {(second, "c"): (second, "c"), (second, "d"): (second, "c")}
    assert cluster.ask("GET", f"/{first}?ignore_unavailable=true") == {}


@pytest.mark.parametrize("cluster", CLUSTERS[:1], indirect=True)  # the tests' Elasticsearch has no data streams
def test_a_data_stream_is_filled_and_settled_and_a_new_backing_index_is_followed_by_itself(cluster: Cluster) -> None:
    template = {
        "index_patterns": [cluster.name],
        "data_stream": {},
        "template": {"settings": {"number_of_shards": 1, "number_of_replicas": 0}},
    }
    cluster.ask("PUT", f"/_index_template/{cluster.name}", template)
    cluster.ask("PUT", f"/_data_stream/{cluster.name}")
    engine = open_engine(f"{cluster.address}/?fields=date=%40timestamp,meta=meta", cluster.name)
    cluster.engines.append(engine)
    engine.create()
    fill(engine, [make_record("a", TEXT, date="2024-01-01")])
    cluster.roll_over()
    engine.refresh()
    fill(engine, [make_record("b", f"{TEXT} more", date="2024-01-02")])
    fill(engine, [make_record("a", f"{TEXT} again", version=2, date="2024-01-01")])
    settle_all(engine)
    assert engine.fields == Fields(date="@timestamp", meta="meta")
    assert [len({index for index, _ in found}) for found in (groups(engine), plain(engine))] == [2, 2]
    assert len(set(groups(engine).values())) == 1
    assert GroupCheckpoint.read(engine) == GroupCheckpoint.read(engine.group_set()) != GroupCheckpoint()
    counts, _ = account(engine)
    assert counts["documents"]["matched"] == 2
    assert engine.delete(["a"], 9)[0].status is WriteStatus.DELETED


def test_indexes_that_are_settled_each_by_itself_are_refused_until_they_are_compared_as_one(cluster: Cluster) -> None:
    first, second = cluster.add(1), cluster.add(2)
    fill(cluster.by(first), [make_record("a", TEXT)])
    fill(cluster.by(second), [make_record("b", TEXT)])
    alone = {index: {"filter": {"match_none": {}}} for index in (first, second)}
    for index in alone:
        cluster.ask("DELETE", f"/{index}/_alias/{cluster.name}")
        settle_all(cluster.by(index))
        cluster.ask("PUT", f"/{index}/_alias/{cluster.name}")
    engine = cluster.by()
    for how in (settle_all, account):
        with pytest.raises(UsageError, match=f"groups of '{first}', '{second}' behind '{cluster.name}' are settled"):
            how(engine)
    with pytest.raises(Permanent, match="has no write index"):
        engine.write([make_record("c", TEXT)])
    regroup(engine, everything=True)
    assert groups(engine) == {(first, "a"): (first, "a"), (second, "b"): (first, "a")}
    assert cluster.by(first).get_record("groups", KEY) == cluster.by().get_record("groups", KEY)
    cluster.ask("PUT", f"/{first}/_alias/{cluster.name}-part", {"filter": {"term": {"ibidem.id": "z"}}})
    settle_all(cluster.by(f"{cluster.name}-part"))  # of all: a filter hides nothing from settling
    settle_all(cluster.by(second))
    assert len(set(groups(cluster.by(second)).values())) == 1


def test_an_alias_whose_filter_hides_documents_is_no_set_of_groups(cluster: Cluster) -> None:
    for number in (1, 2):
        cluster.add(number, filter={"term": {"ibidem.id": "a"}})
    with pytest.raises(UsageError, match=f"the alias '{cluster.name}' has a filter"):
        settle_all(cluster.by())


SHARDS = 3


@pytest.fixture(params=CLUSTERS)
def absent(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An empty index of three shards."""
    address: str = request.getfixturevalue(request.param)
    name = f"shards-{token_hex(4)}"
    create_index(address, name, number_of_shards=SHARDS)
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
