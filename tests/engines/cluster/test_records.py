"""What people decide or save is as it was said last, whatever a node carries out late."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import orjson
import pytest

from ibidem_core.errors import Unavailable
from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.cluster import client
from ibidem_engines.cluster.client import CONFLICT, Action, ActionOutcome, ClusterClient, run
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import ATTEMPTS, OwnRecord, load_overrides
from ibidem_engines.stored_groups import Ledger
from servers.indices import remove_indices
from servers.kinds import CLUSTERS

INDEX = f"decisions-{os.getpid()}"


@pytest.fixture(params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[ClusterEngine]:
    address: str = request.getfixturevalue(request.param)
    cluster = open_engine(address, INDEX)
    assert isinstance(cluster, ClusterEngine)
    cluster.create()
    yield cluster
    cluster.close()
    remove_indices(address, INDEX)


def decide(cluster: ClusterEngine, verdict: Verdict) -> None:
    word = Override((INDEX, "a"), (INDEX, "b"), verdict)
    cluster.put_records("overrides", {word.key: word.as_record()})


def decided(cluster: ClusterEngine) -> list[Verdict]:
    return [word.verdict for word in load_overrides(cluster)]


@contextmanager
def unheard() -> Iterator[list[tuple[ClusterClient, Sequence[Action]]]]:
    """Hold back what is sent, as a node does that nobody hears; nothing answers."""
    late: list[tuple[ClusterClient, Sequence[Action]]] = []

    def lost(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        late.append((cluster, actions))
        raise Unavailable("it did not answer in time", "")

    with patch.object(client, "run", lost), pytest.raises(Unavailable):
        yield late


LEDGERS: Sequence[Ledger] = ("overrides", "presets", "dead")


@pytest.mark.parametrize("ledger", LEDGERS[:2])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_decision_that_is_carried_out_late_undoes_no_later_one(
    cluster: ClusterEngine, ledger: Ledger, before: int
) -> None:
    for at in range(before):
        cluster.put_records(ledger, {"mine": {"at": at}})
    with unheard() as late:
        cluster.put_records(ledger, {"mine": {"at": 7}})
    for at in (7, 8):
        cluster.put_records(ledger, {"mine": {"at": at}})
    assert [outcome.status for outcome in run(*late[0])] == [CONFLICT]
    assert cluster.get_record(ledger, "mine") == {"at": 8}


def test_a_removal_that_is_carried_out_late_removes_no_later_record(cluster: ClusterEngine) -> None:
    for ledger in LEDGERS:
        cluster.put_records(ledger, {"mine": {"at": 1}})
        with unheard() as late:
            cluster.delete_records(ledger, ["mine"])
        assert cluster.delete_records(ledger, ["mine", "never"]) == 1
        cluster.put_records(ledger, {"mine": {"at": 2}})
        assert [outcome.status for outcome in run(*late[0])] == [CONFLICT]
        assert cluster.get_record(ledger, "mine") == {"at": 2}


def test_a_record_that_others_write_while_it_is_removed_is_removed_all_the_same(cluster: ClusterEngine) -> None:
    writes = [{"at": 2}, {"at": 3}]

    def meanwhile(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        if writes:
            run(cluster, [Action("index", actions[0].index, actions[0].id, orjson.dumps({"entry": writes.pop()}))])
        return run(cluster, actions)

    cluster.put_records("dead", {"mine": {"at": 1}, "other": {"at": 1}})
    with patch.object(client, "run", meanwhile):
        assert cluster.delete_records("dead", ["mine", "other"]) == 2
    assert not writes
    assert list(cluster.get_records("dead")) == []


def test_a_decision_that_was_carried_out_though_it_was_not_answered_is_in_the_way_of_none(
    cluster: ClusterEngine,
) -> None:
    def unanswered(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        run(cluster, actions)
        raise Unavailable("it did not answer in time", "")

    with patch.object(client, "run", unanswered), pytest.raises(Unavailable):
        decide(cluster, "not")
    decide(cluster, "same")
    assert decided(cluster) == ["same"]


KEY = "run/a"


def test_each_write_stands_in_place_of_the_last(engine: Engine) -> None:
    record = OwnRecord(engine, "runs", KEY)
    for at in (1, 2, 1):
        record.write({"at": at})
        assert engine.get_record("runs", KEY) == {"at": at}


def test_another_process_goes_on_with_the_record_that_is_there_and_makes_one_that_was_removed_again(
    engine: Engine,
) -> None:
    for at in (1, 2):
        record = OwnRecord(engine, "runs", KEY)
        record.write({"at": at})
    assert engine.get_record("runs", KEY) == {"at": 2}
    engine.delete_records("runs", [KEY])
    record.write({"at": 3})
    assert engine.get_record("runs", KEY) == {"at": 3}


def test_a_request_that_is_carried_out_late_undoes_nothing(engine: Engine) -> None:
    late: list[Any] = []
    replace = type(engine).replace_record

    def lost(*request: Any) -> None:
        late.append(request)
        raise Unavailable("it did not answer in time", "")

    record = OwnRecord(engine, "runs", KEY)
    record.write({"at": 1})
    with patch.object(type(engine), "replace_record", lost), pytest.raises(Unavailable):
        record.write({"at": 2})
    record.write({"at": 2})
    record.write({"at": 3})
    assert replace(*late[0]) is None
    assert engine.get_record("runs", KEY) == {"at": 3}


def test_a_request_that_was_carried_out_though_it_did_not_answer_is_in_the_way_of_none(engine: Engine) -> None:
    replace = type(engine).replace_record

    def unanswered(*request: Any) -> None:
        replace(*request)
        raise Unavailable("it did not answer in time", "")

    record = OwnRecord(engine, "runs", KEY)
    with patch.object(type(engine), "replace_record", unanswered), pytest.raises(Unavailable):
        record.write({"at": 1})
    record.write({"at": 2})
    assert engine.get_record("runs", KEY) == {"at": 2}


def test_a_record_that_others_write_all_the_time_is_given_up(engine: Engine) -> None:
    requests: list[Any] = []
    with (
        patch.object(type(engine), "replace_record", lambda *request: requests.append(request)),
        pytest.raises(Unavailable, match="constantly changed by others"),
    ):
        OwnRecord(engine, "runs", KEY).write({"at": 1})
    assert len(requests) == ATTEMPTS
