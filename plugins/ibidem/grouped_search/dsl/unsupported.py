"""Features of the query DSL that cannot be combined with `dedupe`, each with the reason."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_dedupe.request import DedupeRequest
from ibidem_ingest.errors import UsageError, short_repr

FUSED = "write retriever: {rrf: {retrievers: [{standard: {query: …}}, …]}}, which ranks in the same way"

ONLY_FUSION = ("only rank: {rrf: {…}}, which fuses several searches, is read", FUSED)

# Parts of a body and parameters of a query string, by name.
UNSUPPORTED: Mapping[str, tuple[str, str]] = {
    "collapse": (
        "hits that it hides would be missing from every group",
        "leave it out: dedupe='collapse' shows one hit of a group",
    ),
    "rank": ONLY_FUSION,
    "sub_searches": ONLY_FUSION,
    "search_after": (
        "pages are counted in groups, so the sort values of the last hit do not mark where a page ends",
        "use from and size, and dedupe_cursor so that all pages see one ranking",
    ),
    "slice": ("copies of one text lie in different slices", "leave it out"),
    "terminate_after": ("documents that are not read would be missing from the counts", "leave it out, or use timeout"),
    "scroll": (
        "scroll pages are counted in hits and would split groups",
        "use from and size; a point in time or dedupe_cursor makes all pages see one ranking",
    ),
    "scroll_id": ("scroll pages are counted in hits and would split groups", "use from and size"),
    "format": ("the answer has to be JSON", "leave it out"),
}

MAX_NESTING = 100  # nesting of objects and lists in a body; servers accept about thirty nested conditions

_WHOLE = re.compile(r"\d{1,20}", re.ASCII)


def refuse_parts(body: Mapping[str, Any], params: Mapping[str, str]) -> None:
    """Refuse parts of a search that cannot be combined with grouping.

    >>> refuse_parts({"collapse": {"field": "isbn"}}, {})
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: collapse cannot be combined with dedupe: hits that it hides would be missing from \
every group; leave it out: dedupe='collapse' shows one hit of a group
    """
    for name in (*body, *params):
        if name in UNSUPPORTED:
            refuse(name, *UNSUPPORTED[name])
    if params.get("allow_partial_search_results", "").lower() == "true":
        refuse(
            "allow_partial_search_results=true", "a part of the index could be missing without notice", "leave it out"
        )
    if body.get("rescore") and is_true(body.get("explain")):
        refuse("explain with rescore", "the explanation of a hit would lack its second score", "leave one of them out")
    if body.get("stored_fields") in ("_none_", ["_none_"]):
        refuse("stored_fields=_none_", "documents cannot be distinguished without ids", "use _source=false")
    if isinstance(body.get("search_pipeline"), Mapping):
        refuse("a search pipeline inside the request", "it may discard or reorder hits", "name a stored one, or none")


def refuse_fusion(name: str) -> NoReturn:
    """Refuse `rank` or `sub_searches` other than reciprocal rank fusion."""
    refuse(name, *ONLY_FUSION)


def is_true(value: object) -> bool:
    """Return whether a boolean of a body is true, as the servers parse it."""
    return value is True or value == "true"


def refuse_target(index: str, body: Mapping[str, Any]) -> None:
    """Refuse remote clusters, whose indexes cannot be read, and names next to a point in time."""
    if any(":" in name and not name.startswith(("<", "-<")) for name in index.split(",")):
        refuse("a search over other clusters", "their indexes cannot be inspected", "use one search per cluster")
    if index and "pit" in body:
        refuse("an index together with pit", "a point in time names its indexes itself", "leave the index out")


def refuse_scope(body: Mapping[str, Any], request: DedupeRequest) -> None:
    """Refuse a scope beyond the window for a search that cannot test single documents."""
    for name in ("knn", "retriever"):
        if request.scope != "window" and name in body:
            refuse(
                f"dedupe_scope={request.scope} with {name}",
                "a ranking has to be computed as a whole, so one document cannot be tested alone",
                "use dedupe_scope=window",
            )
    if request.scope != "window" and "min_score" in body:
        refuse(
            f"dedupe_scope={request.scope} with min_score",
            "documents found by look-up have no score",
            "leave one of them out",
        )


def refuse_stored(body: Mapping[str, Any]) -> None:
    """Refuse parts of a search that cannot be combined with stored groups."""
    if "timeout" in body:
        refuse("timeout with dedupe_by=stored", "counts of some of the matches would not add up", "leave it out")
    if body.get("rescore"):
        refuse("rescore with dedupe_by=stored", "a collapsed ranking cannot be rescored", "use dedupe_by=window")
    if "hybrid" in (body.get("query") or {}):
        refuse("a hybrid query with dedupe_by=stored", "it cannot be collapsed", "use dedupe_by=window")


def read_page(body: Mapping[str, Any], deepest: int = MAX_WINDOW) -> tuple[int, int]:
    """Read the number of groups before the page, and its size; size 0 requests only aggregations and suggestions.

    >>> read_page({"from": 25, "size": 10})
    (25, 10)
    """
    start, size = read_integer(body, "from", 0, maximum=deepest), read_integer(body, "size", 10)
    if start >= deepest:
        raise UsageError(
            f"from={start} lies beyond the first {MAX_WINDOW:,} groups", "narrow the query, or add a filter"
        )
    return (start, size) if size else (0, 0)


def read_integer(
    body: Mapping[str, Any], name: str, default: int, unit: str = "groups", maximum: int = MAX_WINDOW
) -> int:
    """Parse an integer of a body."""
    value = body.get(name, default)
    text = short_repr(value) if isinstance(value, dict | list) else str(value)
    if isinstance(value, bool) or not _WHOLE.fullmatch(text) or int(text) > maximum:
        raise UsageError(
            f"{name}={short_repr(value)} is not valid", f"allowed: an integer from 0 to {maximum:,} ({unit})"
        )
    return int(text)


def refuse_depth(body: Any) -> None:
    """Refuse a body that is nested too deeply.

    >>> refuse_depth({"query": {"match_all": {}}})
    """
    parts, depth = [body], 0
    while parts := [inner for part in parts for inner in children(part)]:
        depth += 1
        if depth > MAX_NESTING:
            raise UsageError(f"the body is nested more than {MAX_NESTING} deep", "put conditions side by side")


def children(part: Any) -> Iterable[Any]:
    """Return the direct children of a part of a body."""
    if isinstance(part, Mapping):
        return part.values()
    return part if isinstance(part, list | tuple) else ()


def refuse(part: str, reason: str, remedy: str) -> NoReturn:
    """Raise the error of an unsupported combination."""
    raise UsageError(f"{part} cannot be combined with dedupe: {reason}", remedy)
