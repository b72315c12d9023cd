"""Depth of a kNN search, raised to the size of the window to group.

A kNN search finds only as many neighbours as its `k` names, ten where it names none: with copies among them, too few
for a page. It is asked for the whole window instead, and the account names what was raised.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_ingest.errors import UsageError, short_repr

NEIGHBOURS = frozenset(("knn", "neural"))  # queries for the nearest by a vector

HOLDERS: Mapping[str, Sequence[str]] = {
    "bool": ("must", "should"),
    "boosting": ("positive",),
    "constant_score": ("filter",),
    "dis_max": ("queries",),
    "function_score": ("query",),
    "nested": ("query",),
    "script_score": ("query",),
}
"""Compound queries, and the keys of their sub-queries.

Conditions (`filter` and `must_not` of `bool`) are left as they are: with another `k` they would let other hits through.
"""

DEFAULT = 10  # neighbours that a search without `k` finds


@dataclass(slots=True)
class Depth:
    """The depth that a search needs, and the values that were raised to reach it."""

    hits: int  # hits that are grouped at least
    raised: list[Json] = field(default_factory=list)  # the raised values, as the account shows them

    def nearest(self, knn: Mapping[str, Any], path: str) -> Json:
        """Make a kNN search find enough neighbours."""
        found = self._raise(knn, "k", path, self.hits)
        if "num_candidates" in knn:
            found = self._raise(found, "num_candidates", path, found["k"])
        return found

    def several(self, knn: Any) -> Json | list[Json]:
        """Make a kNN search, or each search in a list, find enough neighbours."""
        if isinstance(knn, Mapping):
            return self.nearest(knn, "knn")
        if not isinstance(knn, list | tuple):
            raise UsageError(
                f"knn={short_repr(knn)} is not a search for nearest neighbours",
                "write a JSON object, or a list of them",
            )
        if strangers := [at for at, each in enumerate(knn) if not isinstance(each, Mapping)]:
            raise UsageError(
                f"knn[{strangers[0]}]={short_repr(knn[strangers[0]])} is not a search for nearest neighbours",
                "write a JSON object with field, query_vector and k",
            )
        return [self.nearest(each, _place("knn", at, knn)) for at, each in enumerate(knn)]

    def query(self, query: Any, path: str = "query") -> Any:
        """Make a kNN query, also a nested one, find enough neighbours."""
        if not isinstance(query, Mapping) or len(query) != 1:
            return query
        kind, parts = next(iter(query.items()))
        path = f"{path}.{kind}"
        if kind in NEIGHBOURS and isinstance(parts, Mapping):
            if isinstance(parts.get("field"), str):  # as Elasticsearch writes it; OpenSearch names the field by a key
                return {kind: self.nearest(parts, path)}
            return {kind: {name: self._by_field(each, f"{path}.{name}") for name, each in parts.items()}}
        if kind in HOLDERS and isinstance(parts, Mapping):
            held = {name: self._held(parts[name], f"{path}.{name}") for name in HOLDERS[kind] if name in parts}
            return {kind: {**parts, **held}}
        return query

    def _held(self, queries: Any, path: str) -> Any:
        """Deepen a nested query, or each query in a list."""
        if isinstance(queries, list | tuple):
            return [self.query(each, f"{path}[{at}]") for at, each in enumerate(queries)]
        return self.query(queries, path)

    def _by_field(self, parts: Any, path: str) -> Any:
        """Deepen OpenSearch's kNN clause under a field name; a radial search already finds all matches."""
        is_counted = isinstance(parts, Mapping) and not parts.keys() & {"min_score", "max_distance"}
        return self.nearest(parts, path) if is_counted else parts

    def _raise(self, parts: Mapping[str, Any], name: str, path: str, minimum: int) -> Json:
        """Raise a number in a part, if it is too small or missing."""
        value = parts.get(name, DEFAULT)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_WINDOW:
            raise UsageError(
                f"{path}.{name}={short_repr(value)} is not valid", f"allowed: an integer from 1 to {MAX_WINDOW:,}"
            )
        if name in parts and value >= minimum:
            return {**parts}
        used = max(value, minimum)
        self.raised.append({"part": f"{path}.{name}", "asked": parts.get(name), "used": used, "limit": MAX_WINDOW})
        return {**parts, name: used}


def _place(path: str, at: int, parts: Sequence[Any]) -> str:
    """Return the path of one of several parts; a single part is named without an index, as by the engine."""
    return path if len(parts) == 1 else f"{path}[{at}]"


def deepen(body: Mapping[str, Any], window: int) -> tuple[Json, Sequence[Json]]:
    """Make the ranking of a body as deep as a window.

    >>> body = {"knn": {"field": "place", "query_vector": [1.0], "k": 10}}
    >>> deepen(body, 100)[1]
    [{'part': 'knn.k', 'asked': 10, 'used': 100, 'limit': 10000}]
    """
    depth = Depth(window)
    found = dict(body)
    if "query" in body:
        found["query"] = depth.query(body["query"])
    if body.get("knn") is not None:
        found["knn"] = depth.several(body["knn"])
    return found, depth.raised


def grows(ranking: Mapping[str, Any]) -> bool:
    """Return whether a greater depth only appends hits: only for a single kNN search without other queries.

    >>> grows({"knn": {"field": "place"}}), grows({"knn": {"field": "place"}, "query": {"match_all": {}}})
    (True, False)
    """
    knn, query = ranking.get("knn"), ranking.get("query")
    if ranking.get("sort"):
        return False
    if knn:
        return not query and (isinstance(knn, Mapping) or len(knn) == 1)
    return isinstance(query, Mapping) and bool(query.keys() & NEIGHBOURS)


def join_raised(before: Sequence[Json], after: Sequence[Json]) -> Sequence[Json]:
    """Merge values that were raised twice: the requested and the final value."""
    asked = {each["part"]: each["asked"] for each in before}
    again = {each["part"]: {**each, "asked": asked.get(each["part"], each["asked"])} for each in after}
    return [*({each["part"]: each for each in before} | again).values()]


def raised_depths(raised: Sequence[Json]) -> Json:
    """Return the raised depths for the account; empty if none was raised."""
    return {"raised": [*raised]} if raised else {}


def nothing_near(ranking: Mapping[str, Any], total: int) -> Json:
    """Return the advice for a kNN search without results.

    >>> nothing_near({"knn": {"field": "place", "query_vector": [1.0]}}, 0)
    {'remedy': 'check whether documents have vectors in place, and pass the filters of knn'}
    """
    knn = ranking.get("knn")
    if total or not knn:
        return {}
    fields = [str(each.get("field")) for each in ([knn] if isinstance(knn, Mapping) else knn)]
    return {"remedy": f"check whether documents have vectors in {', '.join(fields)}, and pass the filters of knn"}
