"""Plugin inside the cluster: which nodes have it, and a search that it groups."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

from ibidem_core.address import Fields
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import GroupedHits, PluginNode
from ibidem_engines.query import Query
from ibidem_engines.requests import ApiRequest, RequestFlow
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import UsageError

Mode = Literal["auto", "off"]
VARIABLE = "IBIDEM_PLUGIN"
NAME = "ibidem"
NO_ACCESS = (401, 403, 404)
NODES = ApiRequest(
    "GET",
    "/_nodes/plugins",
    {"filter_path": ",".join(f"nodes.*.{part}" for part in ("name", "version", "plugins.name", "plugins.version"))},
    ok_statuses=NO_ACCESS,
)


def mode() -> Mode:
    """Read the setting of the plugin."""
    value = os.environ.get(VARIABLE, "auto")
    for word in get_args(Mode):
        if value == word:
            return word  # type: ignore[no-any-return] # one of the two
    raise UsageError(f"{VARIABLE}={value!r} is not valid", f"allowed: {', '.join(get_args(Mode))}")


def plugin_nodes() -> RequestFlow[list[PluginNode]]:
    """List the nodes with their plugins; empty without the right to see them."""
    return read_nodes((yield NODES))


def read_nodes(answer: Mapping[str, Any]) -> list[PluginNode]:
    """Return the plugin of each node, ordered by node name.

    >>> read_nodes({"nodes": {"a": {"name": "one", "version": "3.8.0", "plugins": [{"name": "x", "version": "1"}]}}})
    [PluginNode(name='one', engine='3.8.0', plugin='')]
    """
    return sorted(
        (
            PluginNode(
                node["name"],
                node.get("version", ""),
                next((each["version"] for each in node.get("plugins", ()) if each["name"] == NAME), ""),
            )
            for node in answer.get("nodes", {}).values()
        ),
        key=lambda each: each.name,
    )


def has_same_plugin(nodes: list[PluginNode]) -> bool:
    """Return whether every node has this version of the plugin, since other versions may decide differently."""
    own_version = installed_version()
    return bool(nodes) and all(each.plugin == own_version for each in nodes)


def iterate_hits(hits: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the hits of a list, including those inside its leads."""
    for hit in hits:
        yield hit
        yield from hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())


def pop_account(answer: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the plugin's account from a response: in `ext` on OpenSearch, else at the top level."""
    account: dict[str, Any] = answer.pop("ext", {}).get(NAME) or answer.pop("dedupe")
    return account


def read_grouped(answer: dict[str, Any], fields: Fields, words: Query | None, view: ReadView) -> GroupedHits:
    """Parse a page grouped by the plugin."""
    hits = answer["hits"]["hits"]
    documents = {
        (hit["_index"], hit["_id"]): to_stored_document(hit, fields, words)
        for hit in iterate_hits(hits)
        if "_source" in hit
    }
    best, total = answer["hits"]["max_score"], answer["hits"]["total"]["value"]
    return GroupedHits(hits, documents, pop_account(answer), total, best, view)
