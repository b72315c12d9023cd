"""What a cluster answers becomes one of two errors, with what happened and what to do.

A request is asked again where that may help, by each process over connections of its own.
"""

import os
from collections.abc import Mapping

import pytest

from ibidem_core.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_engines.cluster.client import (
    BLOCKS,
    KINDS,
    STATUSES,
    ClusterClient,
    Failure,
    build_failure,
    find_fault,
    to_engine_error,
)


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
        (502, "node_not_connected_exception", Unavailable),
        (403, "index_create_block_exception", Unavailable),
        (400, "task_cancelled_exception", Unavailable),
        (400, "parsing_exception", Permanent),
        (500, "null_pointer_exception", Permanent),
    ],
)
def test_a_failure_is_judged_by_its_type_then_by_its_status(status: int, kind: str, error: type[EngineError]) -> None:
    assert type(to_engine_error(Failure(status, kind, "why"), "here")) is error


def test_a_node_with_a_full_disk_is_waited_for() -> None:
    error = to_engine_error(Failure(500, "i_o_exception", "No space left on device"), "here")
    assert type(error) is Unavailable


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


def test_a_full_disk_is_not_asked_again_within_a_second() -> None:
    assert not find_fault(Failure(429, "cluster_block_exception", "disk usage exceeded flood-stage watermark")).soon


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"error": "no handler found"}, ("", "no handler found")),
        ({"error": {"type": "t", "reason": "r"}}, ("t", "r")),
        ({"error": {"type": "t", "reason": "r", "root_cause": [{"type": "inner", "reason": "why"}]}}, ("inner", "why")),
        (
            {"error": {"type": "t", "reason": "", "root_cause": [], "caused_by": {"type": "c", "reason": "w"}}},
            ("c", "w"),
        ),
        ("plain words", ("", "plain words")),
        (None, ("", "")),
    ],
)
def test_type_and_reason_are_read_out_of_an_answer(answer: object, expected: tuple[str, str]) -> None:
    failure = build_failure(500, answer)
    assert (failure.kind, failure.reason) == expected


def test_a_refresh_in_which_a_copy_took_no_part_may_be_tried_again() -> None:
    """So it is right after a node stood still: workers had ended by it."""
    reason = {"type": "illegal_state_exception", "reason": "operation primary term [1] is too old (current [2])"}
    shards = {"total": 2, "successful": 1, "failed": 1, "failures": [{"shard": 0, "reason": reason}]}
    failure = build_failure(500, {"_shards": shards})
    error = to_engine_error(failure, "here")
    assert isinstance(error, Unavailable)
    assert "operation primary term [1] is too old" in str(error)


@pytest.mark.parametrize(
    "reason",
    [
        {"type": "refresh_failed_engine_exception", "reason": "Refresh failed"},
        {"type": "exception", "caused_by": {"type": "refresh_failed_engine_exception", "reason": "Refresh failed"}},
    ],
)
def test_a_refresh_that_failed_in_its_shard_is_not_tried_again(reason: object) -> None:
    """Its shard is given up by then, and a second refresh waits for it in vain."""
    shards = {"total": 1, "successful": 0, "failed": 1, "failures": [{"shard": 0, "reason": reason}]}
    assert isinstance(to_engine_error(build_failure(500, {"_shards": shards}), "here"), Permanent)


@pytest.mark.parametrize(
    "failures",
    [
        [{"shard": 0, "reason": {"type": "illegal_state_exception", "reason": "no refresh_failed_engine_exception"}}],
        [{"shard": 0, "index": "refresh_failed_engine_exception", "reason": {"type": "illegal_state_exception"}}],
        [{"shard": 0, "reason": "refresh_failed_engine_exception"}, "refresh_failed_engine_exception"],
        "refresh_failed_engine_exception",
        None,
    ],
)
def test_only_the_type_of_a_failure_says_that_a_shard_is_broken(failures: object) -> None:
    failure = build_failure(500, {"_shards": {"total": 1, "successful": 0, "failed": 1, "failures": failures}})
    assert isinstance(to_engine_error(failure, "here"), Unavailable)


class Script:
    """A transport with prepared answers that keeps the requests."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, bytes | None]] = []

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        self.asked.append((method, path, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Failure):
            raise answer
        return answer

    def close(self) -> None:
        self.answers = []


def test_a_forked_process_makes_connections_of_its_own() -> None:
    scripts: list[Script] = []

    def connect() -> Script:
        scripts.append(Script({}, {}))
        return scripts[-1]

    cluster = ClusterClient("here", connect)
    cluster.ask("GET", "/")
    cluster._pid = os.getpid() + 1  # as the child of a fork finds it
    cluster.ask("GET", "/")
    assert len(scripts) == 2
