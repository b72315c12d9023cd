"""Search in the query DSL, split into the ranking, the aggregations and the display of hits."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from xxhash import xxh3_64_hexdigest, xxh3_128_hexdigest

from ibidem.grouped_search.dsl.depth import deepen, join_raised
from ibidem.grouped_search.dsl.parts import PARTS, Role, check_combinations, read_integer, read_parts, ungrouped_note
from ibidem.grouped_search.response import Json
from ibidem.grouped_search.scope import check_scope
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cluster.dsl import ALL, Clause
from ibidem_engines.requests import Target
from ibidem_ingest.errors import UsageError

# Parts that decide which documents match; they may ask for inner hits, which are shown.
MATCHING = frozenset(("query", "knn", "post_filter"))

# Members beside which `inner_hits` are a request, and no name of a field.
JOINING = frozenset(("query", "type", "query_vector", "query_vector_builder"))


@dataclass(frozen=True, slots=True)
class DslSearch:
    """One validated search."""

    target: Target  # the indexes, or a point in time
    ranking: Mapping[str, Any]  # parts of the body that decide on matches and their order
    aggregations: Mapping[str, Any]  # by name; they are answered next to the hits
    display: Mapping[str, Any]  # parts that say how a hit is shown
    request: DedupeRequest  # how to group and show
    start: int  # how many groups come before the page
    size: int  # groups on a page
    tables: Collection[str] = ()  # names of the current idf tables, if known
    counts: bool = False  # whether the groups of all matches are counted
    raised: Sequence[Json] = ()  # depths of `knn` that were raised, for the account
    note: str = ""  # why the engine's own answer is given, without groups; `ranking` is then the whole body

    def deepen(self, hits: int) -> "DslSearch":
        """Return the search with a ranking of at least `size` hits."""
        ranking, raised = deepen(self.ranking, hits)
        display, _ = deepen(self.display, hits)
        return replace(self, ranking=ranking, display=display, raised=join_raised(self.raised, raised))

    @property
    def digest(self) -> str:
        """Hash of what determines the ranking."""
        parts = {**self.ranking, **self.target.parts, "routing": self.target.params.get("routing", "")}
        return xxh3_128_hexdigest(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str))

    @property
    def joins(self) -> bool:
        """Whether hits contain others (`inner_hits`), which the ranking leaves out."""
        return any(self.ranking.get(name) != self.display.get(name) for name in MATCHING)

    @property
    def clause(self) -> Clause:
        """Clause that matches the same documents: the query and the post filter."""
        parts = [self.ranking[name] for name in ("query", "post_filter") if self.ranking.get(name)]
        return {"bool": {"filter": parts}} if parts else ALL


def read_search(
    index: str, body: Mapping[str, Any] | None, arguments: Mapping[str, Any], request: DedupeRequest
) -> DslSearch:
    """Read a search from its body and its query string, or a client's arguments; see `read_parts`.

    >>> read_search("news", {"query": {"match": {"text": "wheat"}}, "from": 10}, {}, DedupeRequest("indent")).start
    10
    """
    parts, params = read_parts(body or {}, arguments)
    check_combinations(index, parts, request)
    if note := ungrouped_note(parts):
        return DslSearch(Target(index, params=params), parts, {}, {}, request, 0, 0, note=note)
    parts, raised = deepen(parts, max(request.window, read_integer(parts, "size", 10)))
    start, size = read_integer(parts, "from", 0, sys.maxsize), read_integer(parts, "size", 10)
    ranking = _select(parts, "ranking")
    ranking |= {name: drop_inner_hits(ranking[name]) for name in MATCHING & ranking.keys()}
    if "preference" not in params and "pit" not in parts:
        # The same ranking is asked of the same copies of the shards, so that its pages agree.
        params["preference"] = xxh3_64_hexdigest(repr(ranking).encode())
    runtime = {name: parts[name] for name in ("runtime_mappings",) if name in parts}
    search = DslSearch(
        Target(index, parts.get("pit"), params, runtime),
        ranking,
        {name: each for part in _select(parts, "aggregations") for name, each in object_member(parts, part).items()},
        _select(parts, "display") | {name: parts[name] for name in parts if name in MATCHING},
        request,
        start,
        size,
        raised=raised,
        counts=parts.get("track_total_hits") is True,
    )
    check_scope(request)
    return search


def object_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part that is an object of named parts."""
    part = body.get(name) or {}
    if not isinstance(part, Mapping):
        raise UsageError(f"{name} is not a JSON object", "write {'name': {'terms': {'field': …}}}")
    return part


def drop_inner_hits(part: Any) -> Any:
    """Remove a query's inner hits; they are requested for the documents of the page only."""
    if isinstance(part, list):
        return [drop_inner_hits(each) for each in part]
    if not isinstance(part, Mapping):
        return part
    return {
        name: drop_inner_hits(each)
        for name, each in part.items()
        if not (name == "inner_hits" and part.keys() & JOINING)
    }


def _select(parts: Mapping[str, Any], role: Role) -> Json:
    return {name: part for name, part in parts.items() if PARTS[name] == role}
