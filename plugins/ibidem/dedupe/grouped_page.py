"""A page of groups: the window as deep as the page needs, its leads' duplicates beyond, and the documents shown."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ibidem.dedupe.account import Late, account, late
from ibidem.dedupe.arrangement import Group, arrange
from ibidem.dedupe.longs import Longs
from ibidem.dedupe.overrides import Name, Override
from ibidem.dedupe.paging import Pages
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.present import Json, Page
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.scope import Beyond, behind, look_up
from ibidem.dedupe.window import Window
from ibidem_engines.engine import Found, Ranking, Search
from ibidem_engines.exchange import Exchange
from ibidem_ingest.errors import UsageError


class Source(Protocol):
    """Where a ranking, its documents and their duplicates come from."""

    def window(self, depth: int) -> Exchange[Ranking]:
        """Give the top of the ranking; called again, deeper, it gives the same ranking."""

    def overrides(self) -> Sequence[Override]:
        """Give readers' words; called once the window is there."""

    def find(self, searches: Sequence[Search], *, everywhere: bool) -> Exchange[list[Found]]:
        """Look up signature values among what matches, or among all that the caller's filters let in."""

    def long_signatures(self, names: Sequence[Name]) -> Exchange[Mapping[Name, bytes]]:
        """Give the long signatures of documents; those that have none are left out."""

    def fetch(self, names: Sequence[Name]) -> Exchange[Mapping[Name, Json]]:
        """Give documents as hits hold them; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One page, checked.

    Args:
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page.
        tables: Names of the current idf tables; may be empty.
        deepest: The most hits that a window may hold.
    """

    request: DedupeRequest
    page: int
    size: int
    tables: Collection[str] = ()
    deepest: int = DEEPEST


@dataclass(frozen=True, slots=True)
class GroupedPage:
    """What comes of it.

    Args:
        ranking: What was ranked.
        window: The part of it that the page stands on, grouped.
        hits: The list to show.
        account: What it stands on, counted.
    """

    ranking: Ranking
    window: Window
    hits: list[Json]
    account: Json


def check_page(page: int, size: int) -> None:
    """Refuse a page that no window reaches."""
    if page < 1 or size < 1:
        raise UsageError(f"page {page} of size {size} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= DEEPEST:
        raise UsageError(
            f"page {page} of size {size} lies beyond the first {DEEPEST:,} hits", "narrow the query, or add a filter"
        )


def grouped_page(source: Source, asked: Asked) -> Exchange[GroupedPage]:
    """Make a page of groups.

    Args:
        source: Where from.
        asked: Which page.
    """
    request = asked.request
    ranking, whole = yield from deep_enough(source, asked)
    pages = Pages(whole.grouping, request.window, asked.size)
    window = whole.first(max(1, pages.used(asked.page)) * request.window)
    leads = pages.leads(asked.page)
    told_late = late(window, pages, asked.page)
    late_leads = [int(window.grouping.lead[row]) for row, _ in pages.late(asked.page)]
    wanted = [*leads, *sorted(set(late_leads))]
    if request.scope == "matches" and ranking.total <= window.ranked and not late_leads:
        wanted = []
    if request.scope != "window" and wanted:
        yield from read_long(source, window, leads)
    beyond = yield from look_up(source.find, window, wanted, request)
    above = window
    window = yield from related(source, above.related.longs, lambda: behind(above, beyond, source.overrides()))
    groups = arrange(window, leads, request)
    yield from read_long(source, window, [row for group in groups if group.duplicates for row in group.listed])
    stored = yield from source.fetch([window.name(row) for group in groups for row in group.listed])
    told = account(window, groups, request, ranking.total, asked.tables, asked.deepest) | {
        "late": [
            each.as_json() for each, lead in zip(told_late, late_leads, strict=True) if unseen(each, lead, beyond)
        ],
        "capped": cut_off(groups, beyond),
    }
    return GroupedPage(ranking, window, Page(window, groups, request, stored, beyond.outside).hits(), told)


def deep_enough(source: Source, asked: Asked) -> Exchange[tuple[Ranking, Window]]:
    """Read and group as many steps of the window as the page needs, or as there are."""
    step = asked.request.window
    steps = max(1, -(-min(asked.deepest, asked.page * asked.size) // step))
    longs = Longs()
    while True:
        depth = min(asked.deepest, steps * step)
        ranking = yield from source.window(depth)
        grouped = partial(Window.of, ranking.hits, asked.request.policy, source.overrides(), longs=longs)
        window = yield from related(source, longs, grouped)
        filled = Pages(window.grouping, step, asked.size).needed(asked.page) is not None
        if filled or len(ranking.hits) < depth or depth == asked.deepest:
            return ranking, window
        steps = further(steps, len(window.grouping.leads), asked.page * asked.size)


def further(steps: int, groups: int, wanted: int) -> int:
    """Say how many steps to read next, where so many held too few groups: twice what would do at the same rate.

    Copies of one text that fill a window would else be read again and again, in steps that are all too short.

    >>> further(1, 8, 10), further(1, 1, 10)
    (2, 20)
    """
    return 2 * steps * wanted // max(1, min(groups, wanted))


def related(source: Source, longs: Longs, grouped: Callable[[], Window]) -> Exchange[Window]:
    """Group a window, and again with the long signatures that were missing; at most levels none are.

    Args:
        source: Where these come from.
        longs: Those that are there.
        grouped: Groups the window with them.
    """
    while True:
        window = grouped()
        if not longs.missing:
            return window
        longs.take((yield from source.long_signatures(sorted(longs.missing))))


def read_long(source: Source, window: Window, rows: Sequence[int]) -> Exchange[None]:
    """Read the long signatures of rows, where they matter."""
    window.read_long(rows)
    if longs := window.related.longs.missing:
        window.related.longs.take((yield from source.long_signatures(sorted(longs))))


def unseen(told: Late, lead: int, beyond: Beyond) -> bool:
    """Tell whether a late document was not shown with its group already, by a scope that looks beyond the window."""
    return (told.index, told.id) not in beyond.carried.get(lead, ())


def cut_off(groups: Sequence[Group], beyond: Beyond) -> list[Json]:
    """List the groups for whose lead a look-up was cut at the limit."""
    return [
        {"group": group.id, "by": list(beyond.capped[group.first])} for group in groups if group.first in beyond.capped
    ]
