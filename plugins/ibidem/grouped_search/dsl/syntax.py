"""Search in the query DSL, split into the ranking, the aggregations and the display of hits, and the engine's answer.

Depth of a kNN search, adjusted to the size of the window to group. A kNN search finds only as many neighbours as its
`k` names, ten where it names none: with copies among them, too few for a page. It is asked for the whole window
instead, and the account names what was adjusted.

Groups in the buckets of `terms`: within the window the documents of a bucket that share one are counted once. Where the
window holds all that matches, this is exact. Beyond it only equal texts can be counted, by the number of distinct
content keys, which servers estimate (HyperLogLog++, Heule et al. 2013, doi:10.1145/2452376.2452456); the lean layout
has no such key, and documents beyond the window then count one by one.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, NoReturn

import numpy as np
import orjson
from xxhash import xxh3_64_hexdigest, xxh3_128_hexdigest

from ibidem.grouped_search.pages import check_scope
from ibidem.grouped_search.response import Json, Window
from ibidem_dedupe.parameters import MAX_WINDOW, DedupeRequest, as_text
from ibidem_engines.cluster.client import Failure, build_failure
from ibidem_engines.cluster.dsl import ALL, PACKED, Clause, documents, ids_query
from ibidem_engines.cluster.groups import GROUP, LEAD
from ibidem_engines.requests import IN_HEADS, Target
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


@dataclass(slots=True)
class Depth:
    """The depth that a search needs, and the values that were adjusted to reach it."""

    hits: int  # hits that are grouped at least
    adjusted: list[Json] = field(default_factory=list)  # the adjusted values, as the account shows them

    def nearest(self, knn: Mapping[str, Any], path: str) -> Json:
        """Make a kNN search find enough neighbours."""
        found = self._raise(knn, "k", path, self.hits)
        if "num_candidates" in knn:
            found = self._raise(found, "num_candidates", path, found["k"])
        return found

    def several(self, knn: Any) -> Json | list[Json]:
        """Make a kNN search, or each search in a list, find enough neighbours."""
        several = list(knn) if isinstance(knn, list | tuple) else [knn]
        found = []
        for at, each in enumerate(several):
            path = "knn" if len(several) == 1 else f"knn[{at}]"  # the engine, too, names one without an index
            if not isinstance(each, Mapping):
                what = f"{path}={short_repr(each)} is not a search for nearest neighbours"
                raise UsageError(what, "write a JSON object with field, query_vector and k, or a list of them")
            found.append(self.nearest(each, path))
        return found[0] if isinstance(knn, Mapping) else found

    def query(self, query: Any, path: str = "query") -> Any:
        """Make a kNN query, also a nested one, or each query in a list, find enough neighbours."""
        if isinstance(query, list | tuple):
            return [self.query(each, f"{path}[{at}]") for at, each in enumerate(query)]
        if not isinstance(query, Mapping) or len(query) != 1:
            return query
        kind, parts = next(iter(query.items()))
        path = f"{path}.{kind}"
        if kind in NEIGHBOURS and isinstance(parts, Mapping):
            if isinstance(parts.get("field"), str):  # as Elasticsearch writes it; OpenSearch names the field by a key
                return {kind: self.nearest(parts, path)}
            found = {}
            for name, each in parts.items():  # a radial search already finds all matches
                is_counted = isinstance(each, Mapping) and not each.keys() & {"min_score", "max_distance"}
                found[name] = self.nearest(each, f"{path}.{name}") if is_counted else each
            return {kind: found}
        if kind in HOLDERS and isinstance(parts, Mapping):
            held = {name: self.query(parts[name], f"{path}.{name}") for name in HOLDERS[kind] if name in parts}
            return {kind: {**parts, **held}}
        return query

    def _raise(self, parts: Mapping[str, Any], name: str, path: str, minimum: int) -> Json:
        """Raise a number in a part, if it is too small or missing."""
        value = parts.get(name, 10)  # which servers find where a search names none
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_WINDOW:
            remedy = f"allowed: an integer from 1 to {MAX_WINDOW:,}"
            raise UsageError(f"{path}.{name}={short_repr(value)} is not valid", remedy)
        if name in parts and value >= minimum:
            return {**parts}
        used = max(value, minimum)
        self.adjusted.append({"part": f"{path}.{name}", "asked": parts.get(name), "used": used, "limit": MAX_WINDOW})
        return {**parts, name: used}


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
    return found, depth.adjusted


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


# What a part decides on: the ranking, how a hit is shown, what is aggregated, the page, or where is searched.
Role = Literal["ranking", "display", "aggregations", "page", "target"]

ROLES: Mapping[Role, Sequence[str]] = {
    "ranking": ("query", "post_filter", "knn", "sort", "min_score", "track_scores", "indices_boost"),
    "page": ("from", "size", "track_total_hits"),
    "display": (
        *("_source", "fields", "docvalue_fields", "stored_fields", "script_fields"),
        *("highlight", "version", "explain"),
    ),
    "aggregations": ("aggs", "aggregations"),
    "target": ("pit", "runtime_mappings"),
}
PARTS: Mapping[str, Role] = {name: role for role, names in ROLES.items() for name in names}
# Other spellings of parts, as query strings and the clients' arguments have them.
FORMS = ("q", "_source_includes", "_source_excludes")
TIMEOUT = "timeout"  # with it, and with size 0, a search is answered without groups

# What to use instead of a part; the plugin in the cluster groups requests of the engines' own.
PLUGIN = 'leave dedupe out, or let the plugin group it: "ext": {"ibidem": {"dedupe": "indent"}}'
PAGING = "use from and size, and dedupe_cursor so that all pages see one ranking, or leave dedupe out"
INSTEAD: Mapping[str, str] = {
    "collapse": "dedupe='collapse' shows one hit of a group; or leave dedupe out",
    "search_after": PAGING,
    "scroll": PAGING,
    "slice": "leave dedupe out",
    "terminate_after": "use timeout, or leave dedupe out",
}

MAX_NESTING = 100  # nesting of objects and lists in a body; servers accept about thirty nested conditions
_WHOLE = re.compile(r"\d{1,20}", re.ASCII)
_TOTAL = re.compile(r"-1|\d{1,10}", re.ASCII)


def read_parts(body: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[Json, dict[str, str]]:
    """Return the parts and the parameters of a search, from its body and its query string or a client's arguments.

    >>> read_parts({}, {"q": "wheat", "sort": "date:desc,_score", "routing": "a"})
    ({'sort': [{'date': 'desc'}, '_score'], 'query': {'query_string': {'query': 'wheat'}}}, {'routing': 'a'})
    >>> read_parts({"retriever": {}}, {})
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: retriever cannot be combined with dedupe; leave dedupe out, or let the plugin \
group it: "ext": {"ibidem": {"dedupe": "indent"}}
    """
    refuse_depth(body)
    for name in body:
        if name not in PARTS and name != TIMEOUT:
            refuse(name)
    parts, params = dict(body), dict[str, str]()
    for name, value in arguments.items():
        if name in IN_HEADS:
            params[name] = ",".join(map(as_text, value)) if isinstance(value, list | tuple) else as_text(value)
        elif name in PARTS or name == TIMEOUT:
            parts[name] = _read(name, value) if isinstance(value, str) else value
        elif name not in FORMS:
            refuse(name)
    if "q" in arguments:
        parts["query"] = {"query_string": {"query": arguments["q"]}}
    selection = {
        name.removeprefix("_source_"): names.split(",") if isinstance(names, str) else names
        for name in FORMS[1:]
        if (names := arguments.get(name)) is not None
    }
    if selection and parts.get("_source") is not False:
        parts["_source"] = selection
    total = parts.get("track_total_hits", True)
    if not isinstance(total, bool) and not _TOTAL.fullmatch(str(total)):
        raise UsageError(f"track_total_hits={short_repr(total)} is not valid", "allowed: true, false, a number")
    return parts, params


def _read(name: str, value: str) -> object:
    """Read a part of a query string: names and orders by commas, and booleans; servers convert the rest."""
    if name == "sort":
        return [
            {field: order} if colon else order for field, colon, order in (e.rpartition(":") for e in value.split(","))
        ]
    boolean = {"true": True, "false": False, "": True}.get(value.lower())
    if boolean is not None:
        return boolean
    return value.split(",") if PARTS.get(name) == "display" else value


def check_combinations(index: str, parts: Mapping[str, Any], request: DedupeRequest) -> None:
    """Refuse values of the parts, and combinations with the request, that cannot be grouped."""
    if any(":" in name and not name.startswith(("<", "-<")) for name in index.split(",")):
        refuse("a search over other clusters", "use one search per cluster")
    if index and "pit" in parts:
        refuse("an index together with pit", "leave the index out: a point in time names its indexes itself")
    if parts.get("stored_fields") in ("_none_", ["_none_"]):
        refuse("stored_fields=_none_", "use _source=false: documents cannot be distinguished without ids")
    if "hybrid" in (parts.get("query") or {}):
        refuse("a hybrid query")
    if request.scope == "index":
        query = "a query in the engine's own language, whose filters it ignores"
        raise UsageError(f"dedupe_scope=index cannot be combined with {query}", "use dedupe_scope=matches")
    if request.scope != "window":
        for name in {"knn", "min_score"} & parts.keys():
            refuse(f"dedupe_scope={request.scope} with {name}", "use dedupe_scope=window: a look-up ranks nothing")


def read_integer(parts: Mapping[str, Any], name: str, default: int, maximum: int = MAX_WINDOW) -> int:
    value = parts.get(name, default)
    text = short_repr(value) if isinstance(value, dict | list) else str(value)
    if isinstance(value, bool) or not _WHOLE.fullmatch(text) or int(text) > maximum:
        remedy = f"allowed: an integer from 0 to {maximum:,} (groups)"
        raise UsageError(f"{name}={short_repr(value)} is not valid", remedy)
    return int(text)


def refuse_depth(body: Any, most: int = MAX_NESTING) -> None:
    """Refuse a body that is nested too deeply.

    >>> refuse_depth({"query": {"match_all": {}}})
    """
    for part in body.values() if isinstance(body, Mapping) else body:
        if not most:
            raise UsageError(f"the body is nested more than {MAX_NESTING} deep", "put conditions side by side")
        if isinstance(part, Mapping | list | tuple):
            refuse_depth(part, most - 1)


def refuse(name: str, remedy: str = "") -> NoReturn:
    raise UsageError(f"{name} cannot be combined with dedupe", remedy or INSTEAD.get(name, PLUGIN))


# Parts that decide which documents match; they may ask for inner hits, which are shown.
MATCH_PARTS = frozenset(("query", "knn", "post_filter"))

# Members beside which `inner_hits` are a request, and no name of a field.
QUERY_MEMBERS = frozenset(("query", "type", "query_vector", "query_vector_builder"))


@dataclass(frozen=True, slots=True)
class DslSearch:
    target: Target  # the indexes, or a point in time
    ranking: Mapping[str, Any]  # parts of the body that decide on matches and their order
    aggregations: Mapping[str, Any]  # by name; they are answered next to the hits
    display: Mapping[str, Any]  # parts that say how a hit is shown
    request: DedupeRequest  # how to group and show
    start: int  # how many groups come before the page
    size: int  # groups on a page
    tables: Collection[str] = ()  # names of the current idf tables, if known
    counts: bool = False  # whether the groups of all matches are counted
    adjusted: Sequence[Json] = ()  # depths of `knn` that were adjusted, for the account
    note: str = ""  # why the engine's own answer is given, without groups; `ranking` is then the whole body

    def deepen(self, hits: int) -> "DslSearch":
        """Return the search with a ranking of at least `size` hits."""
        ranking, changes = deepen(self.ranking, hits)
        entries = {each["part"]: each for each in self.adjusted}  # what was adjusted twice keeps what was asked
        entries |= {each["part"]: each | {"asked": entries.get(each["part"], each)["asked"]} for each in changes}
        display, _ = deepen(self.display, hits)
        return replace(self, ranking=ranking, display=display, adjusted=[*entries.values()])

    def notes(self, matched: int) -> Json:
        """Return the account's notes on a kNN search: its adjusted depths, and advice if nothing was found."""
        notes: Json = {"adjusted": [*self.adjusted]} if self.adjusted else {}
        if not matched and (knn := self.ranking.get("knn")):
            fields = ", ".join(str(each.get("field")) for each in ([knn] if isinstance(knn, Mapping) else knn))
            notes["remedy"] = f"check whether documents have vectors in {fields}, and pass the filters of knn"
        return notes

    @property
    def digest(self) -> str:
        """Hash of what determines the ranking."""
        parts = {**self.ranking, **self.target.parts, "routing": self.target.params.get("routing", "")}
        return xxh3_128_hexdigest(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str))

    @property
    def joins(self) -> bool:
        """Whether hits contain others (`inner_hits`), which the ranking leaves out."""
        return any(self.ranking.get(name) != self.display.get(name) for name in MATCH_PARTS)

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
    if TIMEOUT in parts or str(parts.get("size")) == "0":
        why = "a search with a timeout may miss hits" if TIMEOUT in parts else "size is 0: no hits are shown"
        note = f"{why}, so none were grouped"
        return DslSearch(Target(index, params=params), parts, {}, {}, request, 0, 0, note=note)
    parts, adjusted = deepen(parts, max(request.window, read_integer(parts, "size", 10)))
    start, size = read_integer(parts, "from", 0, sys.maxsize), read_integer(parts, "size", 10)
    ranking = _select(parts, "ranking")
    ranking |= {name: drop_inner_hits(ranking[name]) for name in MATCH_PARTS & ranking.keys()}
    if "preference" not in params and "pit" not in parts:
        # The same ranking is asked of the same copies of the shards, so that its pages agree.
        params["preference"] = xxh3_64_hexdigest(repr(ranking).encode())
    runtime = {name: parts[name] for name in ("runtime_mappings",) if name in parts}
    aggregations: Json = {}
    for name, part in _select(parts, "aggregations").items():
        if not isinstance(part or {}, Mapping):
            raise UsageError(f"{name} is not a JSON object", "write {'name': {'terms': {'field': …}}}")
        aggregations |= part or {}
    display = _select(parts, "display") | {name: parts[name] for name in parts if name in MATCH_PARTS}
    target, counts = Target(index, parts.get("pit"), params, runtime), parts.get("track_total_hits") is True
    check_scope(request)
    return DslSearch(target, ranking, aggregations, display, request, start, size, adjusted=adjusted, counts=counts)


