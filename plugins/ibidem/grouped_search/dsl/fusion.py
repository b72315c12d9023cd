"""Reciprocal rank fusion in the older syntax without retrievers: `rank` next to queries and `knn`.

Elasticsearch itself reads it as the retriever `rrf`, and calls the older form deprecated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ibidem.grouped_search.dsl.unsupported import refuse_fusion
from ibidem.grouped_search.response import Json
from ibidem_ingest.errors import UsageError, short_repr

FORMER = frozenset(("rank", "sub_searches"))
FUSED = FORMER | {"query", "knn"}
# Members of `rank.rrf`, and those of the retriever; until 8.12 a window had another name.
NAMES: Mapping[str, str] = {
    "rank_constant": "rank_constant",
    "rank_window_size": "rank_window_size",
    "window_size": "rank_window_size",
}

WITHOUT_MEANING = "boost"  # part of a `knn` that retrievers lack: it changes scores, and only ranks count here


def read_fusion(body: Mapping[str, Any]) -> Json:
    """Rewrite `rank` and the fused parts as a retriever; a body without `rank` is unchanged.

    >>> wheat, near = {"match": {"text": "wheat"}}, {"field": "place", "query_vector": [1.0], "k": 10}
    >>> read_fusion({"query": wheat, "knn": near, "rank": {"rrf": {"window_size": 50}}, "size": 5})["retriever"]["rrf"]
    {'retrievers': [{'standard': {'query': {'match': {'text': 'wheat'}}}}, {'knn': {'field': 'place', 'query_vector': \
[1.0], 'k': 10}}], 'rank_window_size': 50}
    """
    if not body.keys() & FORMER or "retriever" in body:
        return dict(body)
    rank = body.get("rank")
    if not isinstance(rank, Mapping) or [*rank] != ["rrf"] or not isinstance(rank["rrf"], Mapping):
        refuse_fusion("rank" if "rank" in body else "sub_searches")
    if unknown := sorted(map(str, rank["rrf"].keys() - NAMES.keys())):
        raise UsageError(f"rank.rrf.{unknown[0]} is not known", f"allowed: {', '.join(sorted(NAMES))}")
    retrievers = [*_queries(body), *_neighbours(body)]
    if len(retrievers) < 2:
        raise UsageError(
            "rank.rrf has fewer than two searches to fuse",
            "give at least two searches as query, knn or entries of sub_searches",
        )
    options = {NAMES[name]: value for name, value in rank["rrf"].items()}
    rest = {name: part for name, part in body.items() if name not in FUSED}
    return rest | {"retriever": {"rrf": {"retrievers": retrievers} | options}}


def _queries(body: Mapping[str, Any]) -> Sequence[Json]:
    """Return a retriever for each query."""
    if "query" in body and "sub_searches" in body:
        raise UsageError("query next to sub_searches is not valid", "write it as one of sub_searches")
    searches = [{"query": body["query"]}] if "query" in body else _several(body.get("sub_searches"), "sub_searches")
    for each in searches:
        if [*each] != ["query"]:
            raise UsageError(f"sub_searches={short_repr(each)} is not a search", "write a list of {'query': …}")
    return [{"standard": dict(each)} for each in searches]


def _neighbours(body: Mapping[str, Any]) -> Sequence[Json]:
    """Return a retriever for each kNN search."""
    return [
        {"knn": {name: part for name, part in each.items() if name != WITHOUT_MEANING}}
        for each in _several(body.get("knn"), "knn")
    ]


def _several(part: Any, name: str) -> Sequence[Mapping[str, Any]]:
    """Return an object, or a list of objects, as a list."""
    parts = [] if part is None else part if isinstance(part, list | tuple) else [part]
    for each in parts:
        if not isinstance(each, Mapping):
            raise UsageError(f"{name}={short_repr(each)} is not a search", "write a JSON object, or a list of them")
    return parts
