"""What the plugin inside a cluster is asked for, and its account as the layer would have written it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ibidem.dedupe.parameters import PRESETS
from ibidem.dedupe.request import DedupeRequest, asks_for_stored_preset
from ibidem.grouped_search.facets import MOST, Counted, Facets
from ibidem.grouped_search.response import Json
from ibidem.grouped_search.stats import mixed
from ibidem_ingest.pairs.decision import Policy

SIMILARITY = "dedupe_similarity"
PRESET = "dedupe_preset"
APART = frozenset(("tables", "facets"))
"""Parts of the plugin's account that the layer's has not."""


def decides(request: DedupeRequest) -> bool:
    """Return whether the plugin groups as this request wants it: by figures that it can be told, and a window."""
    window = request.by == "window" and request.scope == "window"
    return window and request.mode != "off" and knows_figures(request)


def knows_figures(request: DedupeRequest) -> bool:
    """Return whether the plugin takes the same figures from a request; a preset of the index it reads itself."""
    if asks_for_stored_preset(request):
        return PRESET in dict(request.figures)
    return named_policy(request) == request.policy


def named_policy(request: DedupeRequest) -> Policy:
    """Return the figures that the plugin takes from a request's names."""
    base = PRESETS[request.preset].policy if request.preset in PRESETS else Policy()
    similarity = dict(request.figures).get(SIMILARITY)
    base = base if similarity is None else base.similar(int(similarity))
    return base.at(request.level).within(request.policy.window_days)


def plugin_request(request: DedupeRequest) -> Json:
    """Write what is asked of groups as the plugin reads it."""
    given: Json = {
        "dedupe": request.mode,
        "level": request.level,
        "keep": str(request.keep),
        "window": request.window,
        "window_days": "none" if request.policy.window_days is None else request.policy.window_days,
        "explain": request.explain,
    }
    if (similarity := dict(request.figures).get(SIMILARITY)) is not None:
        given["similarity"] = int(similarity)
    given |= {} if request.max_per_group is None else {"max_per_group": request.max_per_group}
    return given | ({"preset": request.preset} if request.preset else {})


def is_read_as_here(account: Mapping[str, Any], request: DedupeRequest, size: int) -> bool:
    """Return whether the layer would read the same hits: it leaves out copies where the first step fills no page."""
    documents = account["documents"]
    filled = account["groups"]["on_page"] == size
    return documents["in_window"] <= request.window and (filled or not documents["beyond_window"])


def read_facets(account: Mapping[str, Any]) -> Facets:
    """Read what the plugin counted of the window by source, idf table and year."""
    counted = account.get("facets", {"sources": (), "tables": (), "years": ()})

    def named(facets: Sequence[Mapping[str, Any]]) -> list[Counted]:
        return [((each["index"], each["id"]), each["documents"], each["groups"]) for each in facets]

    years = [(each["year"], each["documents"], each["groups"]) for each in counted["years"]]
    return Facets(named(counted["sources"][:MOST]), named(counted["tables"]), years)


def with_current_tables(account: Json, current: Collection[str]) -> Json:
    """Count the documents of other idf tables than the current ones, from those that the plugin names."""
    tables: Mapping[str, int] = account["tables"]
    names = Counter({int.from_bytes(bytes.fromhex(name), "little"): count for name, count in tables.items()})
    left = {name: value for name, value in account.items() if name not in APART}
    return left | {"mixed_tables": mixed(names, current)}