def drop_inner_hits(part: Any) -> Any:
    """Remove a query's inner hits; they are requested for the documents of the page only."""
    if isinstance(part, list):
        return [drop_inner_hits(each) for each in part]
    if not isinstance(part, Mapping):
        return part
    dropped = "inner_hits" if part.keys() & QUERY_MEMBERS else ""
    return {name: drop_inner_hits(each) for name, each in part.items() if name != dropped}


def _select(parts: Mapping[str, Any], role: Role) -> Json:
    return {name: part for name, part in parts.items() if PARTS[name] == role}


BUCKET_AGGREGATIONS = ("terms", "multi_terms")
# Aggregations below which documents are not the hits, so that nothing is known of their groups.
OTHER_DOCUMENTS = ("nested", "children", "parent")

MEMBERS, CONTENTS, UNSIGNED = "_ibidem_members", "_ibidem_contents", "_ibidem_unsigned"
GROUPS, UNGROUPED = "_ibidem_groups", "_ibidem_ungrouped"
EXACT_GROUPS = 100  # groups up to which two are not taken for one, but once in ten thousand buckets
PRECISION = 3_000  # distinct keys up to which the server's estimate is close

# Members that OpenSearch adds to an aggregation in some searches and not in others.
NO_META: tuple[str, Json] = ("meta", {})

