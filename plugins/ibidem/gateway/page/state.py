"""State of the page, all of it in the URL, and the choices of facets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.datastructures import QueryParams

from ibidem.comparison.html import printable
from ibidem.dedupe.parameters import DEEPEST, MODES, PRESETS, SCOPES
from ibidem.dedupe.request import DedupeRequest, pair_policy, parse_request
from ibidem.dedupe.window import Window
from ibidem.gateway.openapi import LONGEST_QUERY, Known
from ibidem.grouped_search.stats import by_source, by_year
from ibidem_engines.collapse import Order
from ibidem_engines.engine import Engine
from ibidem_engines.query import Query as Asked
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.pairs.decision import LEVELS, Level, Policy

HOME = "/"
KEEPS = ("rank", "earliest", "latest", "longest")
ORDERS: tuple[Order, ...] = get_args(Order)
SIZES = (10, 25, 50)
MOST_SOURCES = 20

Choice = tuple[str, str]
"""A value, and how people call it."""

LABELS: Mapping[str, Sequence[Choice]] = {
    "dedupe": (("indent", "indented"), ("collapse", "collapsed"), ("off", "not grouped")),
    "level": (("identical", "identical"), ("near", "near"), ("partial", "partial")),
    "keep": (
        ("rank", "best match"),
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("longest", "longest"),
    ),
    "scope": (("window", "top results"), ("matches", "all results"), ("index", "whole index")),
    "sort": (("relevance", "relevance"), ("newest", "newest first"), ("oldest", "oldest first")),
    "preset": (("", "none"), *((name, name) for name in PRESETS)),
    "size": tuple((str(size), str(size)) for size in SIZES),
}
"""What can be chosen, by the names in the address."""


@dataclass(frozen=True, slots=True)
class PageState:
    """What is looked for, and how it is shown.

    Args:
        q: The words, as typed.
        dedupe: Where duplicates stand.
        level: How much alike two documents have to be.
        keep: Which copy leads; `source:A,B` too.
        similarity: Least share of common text, in percent; empty: the preset's figures.
        days: Most days between two duplicates; empty: any.
        scope: Where duplicates are looked for.
        preset: A named set of figures; empty: the default ones.
        source: Only documents of these sources.
        date: Only documents of this date, as a filter has it.
        sort: How the examined hits are ordered.
        page: Which page, from 1.
        size: Groups on a page.
    """

    q: str = ""
    dedupe: str = "indent"
    level: str = ""
    keep: str = "rank"
    similarity: str = ""
    days: str = ""
    scope: str = "window"
    preset: str = ""
    source: tuple[str, ...] = ()
    date: str = ""
    sort: Order = "relevance"
    page: int = 1
    size: int = SIZES[0]

    def request(self) -> DedupeRequest:
        """Return what is asked of the dedupe layer."""
        given = {
            "dedupe": self.dedupe,
            "dedupe_level": self.level,
            "dedupe_keep": self.keep,
            "dedupe_similarity": self.similarity,
            "dedupe_window_days": self.days,
            "dedupe_scope": self.scope,
            "dedupe_preset": self.preset,
            "dedupe_explain": "true",
        }
        return parse_request({name: value for name, value in given.items() if value}, mode="indent").for_people()

    def query(self) -> Asked:
        """Return what is searched for."""
        dates = [f"date={self.date}"] if self.date else []
        return parse_query(self.q, [f"source={name}" for name in self.source] + dates)

    def address(self, **changes: Any) -> str:
        """Return the address of this state with some of it changed; what is as by default is left out.

        >>> PageState(q="grain").address(level="identical", page=2)
        '/?q=grain&level=identical&page=2'
        """
        return HOME + self.suffix(**changes)

    def policy(self, level: Level = "near") -> Policy:
        """Return the decision for a pair.

        Args:
            level: The level where none is chosen.
        """
        given = {
            "dedupe_level": self.level,
            "dedupe_similarity": self.similarity,
            "dedupe_preset": self.preset,
            "dedupe_window_days": self.days,
        }
        return pair_policy(given, level)

    def figures(self, *names: str) -> str:
        """Return what decides on a pair, behind another part of an address.

        >>> PageState(preset="law", level="partial").figures("preset", "days")
        '&preset=law'
        """
        chosen = {name: value for name in names if (value := getattr(self, name))}
        return f"&{urlencode(chosen)}" if chosen else ""

    def rest(self, group: str, after: int) -> str:
        """Return the address of further duplicates of a group.

        Args:
            group: The group's name.
            after: How many come before them.
        """
        own = urlencode({"group": group, "after": after})
        return f"/ibidem/page/group{self.suffix(page=self.page)}&{own}"

    def suffix(self, **changes: Any) -> str:
        """Return the address's query string with its question mark; empty for a page without words."""
        changed = replace(self, **({"page": 1} | changes))
        pairs = [(name, value) for name, value in changed.pairs() if value not in ("", (), DEFAULTS[name])]
        return f"?{urlencode(pairs, doseq=True)}" if pairs else ""

    def pairs(self) -> list[tuple[str, Any]]:
        """Return names and values in the order of the address."""
        return [(name, getattr(self, name)) for name in NAMES]

    def with_source(self, name: str) -> "tuple[str, ...]":
        """Return the sources with one added, or taken away when it was there."""
        return tuple(each for each in self.source if each != name) if name in self.source else (*self.source, name)

    def chosen(self, name: str, value: str) -> bool:
        """Tell whether a choice is the one that is made."""
        return str(getattr(self, name) or CHOSEN.get(name, "")) == value


