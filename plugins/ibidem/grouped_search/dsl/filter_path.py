"""`filter_path`: selects parts of a response as OpenSearch and Elasticsearch do.

A grouped answer is put together from several answers of the engine, of which each part is needed; so it is filtered
here, at the end. Where the two engines differ, in lists that were empty before, this follows Elasticsearch.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem.grouped_search.response import Json

FILTER_PATH = "filter_path"
ANY_DEPTH = "**"  # segment that stands for one or more names

_SEGMENT = re.compile(r"(?<!\\)\.")
Path = tuple[str, ...]  # segments of a path that are not matched yet


@dataclass(frozen=True, slots=True)
class ResponseFilter:
    """The parts of a response to return."""

    included: Sequence[Path] = ()  # paths of the parts to keep; all are kept where there are none
    excluded: Sequence[Path] = ()  # paths of the parts that are taken out of these

    def apply(self, answer: Json) -> Json:
        """Return a response with only the requested parts."""
        part: Any = keep(answer, self.included) if self.included else answer
        return (drop(part, self.excluded) if self.excluded else part) or {}


def read_filter(params: Mapping[str, str]) -> ResponseFilter:
    """Read the parameter of a query string.

    >>> read_filter({"filter_path": "hits.hits._source,-**.text"}).apply(
    ...     {"took": 1, "hits": {"total": 1, "hits": [{"_id": "a", "_source": {"title": "T", "text": "…"}}]}}
    ... )
    {'hits': {'hits': [{'_source': {'title': 'T'}}]}}
    """
    names = [name.strip() for name in params.get(FILTER_PATH, "").split(",")]
    included = [segments(name) for name in names if name and not name.startswith("-")]
    excluded = [segments(name[1:]) for name in names if name.startswith("-") and name != "-"]
    return ResponseFilter(included, excluded)


def segments(path: str) -> Path:
    r"""Split a path at its dots; an escaped dot belongs to a name.

    >>> segments(r"hits.*.a\.b")
    ('hits', '*', 'a.b')
    """
    return tuple(name.replace(r"\.", ".") for name in _SEGMENT.split(path))


def step(name: str, paths: Sequence[Path]) -> Sequence[Path] | None:
    """Return the rest of each path that begins with a name; None if a path ends with it."""
    remaining_paths: list[Path] = []
    for path in paths:
        if not matches(path[0], name):
            continue
        if len(path) == 1:
            return None
        remaining_paths += [path[1:], path] if path[0] == ANY_DEPTH else [path[1:]]
    return remaining_paths


def matches(segment: str, name: str) -> bool:
    """Return whether a name matches a segment, in which `*` stands for any text.

    Each part is taken where it comes first: no regular expression made of a caller's words, which could run on and on.

    >>> matches("h*t*s", "hits"), matches("*_*", "_source"), matches("a*a", "a"), matches("**", "hits")
    (True, True, False, True)
    """
    first, *others = segment.split("*")
    if not others:
        return name == segment
    *middle, last = others
    end = len(name) - len(last)
    place = len(first)
    if place > end or not name.startswith(first) or not name.endswith(last):
        return False
    for part in middle:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def keep(part: Any, paths: Sequence[Path]) -> Any:
    """Return the parts of a response that paths select; None if they select nothing."""
    if isinstance(part, list):
        return [kept for each in part if (kept := keep(each, paths)) is not None] or None
    if not isinstance(part, Mapping):
        return None
    members = {}
    for name, each in part.items():
        further = step(name, paths)
        if further is None:
            members[name] = each
        elif further and (kept := keep(each, further)) is not None:
            members[name] = kept
    return members or None


def drop(part: Any, paths: Sequence[Path]) -> Any:
    """Return a response without the parts that paths select; None if nothing is left."""
    if not part or not isinstance(part, Mapping | list):
        return part
    if isinstance(part, list):
        elements = [(each, drop(each, paths)) for each in part]
        return [left for each, left in elements if each is None or left is not None] or None
    members = {}
    for name, each in part.items():
        further = step(name, paths)
        if further is not None and ((left := drop(each, further)) is not None or each is None):
            members[name] = left
    return members or None
