"""Collapsed search: what matches a query, ranked by stored group, and counted over all matches.

The engine collapses and counts by itself, so that no window bounds what is found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ibidem_engines.engine import Hit
from ibidem_engines.query import Query
from ibidem_engines.reindex import Marks
from ibidem_engines.stored_groups import WithGroups

Order = Literal["relevance", "newest", "oldest"]
"""How what matches is ordered; by date, documents without one come last."""

MOST_GROUPS = 40_000
"""Groups of two or more up to which an engine counts them exactly."""

MOST_MEMBERS = 10_000
"""The most documents of one group that are read."""


@dataclass(frozen=True, slots=True)
class GroupHit:
    """A hit with its stored group.

    Args:
        hit: The hit.
        group: The group's name; empty for a document that has none.
        score: The engine's score; None where it does not score.
    """

    hit: Hit
    group: str
    score: float | None

    @property
    def name(self) -> tuple[str, str]:
        """Index and id."""
        return self.hit.index, self.hit.id


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """All that matches, counted.

    Args:
        documents: Documents.
        groups: Groups of which at least one document matches; a document without a stored group is one of its own.
        exact: Whether the groups were counted, not estimated.
        ungrouped: Documents without a stored group.
        unsettled: Documents that whoever settles groups has not come to.
        unsigned: Documents without signatures, or without words.
        short: Signed documents of fewer than five words.
        tables: Documents by the name of their idf table; those without one are left out.
    """

    documents: int
    groups: int
    exact: bool
    ungrouped: int
    unsettled: int
    unsigned: int
    short: int
    tables: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A part of a collapsed ranking.

    Args:
        heads: The best document of each group, in rank order.
        counts: What matches.
        best: The highest score; None where nothing is scored.
        after: What follows the last of them, to go on from there; None where the engine needs no more than a
            number.
        newest: The highest number of a write among what matches, where the engine needs it for a cursor.
        cursor: Hand it to the next request and it ranks what this one ranked; empty when the engine keeps none.
    """

    heads: Sequence[GroupHit]
    counts: MatchCounts
    best: float | None
    after: Sequence[object] | None = None
    newest: int = -1
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """Documents of some groups that match.

    Args:
        hits: As many of each group as were asked for, in rank order.
        sizes: How many of each group match.
    """

    hits: Sequence[GroupHit]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FacetCount:
    """What matches and has a value in common.

    Args:
        value: The value.
        documents: How many documents.
        groups: How many groups they are of; a server estimates more than some thousands.
    """

    value: str
    documents: int
    groups: int


@dataclass(frozen=True, slots=True)
class Facets:
    """All that matches, by some fields.

    Args:
        sources: By source, the most frequent first.
        languages: By language, the most frequent first.
        years: By the year of the date, the latest first.
    """

    sources: Sequence[FacetCount]
    languages: Sequence[FacetCount]
    years: Sequence[FacetCount]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a collapsed ranking to begin.

    Args:
        start: How many groups come before.
        after: What an earlier request gave to go on from; needed beyond the groups that an engine counts off.
    """

    start: int
    after: Sequence[object] | None = None


class CollapseEngine(WithGroups, Protocol):
    """An engine that collapses by stored groups."""

    def collapse(  # noqa: PLR0913 - what a ranking is based on
        self, query: Query, place: Place, size: int, *, settled: Marks, order: Order = "relevance", cursor: str = ""
    ) -> Collapsed:
        """Rank what matches, the best document of each group alone.

        Args:
            query: For what.
            place: Where to begin.
            size: How many groups.
            settled: Up to which write of each part groups are settled.
            order: How documents are ordered.
            cursor: What an earlier request gave.

        Raises:
            UsageError: The place lies beyond what can be counted off.
        """

    def members(
        self, query: Query, groups: Sequence[str], most: int, *, order: Order = "relevance", cursor: str = ""
    ) -> Members:
        """Read the documents of some groups that match, so many of each, in rank order."""

    def facets(self, query: Query, most: int) -> Facets:
        """Count all that matches by source, language and year, as far as the fields are there.

        Args:
            query: For what.
            most: How many sources and languages at most.
        """
