"""The parts of a search that are grouped, in a closed list; anything else is refused by name."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn

from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_dedupe.request import DedupeRequest, as_text
from ibidem_engines.requests import IN_HEADS
from ibidem_ingest.errors import UsageError, short_repr

# What a part decides on: the ranking, how a hit is shown, what is aggregated, the page, or where is searched.
Role = Literal["ranking", "display", "aggregations", "page", "target"]

PARTS: Mapping[str, Role] = {
    "query": "ranking",
    "post_filter": "ranking",
    "knn": "ranking",
    "sort": "ranking",
    "min_score": "ranking",
    "track_scores": "ranking",
    "indices_boost": "ranking",
    "from": "page",
    "size": "page",
    "track_total_hits": "page",
    "_source": "display",
    "fields": "display",
    "docvalue_fields": "display",
    "stored_fields": "display",
    "script_fields": "display",
    "highlight": "display",
    "version": "display",
    "explain": "display",
    "aggs": "aggregations",
    "aggregations": "aggregations",
    "pit": "target",
    "runtime_mappings": "target",
}
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
        name.removeprefix("_source_"): _names(arguments[name]) for name in FORMS[1:] if arguments.get(name) is not None
    }
    if selection and parts.get("_source") is not False:
        parts["_source"] = selection
    check_total(parts)
    return parts, params


def _read(name: str, value: str) -> object:
    """Read a part of a query string: names and orders by commas, and booleans; servers convert the rest."""
    if name == "sort":
        return [_order(each) for each in value.split(",")]
    boolean = {"true": True, "false": False, "": True}.get(value.lower())
    if boolean is not None:
        return boolean
    return value.split(",") if PARTS.get(name) == "display" else value


def _order(text: str) -> object:
    field, colon, order = text.rpartition(":")
    return {field: order} if colon else text


def _names(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


def ungrouped_note(parts: Mapping[str, Any]) -> str:
    """Return why a search is answered without groups; empty if it is grouped.

    >>> ungrouped_note({"size": 0})
    'size is 0: no hits are shown, so none were grouped'
    """
    if TIMEOUT in parts:
        return "a search with a timeout may miss hits, so none were grouped"
    return "size is 0: no hits are shown, so none were grouped" if str(parts.get("size")) == "0" else ""


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
        raise UsageError(
            "dedupe_scope=index cannot be combined with a query in the engine's own language, whose filters it ignores",
            "use dedupe_scope=matches",
        )
    if request.scope != "window":
        for name in {"knn", "min_score"} & parts.keys():
            refuse(f"dedupe_scope={request.scope} with {name}", "use dedupe_scope=window: a look-up ranks nothing")


def check_total(parts: Mapping[str, Any]) -> None:
    """Refuse values of `track_total_hits` that the servers refuse.

    >>> check_total({"track_total_hits": 1000})
    """
    value = parts.get("track_total_hits", True)
    if not isinstance(value, bool) and not _TOTAL.fullmatch(str(value)):
        raise UsageError(f"track_total_hits={short_repr(value)} is not valid", "allowed: true, false, a number")


def check_start(start: int) -> None:
    """Refuse a page beyond every window."""
    if start >= MAX_WINDOW:
        raise UsageError(
            f"from={start} lies beyond the first {MAX_WINDOW:,} groups", "narrow the query, or add a filter"
        )


def read_integer(parts: Mapping[str, Any], name: str, default: int, maximum: int = MAX_WINDOW) -> int:
    """Parse an integer of a body."""
    value = parts.get(name, default)
    text = short_repr(value) if isinstance(value, dict | list) else str(value)
    if isinstance(value, bool) or not _WHOLE.fullmatch(text) or int(text) > maximum:
        raise UsageError(
            f"{name}={short_repr(value)} is not valid", f"allowed: an integer from 0 to {maximum:,} (groups)"
        )
    return int(text)


def refuse_depth(body: Any) -> None:
    """Refuse a body that is nested too deeply.

    >>> refuse_depth({"query": {"match_all": {}}})
    """
    level, depth = [body], 0
    while level := [inner for part in level for inner in children(part)]:
        depth += 1
        if depth > MAX_NESTING:
            raise UsageError(f"the body is nested more than {MAX_NESTING} deep", "put conditions side by side")


def children(part: Any) -> Iterable[Any]:
    """Return the direct children of a part of a body."""
    if isinstance(part, Mapping):
        return part.values()
    return part if isinstance(part, list | tuple) else ()


def refuse(name: str, remedy: str = "") -> NoReturn:
    """Raise the error of a part that is not in the list."""
    raise UsageError(f"{name} cannot be combined with dedupe", remedy or INSTEAD.get(name, PLUGIN))
