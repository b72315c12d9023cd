"""Operations on a whole index fail when one of its shards is missing, although servers answer as if it were there."""

import json
from collections.abc import Callable, Iterator

import pytest

from ibidem_core.errors import Unavailable
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.cluster.index import template
from ibidem_engines.cluster.records import read_records
from ibidem_engines.cluster.records import template as record_template
from ibidem_engines.cluster.search import open_point
from ibidem_engines.connect import open_engine
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import IndexNames, SeqNoRange, ShardRef
from servers.fake_server import Answer, between
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from support.signed_records import make_record

INDEX = "halved"
GRAIN = parse_query("grain")
DOCUMENTS = 12


@pytest.fixture(params=CLUSTERS)
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with an index of ours of which one shard of two is on no node."""
    address: str = request.getfixturevalue(request.param)
    body = template("full")
    body["settings"]["index"] |= {"number_of_shards": 2, "auto_expand_replicas": False, "number_of_replicas": 0}
    body["settings"]["index"]["routing.allocation.total_shards_per_node"] = 1
    remove_indices(address, INDEX)
    ask(address, "PUT", f"/{INDEX}?wait_for_active_shards=0", json.dumps(body))
    yield address
    remove_indices(address, INDEX)


@pytest.fixture
def cluster_engine(address: str) -> Iterator[ClusterEngine]:
    """The engine over it, which asks again without waiting."""
    engine = open_engine(address, INDEX)
    assert isinstance(engine, ClusterEngine)
    engine._cluster.waits = ()
    yield engine
    engine.close()


def bring_back(address: str) -> None:
    """Let the other shard have a node."""
    ask(address, "PUT", f"/{INDEX}/_settings", '{"index.routing.allocation.total_shards_per_node": 2}')
    ask(address, "GET", f"/_cluster/health/{INDEX}?wait_for_status=green")


def uses(engine: ClusterEngine, address: str) -> dict[str, Callable[[], object]]:
    """List what reads an index and relies on the whole of it."""
    source = open_engine(address, INDEX).reindex_source()
    return {
        "a search": lambda: engine.search(GRAIN, 5),
        "a point in time": lambda: engine.run(open_point(engine._cluster.dialect, INDEX)),
        "reading all": lambda: list(engine.scan()),
        "the counts": engine.info,
        "the last writes": source.newest,
        "the last writes again": lambda: source.newest(dict.fromkeys(source.parts(), 0)),
        "the deletions": source.deletions,
        "the documents of the writes": lambda: [source.count(SeqNoRange(ShardRef(INDEX, at), 0, 99)) for at in (0, 1)],
    }


def test_nothing_is_answered_from_half_an_index(address: str, cluster_engine: ClusterEngine) -> None:
    for use in uses(cluster_engine, address).values():
        with pytest.raises(Unavailable, match="part of the index is unavailable"):
            use()
    bring_back(address)
    cluster_engine.create()
    cluster_engine.write([make_record(f"d{number}", "grain") for number in range(DOCUMENTS)])
    cluster_engine.refresh()
    for use in uses(cluster_engine, address).values():
        use()
    assert cluster_engine.search(GRAIN, 5).total == DOCUMENTS


def test_a_refresh_in_which_a_part_of_the_index_took_no_part_is_none(
    address: str, cluster_engine: ClusterEngine
) -> None:
    """After a minute, for which nobody waits here, a server answers as the plan does."""
    answer = Answer(200, {"_shards": {"total": 2, "successful": 1, "failed": 0}})
    kind = address.partition("+")[0]
    with between(address, lambda request: answer if "_refresh" in request.path else None) as server:
        behind = open_engine(server.address(kind), INDEX)
        with pytest.raises(Unavailable, match=r"part of the index is unavailable.*1 of 2 shards"):
            behind.refresh()
        bring_back(address)
        behind.refresh()
        assert sum("_refresh" in request.path for request in server.asked) == 3  # the last one asks once more
        behind.close()


def test_an_index_whose_copies_have_no_node_is_whole(address: str, cluster_engine: ClusterEngine) -> None:
    bring_back(address)
    ask(address, "PUT", f"/{INDEX}/_settings", '{"index.number_of_replicas": 1}')
    cluster_engine.refresh()
    assert cluster_engine.search(GRAIN, 5).total == 0


def test_records_next_to_an_index_are_never_taken_for_none_while_they_are_nowhere(
    address: str, cluster_engine: ClusterEngine
) -> None:
    bring_back(address)
    ledger = f".ibidem-{INDEX}"
    nowhere = {"index.routing.allocation.require._name": "nowhere", "number_of_replicas": 0}
    mappings = record_template()["mappings"]
    ask(address, "PUT", f"/{ledger}?wait_for_active_shards=0", json.dumps({"settings": nowhere, "mappings": mappings}))
    for use in (
        lambda: cluster_engine.count("overrides"),
        lambda: list(cluster_engine.get_records("overrides")),
        lambda: cluster_engine._cluster.hold(read_records(IndexNames((INDEX,)), "overrides")),
    ):
        with pytest.raises(Unavailable, match="part of the index is unavailable"):
            use()
