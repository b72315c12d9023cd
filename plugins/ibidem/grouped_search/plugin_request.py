"""Grouped search by the plugin inside the cluster: its request, and its account in the layer's format.

It takes the place of the layer where every node has the plugin and it does what is asked. The plugin answers as the
layer does (`tests/plugin` holds it to that), in one request and a fraction of the time.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ibidem.grouped_search.response import Json
from ibidem.grouped_search.stats import MAX_SOURCES, FacetBucket, Facets, count_others
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import DedupeRequest, asks_for_stored_preset

SIMILARITY = "dedupe_similarity"
APART = frozenset(("tables", "facets"))  # parts of the plugin's account that the layer's has not


def decides(request: DedupeRequest) -> bool:
    """Return whether the plugin can group this request: by figures that it supports, and in a window.

    The current version, passages, threads and works it leaves to the library: it reads no titles, texts or memberships.
    """
    is_plain = request.passages is None and not request.membership
    window = request.by == "window" and request.scope == "window" and is_plain
    return window and request.mode != "off" and request.keep.by != "current" and knows_figures(request)


def knows_figures(request: DedupeRequest) -> bool:
    """Return whether the plugin supports the figures of a request: those of no stored preset, and no parts of texts."""
    if request.level == "partial" or asks_for_stored_preset(request):
        return False
    return plugin_policy(request) == request.policy


def plugin_policy(request: DedupeRequest) -> Policy:
    """Return the policy that the plugin reads from a request's parameters."""
    base = PRESETS[request.preset].policy if request.preset in PRESETS else Policy()
    similarity = dict(request.figures).get(SIMILARITY)
    base = base if similarity is None else base.similar(int(similarity))
    return base.at(request.policy.level).within(request.policy.window_days)


def plugin_request(request: DedupeRequest) -> Json:
    """Serialize a dedupe request for the plugin."""
    parameters: Json = {
        "dedupe": request.mode,
        "level": request.level,
        "keep": str(request.keep),
        "window": request.window,
        "window_days": "none" if request.policy.window_days is None else request.policy.window_days,
        "explain": request.explain,
    }
    if (similarity := dict(request.figures).get(SIMILARITY)) is not None:
        parameters["similarity"] = int(similarity)
    parameters |= {} if request.max_per_group is None else {"max_per_group": request.max_per_group}
    return parameters | ({"preset": request.preset} if request.preset else {})


def is_read_as_here(account: Mapping[str, Any], request: DedupeRequest, size: int) -> bool:
    """Return whether the layer would read the same hits; it omits copies if the first step fills no page."""
    documents = account["documents"]
    is_full = account["groups"]["on_page"] == size
    return documents["in_window"] <= request.window and (is_full or not documents["beyond_window"])


def read_facets(account: Mapping[str, Any]) -> Facets:
    """Read the plugin's counts of the window by source, idf table and year."""
    counts = account.get("facets", {"sources": (), "tables": (), "years": ()})

    def to_counts(facets: Sequence[Mapping[str, Any]]) -> list[FacetBucket]:
        """Read the counts of one facet."""
        return [((each["index"], each["id"]), each["documents"], each["groups"]) for each in facets]

    years = [(each["year"], each["documents"], each["groups"]) for each in counts["years"]]
    return Facets(to_counts(counts["sources"][:MAX_SOURCES]), to_counts(counts["tables"]), years)


def with_current_tables(account: Json, current: Collection[str]) -> Json:
    """Add the number of documents with outdated idf tables to the plugin's account."""
    tables: Mapping[str, int] = account["tables"]
    names = Counter({int.from_bytes(bytes.fromhex(name), "little"): count for name, count in tables.items()})
    facts = {name: value for name, value in account.items() if name not in APART}
    facts |= {"grouper": account.get("grouper", account["by"])}
    return facts | {"mixed_tables": count_others(names, current)}
