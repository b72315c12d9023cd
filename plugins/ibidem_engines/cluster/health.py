"""Health of an index in a cluster: red shards, blocks, full disks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.requests import ApiRequest, answer_to, in_path
from ibidem_engines.disk import disk_issue, is_full
from ibidem_engines.engine import HealthIssue

PASSED_OVER = (403, 404, 400)
"""Statuses of those who may not look, and of servers that do not know what is asked."""

_SETTINGS = "*.settings.index.uuid,*.settings.index.blocks"

BLOCKS = {
    "read_only_allow_delete": (
        "is read-only, since the server's disk was almost full (flood stage)",
        "make room on its disk; it opens the index again by itself",
    ),
    "read_only": ("is read-only", "set index.blocks.read_only to null"),
    "write": ("is closed to writing", "set index.blocks.write to null"),
}


def of_cluster(cluster: ClusterClient, index: str) -> Iterator[HealthIssue]:
    """Look at the shards and blocks of an index and at the disks; what the user may not look at is passed over."""
    names = f"{in_path(index)},{in_path(index)}-ibidem-*"
    parameters = {"filter_path": _SETTINGS, "expand_wildcards": "all", "ignore_unavailable": "true"}
    there = _asked(cluster, f"/{names}/_settings", parameters)
    if there:
        yield from _of_shards(cluster, sorted(there))
    yield from _of_blocks(there)
    yield from _of_disks(cluster)


def _of_shards(cluster: ClusterClient, names: Iterable[str]) -> Iterator[HealthIssue]:
    path = f"/_cluster/health/{','.join(map(in_path, names))}"
    answer = _asked(cluster, path, {"level": "indices"}).get("indices", {})
    for name, each in sorted(answer.items()):
        if each["status"] == "red":
            yield HealthIssue(
                "shards",
                f"index {name!r} is red: {each['unassigned_shards']} of its shards are nowhere{_why(cluster, name)}",
                "bring back the node that holds them, or restore the index from a snapshot",
                stops=True,
            )


def _why(cluster: ClusterClient, index: str) -> str:
    """Ask the server why the first shard of an index is on no node."""
    body = {"index": index, "shard": 0, "primary": True}
    request = ApiRequest("POST", "/_cluster/allocation/explain", body=body, passed_over=PASSED_OVER)
    answer = cluster.hold(answer_to(request))
    info = answer.get("unassigned_info", {})
    said = [
        info.get("reason", ""),
        str(info.get("details", "")).partition("\n")[0],
        answer.get("allocate_explanation", ""),
    ]
    return "".join(f"; {each}" for each in said if each)


def _of_blocks(there: Mapping[str, Any]) -> Iterator[HealthIssue]:
    for name, each in sorted(there.items()):
        blocks = each["settings"]["index"].get("blocks", {})
        for block, (what, remedy) in BLOCKS.items():
            if str(blocks.get(block, "false")) == "true":
                yield HealthIssue("blocks", f"index {name!r} {what}", remedy)


def _of_disks(cluster: ClusterClient) -> Iterator[HealthIssue]:
    if not _watched(cluster):
        return
    answer = _asked(cluster, "/_nodes/stats/fs", {"filter_path": "nodes.*.name,nodes.*.fs.total"})
    for node in answer.get("nodes", {}).values():
        disk = node.get("fs", {}).get("total", {})
        if (size := disk.get("total_in_bytes", 0)) and is_full(size, disk.get("available_in_bytes", size)):
            yield disk_issue(f"the disk of node {node.get('name', '')!r}", size, disk["available_in_bytes"])


def _watched(cluster: ClusterClient) -> bool:
    """Return whether the server looks at its disks; where it does not, a full one closes no index."""
    name = "cluster.routing.allocation.disk.threshold_enabled"
    answer = _asked(cluster, "/_cluster/settings", {"include_defaults": "true", "flat_settings": "true"})
    given = [answer.get(kind, {}).get(name) for kind in ("transient", "persistent", "defaults")]
    return next((str(each) for each in given if each is not None), "true") == "true"


def _asked(cluster: ClusterClient, path: str, params: Mapping[str, str]) -> Any:
    return cluster.hold(answer_to(ApiRequest("GET", path, params, passed_over=PASSED_OVER)))