CONTENT = "ibidem.content"

REQUIRED, IDS = "match on required clause", "_id:"  # how servers explain a filter, and that on ids


def request_counts(aggregations: Mapping[str, Any], own: Json) -> Json:
    """Build aggregations that also return our own of the documents in each bucket."""
    found = dict(aggregations)
    for name, each in aggregations.items():
        if isinstance(each, Mapping) and not any(kind in each for kind in OTHER_DOCUMENTS):
            children = request_counts(sub_aggregations(each), own)
            children |= own if any(kind in each for kind in BUCKET_AGGREGATIONS) else {}
            settings = {part: value for part, value in each.items() if part not in ("aggs", "aggregations")}
            found[name] = settings | ({"aggs": children} if children else {})
    return found


def write_counts(
    part: Any, own: Collection[str], count: Callable[[Mapping[str, Any], int], Json], error: int = 0
) -> Any:
    """Replace our own sub-aggregations in each bucket by `_dedupe`; `error` is the server's in the documents."""
    if isinstance(part, list):
        return [write_counts(each, own, count, error) for each in part]
    if not isinstance(part, Mapping):
        return part
    error = error or part.get("doc_count_error_upper_bound", 0)
    settings = {
        name: write_counts(each, own, count, error)
        for name, each in part.items()
        if name not in own and (name, each) != NO_META
    }
    return settings | ({"_dedupe": count(part, error)} if any(name in part for name in own) else {})