NAMES = (
    "q",
    "dedupe",
    "level",
    "keep",
    "similarity",
    "days",
    "scope",
    "preset",
    "source",
    "date",
    "sort",
    "page",
    "size",
)
DEFAULTS: Mapping[str, object] = {name: getattr(PageState(), name) for name in NAMES}
CHOSEN = {"level": "near"}
"""What an empty value stands for."""


class Shown(Known):
    """The address of a list."""

    q: str = Field(default="", max_length=LONGEST_QUERY, description="Words that must occur.")
    dedupe: str = Field(default="", description=f"{', '.join(MODES)}.")
    level: str = Field(default="", description=f"{', '.join(LEVELS)}.")
    keep: str = Field(default="", max_length=2_000, description=f"{', '.join(KEEPS)}, source:A,B.")
    similarity: str = Field(default="", max_length=10, description="Least share of common text, in percent.")
    days: str = Field(default="", max_length=10, description="Most days between two duplicates.")
    scope: str = Field(default="", description=f"{', '.join(SCOPES)}.")
    preset: str = Field(default="", description=f"{', '.join(PRESETS)}.")
    source: list[str] = Field(default=[], max_length=MOST_SOURCES, description="Only these sources.")
    date: str = Field(default="", max_length=40, description="Only this date, or FROM..TO.")
    sort: Literal["", "relevance", "newest", "oldest"] = Field(default="", description=f"{', '.join(ORDERS)}.")
    page: int = Field(default=1, ge=1, le=DEEPEST, description="Which page.")
    size: int = Field(default=SIZES[0], ge=1, le=100, description="Groups on a page.")

    def state(self) -> PageState:
        """Return the state that the address stands for; an empty value is the default one.

        Raises:
            UsageError: A mode that does not exist.
        """
        given = {name: value for name in NAMES if (value := getattr(self, name)) not in ("", [])}
        if "dedupe" in given and given["dedupe"] not in MODES:
            raise UsageError(f"dedupe={given['dedupe']!r} is not understood", f"allowed: {', '.join(MODES)}")
        return PageState(**(given | {"source": tuple(dict.fromkeys(filter(None, self.source)))}))


def shown(parameters: QueryParams) -> Shown:
    """Read the address of a list.

    Args:
        parameters: Of the query string.

    Raises:
        RequestValidationError: A parameter that is not known, or not right.
    """
    several = {name for name, field in Shown.model_fields.items() if field.default == []}
    given = {name: parameters.getlist(name) if name in several else parameters[name] for name in parameters}
    try:
        return Shown.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError([each | {"loc": ("query", *each["loc"])} for each in error.errors()]) from error


MOST = 12
"""Sources that are listed."""


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A value that the list may be narrowed to.

    Args:
        name: The value.
        address: The list with it, or without it when it is chosen already.
        documents: How many examined documents have it.
        groups: In how many groups.
        chosen: Whether the list is narrowed to it.
    """

    name: str
    address: str
    documents: int
    groups: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that the list may be narrowed to.

    Args:
        sources: Sources, the most frequent first.
        years: Years, the latest first.
    """

    sources: Sequence[FacetChoice] = ()
    years: Sequence[FacetChoice] = ()


def choices(engine: Engine, window: Window | None, state: PageState) -> Choices:
    """Count what the list may be narrowed to.

    Args:
        engine: Where names of sources are read, from one document each.
        window: What was examined; None when nothing was grouped.
        state: What the page shows.
    """
    if window is None or not window.ranked:
        return Choices()
    facets = by_source(window, MOST)
    names = [window.name(facet.row) for facet in facets]
    sources = {(each.index, each.document.id): each.document.source for each in engine.fetch(names)}
    return Choices(
        sources=[
            FacetChoice(
                printable(source),
                state.address(source=state.with_source(source)),
                facet.documents,
                facet.groups,
                source in state.source,
            )
            for name, facet in zip(names, facets, strict=True)
            if (source := sources.get(name, ""))
        ],
        years=[
            FacetChoice(
                str(year),
                state.address(date="" if state.date == str(year) else str(year)),
                facet.documents,
                facet.groups,
                state.date == str(year),
            )
            for year, facet in by_year(window)
        ],
    )
