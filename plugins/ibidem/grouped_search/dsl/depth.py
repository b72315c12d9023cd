"""Depth of a ranking by kNN or retrievers, raised to the size of the window to group.

Elasticsearch ranks by `knn` and by most retrievers only so many hits as they name themselves (`k`, `num_candidates`,
`rank_window_size`, the `window_size` of a `rescorer`), ten where they name none: with copies among them, too few for a
page. They are asked for the whole window instead. A greater depth may change the scores of `rrf` and `linear`, whose
parts then rank more documents, so one request has one depth, and the account names what was raised.

The retrievers `standard` and `knn` are the parts `query` and `knn` in other words, and are read as these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibidem.grouped_search.dsl.unsupported import refuse
from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_ingest.errors import UsageError, short_repr

# Retrievers that rank what others find, with the member that holds these.
NESTED: Mapping[str, str] = {
    "linear": "retrievers",
    "pinned": "retriever",
    "rescorer": "retriever",
    "rrf": "retrievers",
    "rule": "retriever",
    "text_similarity_reranker": "retriever",
}

WINDOW = "rank_window_size"

NEIGHBOURS = frozenset(("knn", "neural"))  # queries for the nearest by a vector

HOLDERS: Mapping[str, Sequence[str]] = {
    "bool": ("must", "should"),
    "boosting": ("positive",),
    "constant_score": ("filter",),
    "dis_max": ("queries",),
    "function_score": ("query",),
    "hybrid": ("queries",),
    "nested": ("query",),
    "script_score": ("query",),
}
"""Compound queries, and the keys of their sub-queries.

