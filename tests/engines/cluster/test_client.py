"""What a cluster answers becomes one of two errors, with what to do; a request is asked again where that may help."""

import asyncio
import os
from contextlib import ExitStack
from typing import Any
from unittest.mock import Mock

import elasticsearch as library
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem_core.address import parse_address
from ibidem_core.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_engines.cluster.client import (
    BLOCKS,
    KINDS,
    MAX_REQUESTS,
    STATUSES,
    ClusterClient,
    Failure,
    Throttle,
    build_failure,
    find_fault,
    to_engine_error,
)
from ibidem_engines.cluster.elasticsearch import ElasticsearchTransport
from ibidem_engines.cluster.index import refresh_index
from ibidem_engines.requests import ApiRequest

FULL = "No space left on device"


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (0, "unreachable", Unavailable),
        (0, "certificate", Permanent),
        (401, "security_exception", Permanent),
        (404, "index_not_found_exception", NoIndex),
        (429, "cluster_block_exception", Unavailable),
        (403, "cluster_block_exception", Permanent),
        (429, "", Unavailable),
        (500, "circuit_breaking_exception", Unavailable),
        (503, "search_phase_execution_exception", Unavailable),
        (500, "node_disconnected_exception", Unavailable),
        (500, "node_not_connected_exception", Unavailable),
        (403, "index_create_block_exception", Unavailable),
        (400, "task_cancelled_exception", Unavailable),
        (400, "parsing_exception", Permanent),
        (500, "null_pointer_exception", Permanent),
    ],
)
def test_a_failure_is_judged_by_its_type_then_by_its_status(status: int, kind: str, error: type[EngineError]) -> None:
    assert type(to_engine_error(Failure(status, kind, "why"), "here")) is error


def test_a_node_with_a_full_disk_is_waited_for_and_not_asked_again_within_a_second() -> None:
    for failure in (Failure(500, "i_o_exception", FULL), Failure(429, "cluster_block_exception", "flood-stage")):
        assert isinstance(to_engine_error(failure, "here"), Unavailable)
        assert not find_fault(failure).soon


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (404, "search_context_missing_exception", "No search context found for id [[x][3]]"),
        (404, "search_context_missing_nodes_exception", "references nodes that have left the cluster: [le2Y]"),
        (500, "illegal_state_exception", "no node found for id: 3Fdmk7YtRG6uWOciIJKkJw"),
    ],
)
def test_a_point_in_time_whose_node_is_lost_is_one_that_has_gone(status: int, kind: str, reason: str) -> None:
    error = to_engine_error(Failure(status, kind, reason), "here")
    assert isinstance(error, Permanent)
    assert error.remedy == "search again without the cursor"
    other = to_engine_error(Failure(500, "illegal_state_exception", "another one"), "here")
    assert str(other) == "here: another one"


def test_every_fault_says_what_to_do() -> None:
    for each in (*KINDS.values(), *BLOCKS.values(), *STATUSES.values()):
        assert each.remedy


BROKEN = {"type": "refresh_failed_engine_exception", "reason": "Refresh failed"}


@pytest.mark.parametrize(
    ("failures", "error"),
    [
        ([{"shard": 0, "reason": {"type": "illegal_state_exception", "reason": "primary term [1]"}}], Unavailable),
        ([{"shard": 0, "reason": BROKEN}], Permanent),
        ([{"shard": 0, "reason": {"type": "exception", "caused_by": BROKEN}}], Permanent),
        ([{"shard": 0, "reason": {"type": "illegal_state_exception", "reason": BROKEN["type"]}}], Unavailable),
        ([{"shard": 0, "index": BROKEN["type"], "reason": {"type": "illegal_state_exception"}}], Unavailable),
        ([{"shard": 0, "reason": BROKEN["type"]}, BROKEN["type"]], Unavailable),
        (BROKEN["type"], Unavailable),
        (None, Unavailable),
    ],
)
def test_a_refresh_in_which_a_copy_took_no_part_may_be_tried_again(failures: object, error: type[EngineError]) -> None:
    """So it is right after a node stood still: workers had ended by it.

    A shard that failed itself is given up by then, and a second refresh waits for it in vain.
    """
    failure = build_failure(500, {"_shards": {"total": 2, "successful": 1, "failed": 1, "failures": failures}})
    assert type(to_engine_error(failure, "here")) is error
    assert str(failures) in failure.reason


