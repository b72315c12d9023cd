"""Searches in a cluster in trouble are counted when they are whole, and whatever else they are is named."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nodes.searches import INDEX, Searches, found
from servers.fake_server import Answer, Request, between
from servers.nodes import NAMES

pytestmark = pytest.mark.slow

HITS: list[dict[str, Any]] = [{"_id": f"d{number}", "_dedupe": {"level": None}} for number in range(3)]


@dataclass(frozen=True)
class Engine:
    """An engine whose answers are given."""

    hits: list[dict[str, Any]] | None  # of each search; None where searches fail
    tasks: tuple[str, ...] = ()  # searches that run
    counted: int = 0  # bytes of memory that the plugin has counted
    cancelled: int = 0  # searches that are there to be cancelled

    def answer(self, request: Request) -> Answer:
        """Answer as one node does."""
        if request.path.startswith("/_tasks/_cancel"):
            return Answer(200, {"nodes": {"one": {"tasks": {key: {} for key in range(self.cancelled)}}}})
        if request.path.startswith("/_tasks"):
            return Answer(200, {"tasks": self.tasks})
        if request.path.startswith("/_nodes"):
            breakers = {"ibidem": {"estimated_size_in_bytes": self.counted}}
            return Answer(200, {"nodes": {"one": {"name": "one", "breakers": breakers}}})
        assert request.path == f"/{INDEX}/_search"
        return Answer(503) if self.hits is None else Answer(200, {"hits": {"hits": self.hits}})


@dataclass(frozen=True)
class OneNode:
    """A cluster of one node that has the names of three."""

    address: str

    def address_of(self, _: str) -> str:
        """The node."""
        return self.address


@contextmanager
def cluster(engine: Engine) -> Iterator[OneNode]:
    """Let an engine answer."""
    with between(plan=engine.answer) as front:
        yield OneNode(front.address("opensearch"))


def faults(engine: Engine, *, cancels: bool = False) -> list[str]:
    """Search until every node has answered, or none does; returns what is named."""
    with cluster(Engine(HITS)) as whole:
        expected = found(whole.address)
    with cluster(engine) as nodes:
        searches = Searches(nodes, expected, cancels=cancels, patience=3.0, leaves=0.5)
        searches.start()
        return searches.finish()


WELL = Engine(HITS, cancelled=1)


def test_nothing_is_named_where_all_is_well() -> None:
    assert faults(WELL, cancels=True) == []


def test_a_node_that_answers_no_more_is_named() -> None:
    assert faults(replace(WELL, hits=None)) == [f"no search at {name} is answered though all is well" for name in NAMES]


@pytest.mark.parametrize("part", [HITS[:2], [], [*HITS[:2], {"_id": "d2", "_dedupe": {"level": "near"}}]])
def test_an_answer_that_is_a_part_or_another_is_named_and_not_counted(part: list[dict[str, Any]]) -> None:
    named = faults(replace(WELL, hits=part))
    assert "is not whole: " + json.dumps([[hit["_id"], hit["_dedupe"]] for hit in part]) in named[0]
    assert "no search at one is answered though all is well" in named


@pytest.mark.parametrize(
    ("left", "message"),
    [
        (replace(WELL, tasks=("search",)), "1 searches run though nobody waits for them"),
        (replace(WELL, counted=7), "7 bytes stay counted at one"),
    ],
)
def test_what_searches_leave_behind_is_named(left: Engine, message: str) -> None:
    assert faults(left) == [message]


def test_a_trial_in_which_no_search_was_cancelled_says_so() -> None:
    assert faults(replace(WELL, cancelled=0), cancels=True) == ["no search was there to be cancelled"]
