"""A manual decision is as it was said last, whatever a node carries out late."""

import os
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import pytest

from ibidem_core.errors import Unavailable
from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.cluster import records
from ibidem_engines.cluster.bulk import CONFLICT, Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.connect import open_engine
from ibidem_engines.own_record import ATTEMPTS
from ibidem_engines.stored_overrides import load_overrides
from servers.indices import remove_indices

SCHEMES = [pytest.param(each, marks=pytest.mark.server(each)) for each in ("opensearch", "elasticsearch")]
INDEX = f"decisions-{os.getpid()}"


@pytest.fixture(params=SCHEMES)
def engine(request: pytest.FixtureRequest) -> Iterator[ClusterEngine]:
    address: str = request.getfixturevalue(request.param)
    engine = open_engine(address, INDEX)
    assert isinstance(engine, ClusterEngine)
    engine.create()
    yield engine
    engine.close()
    remove_indices(address, INDEX)


def decide(engine: ClusterEngine, verdict: Verdict) -> None:
    word = Override((INDEX, "a"), (INDEX, "b"), verdict)
    engine.put_records("overrides", {word.key: word.as_record()})


def decided(engine: ClusterEngine) -> list[Verdict]:
    return [word.verdict for word in load_overrides(engine)]


@pytest.mark.parametrize("before", [(), ("not",), ("not", "same")])
def test_a_decision_that_is_carried_out_late_undoes_no_later_one(
    engine: ClusterEngine, before: Sequence[Verdict]
) -> None:
    late: list[tuple[ClusterClient, Sequence[Action]]] = []

    def lost(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        late.append((cluster, actions))
        raise Unavailable("it did not answer in time", "")

    for each in before:
        decide(engine, each)
    with patch.object(records, "run", lost), pytest.raises(Unavailable):
        decide(engine, "not")
    decide(engine, "not")
    decide(engine, "same")
    assert [outcome.status for outcome in run(*late[0])] == [CONFLICT]
    assert decided(engine) == ["same"]


def test_a_decision_that_was_carried_out_though_it_was_not_answered_is_in_the_way_of_none(
    engine: ClusterEngine,
) -> None:
    def unanswered(cluster: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        run(cluster, actions)
        raise Unavailable("it did not answer in time", "")

    with patch.object(records, "run", unanswered), pytest.raises(Unavailable):
        decide(engine, "not")
    decide(engine, "same")
    assert decided(engine) == ["same"]


def test_a_decision_that_others_write_all_the_time_is_given_up(engine: ClusterEngine) -> None:
    tries = []

    def conflict(_: ClusterClient, actions: Sequence[Action]) -> list[ActionOutcome]:
        tries.append(actions)
        return [ActionOutcome(CONFLICT) for _ in actions]

    with patch.object(records, "run", conflict), pytest.raises(Unavailable, match="written by others all the time"):
        decide(engine, "not")
    assert len(tries) == ATTEMPTS
