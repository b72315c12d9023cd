"""Groups of a page, over a window that grows in steps: the representative of each, and the members shown.

A page is `size` groups in the order of their first occurrences, cut from the fewest steps that hold enough groups;
so a page shows the same whether or not later ones were asked for. What a later step adds to a group of an earlier page
is `late`, shown on the first page that needed the step.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ibidem.dedupe.leader_clustering import Grouping
from ibidem.dedupe.parameters import Keep, KeepBy
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.window import Window
from ibidem_ingest.signatures.packed import NO_DATE, hash_value
from ibidem_ingest.signatures.packed_columns import PackedColumns

NEVER = 1 << 40
Worse = Callable[[PackedColumns, int], int]


def sort_key_earliest(columns: PackedColumns, row: int) -> int:
    """Return the first day of a row's date; no date comes last."""
    day = int(columns.date_from[row])
    return day if columns.signed[row] and day != NO_DATE else NEVER


def sort_key_latest(columns: PackedColumns, row: int) -> int:
    """Return the last day of a row's date, later days first; no date comes last."""
    day = int(columns.date_to[row])
    return -day if columns.signed[row] and day != NO_DATE else NEVER


WORSE: Mapping[KeepBy, Worse] = {
    "rank": lambda _, row: row,
    "earliest": sort_key_earliest,
    "latest": sort_key_latest,
    "longest": lambda columns, row: -int(columns.length[row]),
}
"""For each way of choosing a number that is least for the member to show."""


def by_source(sources: Sequence[str]) -> Worse:
    """Order by the place of a row's source in a list; sources that are not listed come last.

    A packed value holds four bytes of a hash of the source: two names meet once in four billion pairs.
    """
    places = {
        int.from_bytes(hash_value(name.encode()), "little"): place for place, name in reversed(list(enumerate(sources)))
    }
    return lambda columns, row: places.get(int(columns.source[row]), NEVER)


def choose_lead(columns: PackedColumns, members: Sequence[int], keep: Keep) -> int:
    """Return the member that is shown as the lead; ties go to the first in rank.

    Args:
        columns: The packed values of the window.
        members: Rows to choose from, in rank order: those of the step of the window in which the group began.
        keep: How to choose.
    """
    worse = by_source(keep.sources) if keep.by == "source" else WORSE[keep.by]
    return min(members, key=lambda row: (worse(columns, row), row))


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a page.

    Args:
        id: Its name.
        first: Row of its first occurrence, which gives it its place.
        lead: Row of the member that is shown as its lead.
        duplicates: Rows of the others, in rank order.
        shown: How many of these are shown.
        skipped: How many come before those.
        unread: How many further ones match that were not read.
    """

    id: str
    first: int
    lead: int
    duplicates: tuple[int, ...]
    shown: int
    skipped: int = 0
    unread: int = 0

    @property
    def size(self) -> int:
        """All known members, the lead included."""
        return 1 + len(self.duplicates) + self.unread

    @property
    def listed(self) -> tuple[int, ...]:
        """The rows that are shown, the lead first."""
        return (self.lead, *self.duplicates[self.skipped : self.skipped + self.shown])

    def portion(self, skipped: int, most: int) -> "Group":
        """Return the group with other duplicates shown: so many, behind so many."""
        return replace(self, skipped=skipped, shown=max(0, min(len(self.duplicates) - skipped, most)))


def build_groups(window: Window, leads: Sequence[int], request: DedupeRequest) -> list[Group]:
    """Arrange the groups of a page.

    Args:
        window: The grouped hits.
        leads: First occurrences of the page's groups, in rank order.
        request: Which member leads and how many follow.
    """
    return [build_group(window, first, rows, request) for first, rows in window.grouping.members(leads).items()]


def build_group(window: Window, first: int, rows: Sequence[int], request: DedupeRequest) -> Group:
    """Arrange one group; its lead is chosen among those of the step of the window in which it began."""
    step_end = min(window.ranked, (first // request.window + 1) * request.window)
    lead = choose_lead(window.columns, [row for row in rows if row < step_end], request.keep)
    duplicates = tuple(row for row in rows if row != lead)
    most = len(duplicates) if request.max_per_group is None else request.max_per_group
    return Group(window.group_id(first), first, lead, duplicates, min(len(duplicates), most))


@dataclass(frozen=True, slots=True)
class Pages:
    """How groups fall on pages.

    Args:
        grouping: Of all rows that were read.
        step: Rows in a step of the window.
        size: Groups on a page.
    """

    grouping: Grouping
    step: int
    size: int

    @property
    def steps(self) -> int:
        """How many steps were read, the last maybe in part."""
        return -(-len(self.grouping.lead) // self.step)

    def needed(self, page: int) -> int | None:
        """Return how many steps a page needs; None when those that were read do not fill it."""
        last = page * self.size
        leads = self.grouping.leads
        if last <= 0:
            return 0
        return int(leads[last - 1]) // self.step + 1 if last <= len(leads) else None

    def used(self, page: int) -> int:
        """Return how many steps a page is based on: those it needs, or all where they do not fill it."""
        needed = self.needed(page)
        return self.steps if needed is None else needed

    def leads(self, page: int) -> list[int]:
        """Return the first occurrences of a page's groups."""
        leads: list[int] = self.grouping.leads[(page - 1) * self.size : page * self.size].tolist()
        return leads

    def late(self, page: int) -> Iterator[tuple[int, int]]:
        """Yield the rows that the page's own steps add to groups of earlier pages, each with its group's page."""
        start, end = self.used(page - 1) * self.step, self.used(page) * self.step
        leads = self.grouping.lead[start:end]
        place = np.searchsorted(self.grouping.leads, leads)
        earlier = np.flatnonzero((leads != np.arange(start, start + len(leads))) & (place < (page - 1) * self.size))
        for at in earlier.tolist():
            yield start + at, int(place[at]) // self.size + 1
