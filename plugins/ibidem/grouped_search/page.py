"""Page of groups: reads a window as deep as the page needs, matches beyond it, and the documents shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ibidem.dedupe.long_texts import LongSignatureCache
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.window import Window
from ibidem.grouped_search.backend import PageRequest, SearchBackend
from ibidem.grouped_search.copy_cap import capped_rows, copies, counts, find_capped_texts, only_counted
from ibidem.grouped_search.groups import Group, Pages, build_groups
from ibidem.grouped_search.response import Json, ResponseRenderer
from ibidem.grouped_search.scope import ScopeMatches, append_matches, look_up
from ibidem.grouped_search.stats import Late, late_members, response_stats
from ibidem_engines.cluster.requests import RequestFlow
from ibidem_engines.engine import Ranking
from ibidem_ingest.errors import UsageError


class WindowReader:
    """The top of a ranking, deeper with each request.

    What is in it is the ranking's, but for copies that are only counted; `surplus` holds their content hashes, and
    `matching` how many documents with one of these match, as far as a request told it. Which copies are left out
    depends on the hits above alone, so however deep a page makes it read at once, it reads the same.

    Args:
        source: Where from.
        asked: For which page.
    """

    def __init__(self, source: SearchBackend, page_request: PageRequest) -> None:
        self.ranking = Ranking((), 0)
        self.window: Window
        self.surplus: tuple[str, ...] = ()
        self.matching: dict[str, int] = {}
        self._source = source
        self._asked = page_request
        self._step = page_request.request.window
        self._longs = LongSignatureCache()
        self._ended = False

    def deep_enough(self) -> RequestFlow[None]:
        """Read as many steps of the window as the page needs, or as there are."""
        deepest, wanted = self._asked.deepest, self._asked.page * self._asked.size
        steps = max(1, -(-min(deepest, wanted) // self._step))
        while True:
            depth, known = min(deepest, steps * self._step), self.surplus
            yield from self._read(depth)
            if self._ended or len(self.ranking.hits) >= depth:
                if self._done(depth):
                    return
                groups = len(self.window.grouping.leads)
                steps = steps + 1 if self.surplus != known else next_steps(steps, groups, wanted)

    def _done(self, depth: int) -> bool:
        """Return whether no request would add to the page, or none is possible."""
        filled = Pages(self.window.grouping, self._step, self._asked.size).needed(self._asked.page) is not None
        return filled or self._ended or depth == self._asked.deepest

    def _read(self, depth: int) -> RequestFlow[None]:
        """Read down to a depth, and leave out what is only counted."""
        yield from self._hits(depth)
        yield from self._group()
        if not self._asked.may_leave_out or (depth == self._step and self._done(depth)):
            return
        capped = find_capped_texts(self.window, self._source.overrides())
        self.surplus = tuple(capped)
        if rows := capped_rows(capped, self._step):
            hits = self.ranking.hits
            self.ranking = replace(self.ranking, hits=[hit for row, hit in enumerate(hits) if row not in rows])
            yield from self._group()

    def _hits(self, depth: int) -> RequestFlow[None]:
        """Read hits down to a depth: all again, or those that follow the ones that were read, without surplus."""
        if not self.surplus:
            self.ranking = yield from self._source.window(depth)
            self._ended = len(self.ranking.hits) < depth
            return
        rows = copies(self.window)
        size = depth - sum(len(rows.get(content, ())) for content in self.surplus)
        ranking = yield from self._source.window(size, self.surplus)
        if len(self.surplus) == 1:
            self.matching[self.surplus[0]] = self.ranking.total - ranking.total
        self._ended = len(ranking.hits) < size
        known = {(hit.index, hit.id) for hit in self.ranking.hits}
        fresh = [hit for hit in ranking.hits if (hit.index, hit.id) not in known]
        self.ranking = replace(self.ranking, hits=[*self.ranking.hits, *fresh][:depth])

    def _group(self) -> RequestFlow[None]:
        overrides, hits = self._source.overrides(), self.ranking.hits
        grouped = partial(Window.of, hits, self._asked.request.policy, overrides, long_signatures=self._longs)
        self.window = yield from group_window(self._source, self._longs, grouped)


def next_steps(steps: int, groups: int, wanted: int) -> int:
    """Say how many steps to read next, where so many held too few groups: twice what would do at the same rate.

    Copies of one text that fill a window would else be read again and again, in steps that are all too short.

    >>> next_steps(1, 8, 10), next_steps(1, 1, 10)
    (2, 20)
    """
    return 2 * steps * wanted // max(1, min(groups, wanted))


def group_window(
    source: SearchBackend, long_signatures: LongSignatureCache, grouped: Callable[[], Window]
) -> RequestFlow[Window]:
    """Group a window, and again with the long signatures that were missing; at most levels none are.

    Args:
        source: Where these come from.
        long_signatures: Those that are there.
        grouped: Groups the window with them.
    """
    while True:
        window = grouped()
        if not long_signatures.missing:
            return window
        long_signatures.take((yield from source.long_signatures(sorted(long_signatures.missing))))


def read_long(source: SearchBackend, window: Window, rows: Sequence[int]) -> RequestFlow[None]:
    """Read the long signatures of rows, where they matter."""
    window.read_long(rows)
    if long_signatures := window.related.long_signatures.missing:
        window.related.long_signatures.take((yield from source.long_signatures(sorted(long_signatures))))


@dataclass(frozen=True, slots=True)
class GroupedPage:
    """What comes of it.

    Args:
        ranking: What was ranked.
        window: The part of it that the page is based on, grouped.
        hits: The list to show.
        account: What it is based on, counted.
    """

    ranking: Ranking
    window: Window
    hits: list[Json]
    account: Json


def check_page(page: int, size: int, deepest: int = DEEPEST) -> None:
    """Refuse a page that no window reaches."""
    if page < 1 or size < 1:
        raise UsageError(f"page {page} of size {size} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= deepest:
        raise UsageError(
            f"page {page} of size {size} lies beyond the first {DEEPEST:,} hits", "narrow the query, or add a filter"
        )


def grouped_page(source: SearchBackend, page_request: PageRequest) -> RequestFlow[GroupedPage]:
    """Make a page of groups.

    Args:
        source: Where from.
        page_request: Which page.
    """
    request = page_request.request
    read = WindowReader(source, page_request)
    yield from read.deep_enough()
    ranking, whole = read.ranking, read.window
    pages = Pages(whole.grouping, request.window, page_request.size)
    window = whole.first(max(1, pages.used(page_request.page)) * request.window)
    leads = pages.leads(page_request.page)
    told_late = late_members(window, pages, page_request.page)
    late_leads = [int(window.grouping.lead[row]) for row, _ in pages.late(page_request.page)]
    wanted = [*leads, *sorted(set(late_leads))]
    if request.scope == "matches" and ranking.total <= window.ranked and not late_leads:
        wanted = []
    if request.scope != "window" and wanted:
        yield from read_long(source, window, leads)
    beyond = yield from look_up(source, window, wanted, request)
    above = window
    window = yield from group_window(
        source, above.related.long_signatures, lambda: append_matches(above, beyond, source.overrides())
    )
    groups = build_groups(window, leads, request)
    if (some := page_request.portion) is not None:
        groups = [group.portion(some.skipped, some.most) for group in groups if group.id == some.group]
    yield from read_long(source, window, [row for group in groups if group.duplicates for row in group.listed])
    rest = only_counted(window, (yield from count_capped(source, read)), beyond.outside)
    stored = yield from source.fetch([window.name(row) for group in groups for row in group.listed])
    account = response_stats(
        window, groups, request, ranking.total, page_request.tables, page_request.deepest, rest
    ) | {
        "late": [
            each.as_json() for each, lead in zip(told_late, late_leads, strict=True) if is_unseen(each, lead, beyond)
        ],
        "capped": cut_groups(groups, beyond),
    }
    return GroupedPage(
        ranking, window, ResponseRenderer(window, groups, request, stored, beyond.outside, rest).hits(), account
    )


def count_capped(source: SearchBackend, read: WindowReader) -> RequestFlow[dict[str, int]]:
    """Count the documents that match of each text whose further copies were left out."""
    unknown = [content for content in read.surplus if content not in read.matching]
    results = (yield from source.find(counts(unknown), everywhere=False)) if unknown else ()
    return read.matching | {content: each.same for content, each in zip(unknown, results, strict=True)}


def is_unseen(late: Late, lead: int, beyond: ScopeMatches) -> bool:
    """Return whether a late document was not shown with its group already, by a scope that looks beyond the window."""
    return (late.index, late.id) not in beyond.carried.get(lead, ())


def cut_groups(groups: Sequence[Group], beyond: ScopeMatches) -> list[Json]:
    """List the groups for whose lead a look-up was cut at the limit."""
    return [
        {"group": group.id, "by": list(beyond.capped[group.first])} for group in groups if group.first in beyond.capped
    ]
