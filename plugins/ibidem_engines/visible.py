"""Making writes visible to searches, and noticing where a part of an index was not there to do so.

A server answers 200 to a refresh in which a primary shard took no part, and counts it neither as done nor as failed. It
counts copies that no node holds in the same way, and those are no trouble. So where fewer took part than there should
be, the health of the index tells which of the two it is.
"""

from collections.abc import Mapping
from typing import Any

from ibidem_engines.exchange import Ask, answer_to
from ibidem_engines.faults import Failure, judged
from ibidem_engines.target import in_path
from ibidem_engines.wire import Cluster

HIDDEN = (403, 404)
"""Statuses of those who may not look at the health, and of an index that is not there."""

HEALTH = "status,active_shards"


def make_visible(cluster: Cluster, indices: str, /, **params: str) -> None:
    """Let searches find all that was written.

    Args:
        cluster: The cluster.
        indices: Names, parted by commas.
        params: Of the query string, such as whether one of them may be missing.

    Raises:
        Unavailable: A part of an index is not there.
    """
    for _ in range(2):  # once more when a shard came back between the two answers
        told = cluster.ask("POST", f"/{in_path(indices)}/_refresh", **params)["_shards"]
        if told["failed"]:
            raise _unseen(cluster, indices, told)
        if told["successful"] == told["total"]:
            return
        health = _health(cluster, indices)
        if health.get("status") == "red":
            raise _unseen(cluster, indices, told)
        if told["successful"] >= health.get("active_shards", 0):
            return


def _health(cluster: Cluster, indices: str) -> Mapping[str, Any]:
    asked = Ask("GET", f"/_cluster/health/{in_path(indices)}", {"filter_path": HEALTH}, passed_over=HIDDEN)
    told: Mapping[str, Any] = cluster.hold(answer_to(asked))
    return told


def _unseen(cluster: Cluster, indices: str, told: Mapping[str, Any]) -> Exception:
    some = f"{told['successful']} of {told['total']} shards of {indices!r} made visible what was written"
    failure = Failure(503, "unavailable_shards_exception", some)
    error = judged(failure, cluster.shown)
    error.__cause__ = failure
    return error
