"""Pages of groups over a window that grows in steps.

A page is `size` groups in the order of their first occurrences, cut from the fewest steps that hold enough groups;
so a page shows the same whether or not later ones were asked for. What a later step adds to a group of an earlier page
is `late`, told on the first page that needed the step.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ibidem.dedupe.leader_clustering import Grouping


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
