"""The groups of a page as they are shown: which member leads, which follow, and how many are kept out of sight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ibidem.dedupe.keep import shown_lead
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.window import Window


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
    """

    id: str
    first: int
    lead: int
    duplicates: tuple[int, ...]
    shown: int
    skipped: int = 0

    @property
    def size(self) -> int:
        """All known members, the lead included."""
        return 1 + len(self.duplicates)

    @property
    def listed(self) -> tuple[int, ...]:
        """The rows that are shown, the lead first."""
        return (self.lead, *self.duplicates[self.skipped : self.skipped + self.shown])

    def portion(self, skipped: int, most: int) -> "Group":
        """Return the group with other duplicates shown: so many, behind so many."""
        return replace(self, skipped=skipped, shown=max(0, min(len(self.duplicates) - skipped, most)))


def arrange(window: Window, leads: Sequence[int], request: DedupeRequest) -> list[Group]:
    """Arrange the groups of a page.

    Args:
        window: The grouped hits.
        leads: First occurrences of the page's groups, in rank order.
        request: Which member leads and how many follow.
    """
    return [arranged(window, first, rows, request) for first, rows in window.grouping.members(leads).items()]


def arranged(window: Window, first: int, rows: Sequence[int], request: DedupeRequest) -> Group:
    """Arrange one group; its lead is chosen among those of the step of the window in which it began."""
    step_end = min(window.ranked, (first // request.window + 1) * request.window)
    lead = shown_lead(window.columns, [row for row in rows if row < step_end], request.keep)
    duplicates = tuple(row for row in rows if row != lead)
    most = len(duplicates) if request.max_per_group is None else request.max_per_group
    return Group(window.group_id(first), first, lead, duplicates, min(len(duplicates), most))