def test_a_forked_process_makes_connections_of_its_own() -> None:
    connect = Mock()
    connect.return_value.send.return_value = {}
    cluster = ClusterClient(parse_address("opensearch+http://here"), Mock(), connect)
    for _ in range(2):
        cluster.ask("GET", "/")
    assert connect.call_count == 1
    cluster._pid = os.getpid() + 1  # as the child of a fork finds it
    cluster.ask("GET", "/")
    assert connect.call_count == 2


def test_a_refresh_is_repeated_as_it_was_where_a_shard_came_back_between_two_answers() -> None:
    connect = Mock()
    refreshes = [{"_shards": {"total": 2, "successful": shards, "failed": 0}} for shards in (1, 2)]
    connect.return_value.send.side_effect = [refreshes[0], {"status": "green", "active_shards": 2}, refreshes[1]]
    cluster = ClusterClient(parse_address("opensearch+http://here"), Mock(), connect)
    refresh_index(cluster, "news", ignore_unavailable="true")
    asked = [(each.args[0].path, dict(each.args[0].params)) for each in connect.return_value.send.call_args_list]
    refresh = "/news/_refresh", {"ignore_unavailable": "true"}
    assert asked == [refresh, ("/_cluster/health/news", {"filter_path": "status,active_shards"}), refresh]


@given(st.integers(1, 12), st.lists(st.booleans(), max_size=40))
def test_whatever_is_rejected_one_request_may_be_sent_and_never_more_than_the_most(
    together: int, answers: list[bool]
) -> None:
    throttle = Throttle()
    for busy in answers:
        with ExitStack() as under_way:
            for _ in range(int(min(together, throttle.limit))):
                under_way.enter_context(throttle())
            if busy:
                throttle.reject()
        assert 1 <= throttle.limit <= MAX_REQUESTS
    assert throttle.rejections == sum(answers)


# What the client of the next generation sends, which Elasticsearch 9 refuses as Elasticsearch 8 refuses that of 9.
NEXT = r"application/vnd.elasticsearch+\g<1>; compatible-with=10"

ELASTICSEARCH = pytest.mark.server("elasticsearch")


@pytest.fixture
def newer_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed client is of the next generation."""
    for kind in ("_sync", "_async"):
        monkeypatch.setattr(f"elasticsearch.{kind}.client._base._COMPAT_MIMETYPE_SUB", NEXT)


@ELASTICSEARCH
@pytest.mark.usefixtures("newer_client")
def test_the_client_itself_is_refused(elasticsearch: str) -> None:
    with pytest.raises(library.BadRequestError):
        plain(elasticsearch).indices.exists(index="nowhere")
    with pytest.raises(library.BadRequestError, match="media_type_header_exception"):
        plain(elasticsearch).search(size=0)


@ELASTICSEARCH
@pytest.mark.usefixtures("newer_client")
def test_every_method_of_a_wrapped_client_is_answered(elasticsearch: str) -> None:
    client = ibidem.wrap(plain(elasticsearch))
    assert not client.indices.exists(index="nowhere")
    assert client.search(size=0)["hits"]["hits"] == []
    assert client.options(request_timeout=30).msearch(searches=[{}, {"size": 0}])["responses"][0]["status"] == 200


@ELASTICSEARCH
@pytest.mark.usefixtures("newer_client")
def test_so_is_one_that_is_awaited(elasticsearch: str) -> None:
    async def ask() -> Any:
        async with ibidem.wrap(plain(elasticsearch, asynchronous=True)) as client:
            return await client.indices.exists(index="nowhere"), await client.search(size=0)

    exists, found = asyncio.run(ask())
    assert (bool(exists), found["hits"]["hits"]) == (False, [])


@ELASTICSEARCH
@pytest.mark.usefixtures("newer_client")
def test_the_commands_are_answered(elasticsearch: str) -> None:
    transport = ElasticsearchTransport(parse_address(elasticsearch))
    for _ in range(2):
        answer = transport.send(ApiRequest("POST", "/_search", body={"size": 0}))
        assert isinstance(answer, dict)
        assert answer["hits"]["hits"] == []
    transport.close()


def plain(address: str, *, asynchronous: bool = False) -> Any:
    kind = library.AsyncElasticsearch if asynchronous else library.Elasticsearch
    return kind(address.partition("+")[2])
