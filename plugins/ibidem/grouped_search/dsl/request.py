"""Search in the query DSL, split into the ranking, the aggregations and suggestions, and the display of hits."""

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xxhash import xxh3_64_hexdigest

from ibidem.grouped_search.dsl.depth import deepen, join_raised, unwrap
from ibidem.grouped_search.dsl.filter_path import FILTER_PATH
from ibidem.grouped_search.dsl.fusion import read_fusion
from ibidem.grouped_search.dsl.unsupported import (
    children,
    read_integer,
    read_page,
    refuse_depth,
    refuse_parts,
    refuse_scope,
    refuse_stored,
    refuse_target,
)
from ibidem.grouped_search.response import Json
from ibidem.grouped_search.scope import check_scope
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cluster.dsl import ALL, Clause
from ibidem_engines.query import Query
from ibidem_engines.requests import Target
from ibidem_ingest.errors import UsageError
from ibidem_ingest.errors import short_repr as written

# Parts that say what is shown of a hit: asked of the page's documents alone.
SHOWN = frozenset(
    (
        "_source",
        "docvalue_fields",
        "explain",
        "fields",
        "highlight",
        "include_named_queries_score",
        "script_fields",
        "seq_no_primary_term",
        "stored_fields",
        "version",
    )
)

# Parts that decide which documents match; they may ask for inner hits, which are shown.
MATCHING = frozenset(("query", "knn", "retriever", "post_filter"))

BESIDE = frozenset(("suggest", "profile"))  # parts that are answered next to the hits: asked once, of all that matches

# Parts that every request brings, since queries and fields may be on them.
EVERYWHERE = frozenset(("runtime_mappings", "derived", "stats", "ext"))

AGGREGATIONS = ("aggregations", "aggs")
# Parts that are read here and written again.
APART = frozenset(("from", "size", "pit", "track_total_hits", *AGGREGATIONS))

QUERY_STRING = ("df", "analyzer", "analyze_wildcard", "default_operator", "lenient")
BODY_PARAMETERS = (
    "from",
    "size",
    "timeout",
    "track_scores",
    "track_total_hits",
    "explain",
    "version",
    "seq_no_primary_term",
)
LIST_PARAMETERS = ("stored_fields", "docvalue_fields", "stats")
_TOTAL = re.compile(r"-1|\d{1,10}", re.ASCII)
# Members beside which `inner_hits` are a request, and no name of a field.
JOINING = frozenset(("query", "type", "query_vector", "query_vector_builder"))

SUGGEST = ("suggest_field", "suggest_mode", "suggest_size", "suggest_text")


@dataclass(frozen=True, slots=True)
class DslSearch:
    """One validated search."""

    target: Target  # the indexes, or a point in time
    ranking: Mapping[str, Any]  # parts of the body that decide on matches and their order
    extras: Mapping[str, Any]  # parts that are answered next to the hits
    aggregations: Mapping[str, Any]  # by name; they are answered next to the hits too
    display: Mapping[str, Any]  # parts that say how a hit is shown
    request: DedupeRequest  # how to group and show
    start: int  # how many groups come before the page
    size: int  # groups on a page; 0: no hits are shown
    bare_total: bool = False  # whether the total is a plain number, as in older versions
    tables: Collection[str] = ()  # names of the current idf tables, if known
    raised: Sequence[Json] = ()  # depths of `knn` and retrievers that were raised, for the account

    def deepen(self, hits: int) -> "DslSearch":
        """Return the search with a ranking of at least `size` hits."""
        ranking, raised = deepen(self.ranking, hits)
        display, _ = deepen(self.display, hits)
        return replace(self, ranking=ranking, display=display, raised=join_raised(self.raised, raised))

    @property
    def query(self) -> Query:
        """Part of the request that determines the ranking."""
        return Query(native={**self.ranking, **self.target.parts, "routing": self.target.params.get("routing", "")})

    @property
    def joins(self) -> bool:
        """Whether hits contain others (`inner_hits`), which the ranking leaves out."""
        return any(self.ranking.get(name) != self.display.get(name) for name in MATCHING)

    @property
    def completes(self) -> bool:
        """Whether suggestions return documents; these are then requested like hits."""
        suggest = self.extras.get("suggest")
        parts = suggest.values() if isinstance(suggest, Mapping) else ()
        return any(isinstance(each, Mapping) and "completion" in each for each in parts)

    @property
    def clause(self) -> Clause:
        """Clause that matches the same documents: the query and the post filter."""
        parts = [self.ranking[name] for name in ("query", "post_filter") if self.ranking.get(name)]
        return {"bool": {"filter": parts}} if parts else ALL