# Counts of stored groups in a bucket.
STORED_COUNTS: Json = {
    GROUPS: {"cardinality": {"field": GROUP, "precision_threshold": PRECISION}},
    UNGROUPED: {"missing": {"field": GROUP}},
}


def count_stored_groups(bucket: Mapping[str, Any], _: int) -> Json:
    """Count the groups of one bucket; each document without a group counts as one."""
    groups, ungrouped = int(bucket[GROUPS]["value"]), int(bucket[UNGROUPED]["doc_count"])
    group_count = min(groups, int(bucket["doc_count"]) - ungrouped)
    return {"groups": group_count + ungrouped, "approximate": group_count > EXACT_GROUPS}


class BucketGroups:
    """The groups of a window in buckets; it is whole if nothing else is aggregated."""

    def __init__(self, window: Window, *, is_whole: bool) -> None:
        lead = window.grouping.lead[: window.ranked]
        members = np.flatnonzero(np.bincount(lead, minlength=len(lead))[lead] > 1).tolist()  # of groups of several
        self.window = window
        self.rows = {(window.hits[row].index, window.columns.ids[row]): row for row in members}
        names = [window.hits[row].name for row in members]
        matches = documents(names)
        ids = {"terms": {"field": "ibidem.id", "size": max(1, len(names))}}
        indices = {"terms": {"field": "_index", "size": max(1, len(matches))}, "aggs": {"ids": ids}}
        own_filter = {"bool": {"should": matches or [ids_query([])]}}
        self.own: Json = {MEMBERS: {"filter": own_filter, "aggs": {"indices": indices}}}
        if not is_whole:
            self.own[CONTENTS] = {"cardinality": {"field": CONTENT, "precision_threshold": PRECISION}}
            self.own[UNSIGNED] = {"missing": {"field": CONTENT}}

    def count(self, bucket: Mapping[str, Any], error: int) -> Json:
        """Count the groups of one bucket."""
        leads, count = self.window.grouping.lead, bucket["doc_count"]
        indices = bucket[MEMBERS]["indices"]["buckets"]
        members = ((index["key"], each["key"]) for index in indices for each in index["ids"]["buckets"])
        rows = [self.rows[name] for name in members if name in self.rows]
        if CONTENTS not in self.own:
            joined = len(rows) - len({int(leads[row]) for row in rows})  # those that are not the first of their group
            return {"groups": count - joined, "approximate": bool(error)}
        texts = bucket[CONTENTS]["value"] + bucket[UNSIGNED]["doc_count"]
        own_texts = {(int(leads[row]), *self.window.columns.content[row].tolist()) for row in rows}
        joined = len(own_texts) - len({lead for lead, *_ in own_texts})  # texts that are not the first of their group
        return {"groups": max(1, min(count, texts) - joined), "approximate": True}