Conditions (`filter` and `must_not` of `bool`) are left as they are: with another `k` they would let other hits through.
"""

PLAIN = frozenset(("standard", "knn"))  # retrievers that rank by themselves

MAX_RETRIEVER_DEPTH = 10  # retrievers inside each other; each runs once more all that is inside it

# Parts of a search that the engine does not take next to a retriever.
APART = frozenset(("query", "knn", "sort", "rescore", "min_score", "sub_searches", "rank", "search_after"))

STANDARD = frozenset(("query", "filter", "sort", "min_score", "_name", "collapse", "search_after", "terminate_after"))
DEFAULT = 10  # depth where a request names none: that of a page, which is as long as `size` is, and of a rescorer


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

    def retriever(self, retriever: Any, path: str, level: int = 1) -> Json:
        """Make a retriever, and those nested in it, rank enough hits."""
        kind, parts = read_retriever(retriever, path, level)
        path = f"{path}.{kind}"
        if kind == "knn":
            return {kind: self.nearest(parts, path)}
        for name in ("collapse", "search_after", "terminate_after"):
            if name in parts:
                refuse(f"{path}.{name}", "hits that it leaves out would be missing from every group", "leave it out")
        if kind == "standard":
            query = {"query": self.query(parts["query"], f"{path}.query")} if "query" in parts else {}
            return {kind: {**parts, **query}}
        member = NESTED[kind]
        parts = self._rescorer(parts, path) if kind == "rescorer" else self._raise(parts, WINDOW, path, self.hits)
        # A nested retriever has to rank as many hits as the one around it.
        inner_depth, inner = Depth(max(window_sizes(kind, parts)), self.raised), parts.get(member)
        if member == "retriever":
            return {kind: parts | {member: inner_depth.retriever(inner, path, level + 1)}}
        if inner is None:  # `fields` and a text, from which the engine makes the retrievers itself
            return {kind: parts}
        if not isinstance(inner, list | tuple):
            raise UsageError(f"{path}.retrievers={short_repr(inner)} is not a list", "write a list of retrievers")
        ranked = [inner_depth._weighted(each, f"{path}.{member}[{at}]", level + 1) for at, each in enumerate(inner)]
        return {kind: parts | {member: ranked}}

    def _rescorer(self, parts: Mapping[str, Any], path: str) -> Json:
        """Deepen a `rescorer`, which ranks as many hits as its smallest window size."""
        rescore = parts.get("rescore")
        if isinstance(rescore, Mapping):
            return {**parts, "rescore": self._raise(rescore, "window_size", f"{path}.rescore", self.hits)}
        if (
            not isinstance(rescore, list | tuple)
            or not rescore
            or not all(isinstance(each, Mapping) for each in rescore)
        ):
            raise UsageError(f"{path}.rescore={short_repr(rescore)} is not a rescorer", "write one, or a list of them")
        windows = [
            self._raise(each, "window_size", _place(f"{path}.rescore", at, rescore), self.hits)
            for at, each in enumerate(rescore)
        ]
        return {**parts, "rescore": windows}

    def _weighted(self, item: Any, path: str, level: int) -> Json:
        """Deepen one of several retrievers, with or without a weight."""
        if isinstance(item, Mapping) and "retriever" in item:
            return {**item, "retriever": self.retriever(item["retriever"], path, level)}
        return self.retriever(item, path, level)

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
    if "retriever" in body:
        found["retriever"] = depth.retriever(body["retriever"], "retriever")
    if body.get("knn") is not None:
        found["knn"] = depth.several(body["knn"])
    return found, depth.raised


def grows(ranking: Mapping[str, Any]) -> bool:
    """Return whether a greater depth only appends hits: only for a single kNN search without other queries.

    >>> grows({"knn": {"field": "place"}}), grows({"knn": {"field": "place"}, "query": {"match_all": {}}})
    (True, False)
    """
    knn, query = ranking.get("knn"), ranking.get("query")
    if ranking.get("sort") or ranking.get("rescore"):
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


def unwrap(body: Mapping[str, Any]) -> Json:
    """Rewrite a single retriever as the equivalent parts of a search.

    >>> unwrap({"retriever": {"standard": {"query": {"match": {"text": "wheat"}}, "min_score": 2}}, "size": 5})
    {'size': 5, 'query': {'match': {'text': 'wheat'}}, 'min_score': 2}
    """
    if "retriever" not in body:
        return dict(body)
    if beside := sorted(body.keys() & APART):
        raise UsageError(
            f"{beside[0]} next to retriever: the engine ranks by one of them",
            "put it into a retriever of the kind standard or knn, or leave the retriever out",
        )
    kind, parts = read_retriever(body["retriever"], "retriever", 1)
    rest = {name: part for name, part in body.items() if name != "retriever"}
    if kind == "standard":
        if unknown := sorted(map(str, parts.keys() - STANDARD)):
            raise UsageError(f"retriever.standard.{unknown[0]} is not known", f"allowed: {', '.join(sorted(STANDARD))}")
        return rest | _standard(parts)
    if kind == "knn":
        minimum = {"min_score": parts["min_score"]} if "min_score" in parts else {}
        return rest | {"knn": {name: part for name, part in parts.items() if name != "min_score"}} | minimum
    return dict(body)


def _standard(parts: Mapping[str, Any]) -> Json:
    """Rewrite a standard retriever as the engine does: filters enclose the query, and the name is dropped."""
    found = {name: part for name, part in parts.items() if name not in ("filter", "_name")}
    if "filter" not in parts:
        return found
    query: Json = {"must": [parts["query"]]} if parts.get("query") else {}
    return found | {"query": {"bool": query | {"filter": parts["filter"]}}}


def read_retriever(retriever: Any, path: str, level: int) -> tuple[str, Mapping[str, Any]]:
    """Return the kind and the parts of a retriever."""
    if level > MAX_RETRIEVER_DEPTH:
        raise UsageError(
            f"retrievers are nested more than {MAX_RETRIEVER_DEPTH} deep", "put them side by side in one rrf or linear"
        )
    allowed = "one of " + ", ".join(kinds())
    if not isinstance(retriever, Mapping) or len(retriever) != 1:
        raise UsageError(
            f"{path}={short_repr(retriever)} is not a retriever", f"write one kind and its parts: {allowed}"
        )
    kind, parts = next(iter(retriever.items()))
    if kind not in kinds():
        refuse(f"the retriever {kind!r}", "ibidem cannot make its ranking longer", f"use {allowed}")
    if not isinstance(parts, Mapping):
        raise UsageError(f"{path}.{kind}={short_repr(parts)} is not a JSON object", "write its parts by name")
    return kind, parts


def kinds() -> Sequence[str]:
    """Return the kinds of retrievers that can be grouped.

    >>> "rrf" in kinds()
    True
    """
    return sorted((*PLAIN, *NESTED))


def ranked_hits(retriever: Mapping[str, Any]) -> int:
    """Return how many hits a deepened retriever ranks; no further hits can be grouped.

    >>> ranked_hits({"rrf": {"retrievers": [], "rank_window_size": 200}})
    200
    """
    ((kind, parts),) = retriever.items()
    return min(window_sizes(kind, parts))


def window_sizes(kind: str, parts: Mapping[str, Any]) -> Sequence[int]:
    """Return how many hits each step of a deepened retriever ranks.

    >>> window_sizes("rescorer", {"rescore": [{"window_size": 200}, {"window_size": 500}]})
    [200, 500]
    """
    if kind != "rescorer":
        return [parts[WINDOW]]
    rescore = parts["rescore"]
    return [each["window_size"] for each in ([rescore] if isinstance(rescore, Mapping) else rescore)]