def read_search(
    index: str, body: Mapping[str, Any] | None, params: Mapping[str, str], request: DedupeRequest
) -> DslSearch:
    """Read a search.

    >>> read_search("news", {"query": {"match": {"text": "wheat"}}, "from": 10}, {}, DedupeRequest("indent")).start
    10
    """
    refuse_depth(body or {})
    full_body, query_params = fold_parameters(body or {}, params)
    full_body = unwrap(read_fusion(full_body))
    refuse_unsupported(index, full_body, query_params, request)
    full_body, raised = deepen(full_body, max(request.window, read_integer(full_body, "size", 10)))
    if request.by == "stored":
        refuse_stored(full_body)
    start, size = read_page(full_body, sys.maxsize if request.by == "stored" else MAX_WINDOW)
    bare_total = query_params.pop("rest_total_hits_as_int", "false").lower() in ("", "true")
    ranking = read_ranking(full_body)
    search = DslSearch(
        read_target(index, full_body, query_params, ranking),
        ranking,
        _select(full_body, BESIDE),
        {name: each for part in AGGREGATIONS for name, each in object_member(full_body, part).items()},
        _select(full_body, SHOWN | MATCHING) | named_rescore(full_body),
        request,
        start,
        size,
        bare_total,
        raised=raised,
    )
    check_scope(search.query, request)
    return search


def refuse_unsupported(index: str, body: Mapping[str, Any], params: Mapping[str, str], request: DedupeRequest) -> None:
    """Refuse parts of a search that cannot be combined with grouping."""
    refuse_parts(body, params)
    refuse_target(index, body)
    refuse_scope(body, request)
    check_total(body)


def read_target(index: str, body: Mapping[str, Any], params: dict[str, str], ranking: Json) -> Target:
    """Return the target of all requests of a search, with their common parameters.

    The same ranking is asked of the same copies of the shards, so that its pages agree.
    """
    params.pop(FILTER_PATH, None)
    if "timeout" in body:
        params["allow_partial_search_results"] = "true"
    if "preference" not in params and "pit" not in body:
        params["preference"] = xxh3_64_hexdigest(repr(ranking).encode())
    return Target(index, body.get("pit"), params, _select(body, EVERYWHERE))


def read_ranking(body: Mapping[str, Any]) -> Json:
    """Return the parts of a body that determine the ranking, without inner hits."""
    ranking = {name: part for name, part in body.items() if name not in SHOWN | BESIDE | EVERYWHERE | APART}
    if is_suggest_only(body):
        ranking["query"] = {"match_none": {}}
        return ranking
    return ranking | {name: drop_inner_hits(ranking[name]) for name in MATCHING if name in ranking}


def named_rescore(body: Mapping[str, Any]) -> Json:
    """Return the rescore if it has named queries, which hits show.

    >>> named_rescore({"rescore": {"query": {"rescore_query": {"term": {"source": {"value": "AP", "_name": "ap"}}}}}})
    {'rescore': {'query': {'rescore_query': {'term': {'source': {'value': 'AP', '_name': 'ap'}}}}}}
    """
    is_named = any("_name" in each for each in objects(body.get("rescore")))
    return {"rescore": body["rescore"]} if is_named else {}