def iter_aggregations(aggregations: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Iterate over the aggregations whose documents are the hits."""
    for each in aggregations.values():
        if isinstance(each, Mapping) and not any(name in each for name in OTHER_DOCUMENTS):
            yield each
            yield from iter_aggregations(sub_aggregations(each))


def sub_aggregations(aggregation: Mapping[str, Any]) -> Mapping[str, Any]:
    aggregations = aggregation.get("aggs") or aggregation.get("aggregations") or {}
    return aggregations if isinstance(aggregations, Mapping) else {}


def check_complete(answer: Mapping[str, Any]) -> None:
    """Refuse a response without all shards of the index."""
    shards = answer.get("_shards", {})
    failures = shards.get("failures", ())
    if failures:
        raise build_failure(int(failures[0].get("status", 503)), {"error": failures[0].get("reason")})
    if shards.get("successful", 0) < shards.get("total", 0):  # OpenSearch counts no failure for a shard without a node
        raise Failure(503, "no_shard_available_action_exception", f"{shards['successful']} of {shards['total']} shards")


def clean_explanation(hit: Json) -> Json:
    """Remove our own clauses from a hit's explanation: the ids, and the filter against nested documents."""
    explanation = hit.get("_explanation")
    while explanation and explanation["description"] == "sum of:":
        details = [part for part in explanation["details"] if not part["description"].startswith(REQUIRED)]
        query_parts = [part for part in explanation["details"] if part["description"].startswith(REQUIRED)]
        if len(details) != 1 or not query_parts:
            break
        hit["_explanation"] = explanation = details[0]
        if any(IDS in each["description"] for part in query_parts for each in part["details"]):
            break
    return hit


def as_shown(hit: Mapping[str, Any], display: Mapping[str, Any]) -> Json:
    """Return a hit without the layer's own fields.

    >>> as_shown({"_id": "a", "_seq_no": 4, "sort": [1], "fields": {"ibidem.packed": ["AA"]}}, {})
    {'_id': 'a'}
    """
    named = [each for part in ("docvalue_fields", "fields") for each in display.get(part) or ()]  # maybe with wildcards
    names = [each.get("field") if isinstance(each, Mapping) else each for each in named]
    patterns = [each for each in names if isinstance(each, str)]
    fields = {
        name: values
        for name, values in hit.get("fields", {}).items()
        if name not in (PACKED, GROUP, LEAD, CONTENT) or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    asks_for_state = str(display.get("seq_no_primary_term", "")).lower() == "true"
    unshown = {"sort", "fields", *(() if asks_for_state else ("_seq_no", "_primary_term"))}
    shown = {name: part for name, part in hit.items() if name not in unshown}
    return shown | ({"fields": fields} if fields else {})