def objects(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a part of a body and all objects inside it."""
    if isinstance(part, Mapping):
        yield part
    for each in children(part):
        yield from objects(each)


def is_suggest_only(body: Mapping[str, Any]) -> bool:
    """Return whether only suggestions are requested: the servers then find no hits."""
    return bool(body.get("suggest")) and not any(
        body.get(name) for name in ("query", "knn", "retriever", *AGGREGATIONS)
    )


def check_total(body: Mapping[str, Any]) -> None:
    """Refuse values of `track_total_hits` that the servers refuse.

    >>> check_total({"track_total_hits": 1000})
    """
    value = body.get("track_total_hits", True)
    if not isinstance(value, bool) and not _TOTAL.fullmatch(str(value)):
        raise UsageError(f"track_total_hits={written(value)} is not valid", "allowed: true, false, a number")


def object_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part that is an object of named parts."""
    part = body.get(name) or {}
    if not isinstance(part, Mapping):
        raise UsageError(f"{name} is not a JSON object", "write {'name': {'terms': {'field': …}}}")
    return part


def fold_parameters(body: Mapping[str, Any], params: Mapping[str, str]) -> tuple[Json, dict[str, str]]:
    """Move search options of the query string into the body; the query string takes precedence.

    >>> fold_parameters({}, {"q": "wheat", "sort": "date:desc,_score", "routing": "a"})
    ({'query': {'query_string': {'query': 'wheat'}}, 'sort': [{'date': 'desc'}, '_score']}, {'routing': 'a'})
    """
    new_body, new_params = dict(body), dict(params)
    options = {name: _read(new_params.pop(name)) for name in QUERY_STRING if name in new_params}
    if "df" in options:
        options["default_field"] = options.pop("df")
    if "q" in new_params:
        new_body["query"] = {"query_string": {"query": new_params.pop("q"), **options}}
    for name in BODY_PARAMETERS:
        if name in new_params:
            new_body[name] = _read(new_params.pop(name))
    for name in LIST_PARAMETERS:
        if name in new_params:
            new_body[name] = new_params.pop(name).split(",")
    if "sort" in new_params:
        new_body["sort"] = [_order(each) for each in new_params.pop("sort").split(",")]
    _fold_source(new_body, new_params)
    _fold_suggest(new_body, new_params)
    return new_body, new_params


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


def _fold_source(body: Json, params: dict[str, str]) -> None:
    """Merge the three ways of source filtering."""
    source = params.pop("_source", None)
    if source is not None:
        body["_source"] = _read(source) if source.lower() in ("true", "false") else source.split(",")
    selection = {
        way: params.pop(name).split(",")
        for way, name in (("includes", "_source_includes"), ("excludes", "_source_excludes"))
        if name in params
    }
    if selection and body.get("_source") is not False:
        body["_source"] = selection


def _fold_suggest(body: Json, remaining_params: dict[str, str]) -> None:
    """Convert the query string's single suggestion, which the server names after its field."""
    options = {name: remaining_params.pop(name) for name in SUGGEST if name in remaining_params}
    if "suggest_field" in options:
        field = options["suggest_field"]
        term: Json = {"field": field, "suggest_mode": options.get("suggest_mode", "missing")}
        term |= {"size": read_integer(options, "suggest_size", 0, "suggestions")} if "suggest_size" in options else {}
        body["suggest"] = {field: {"text": options.get("suggest_text", ""), "term": term}}


def _order(text: str) -> object:
    field, colon, order = text.rpartition(":")
    return {field: order} if colon else text


def _read(text: str) -> object:
    """Convert booleans as in JSON; other values stay strings, which the servers convert."""
    return {"true": True, "false": False, "": True}.get(text.lower(), text)


def _select(body: Mapping[str, Any], names: frozenset[str]) -> Json:
    return {name: part for name, part in body.items() if name in names}
