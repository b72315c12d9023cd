"""Page of groups: reads a window as deep as the page needs, matches beyond it, and the documents to show."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ibidem.grouped_search.backend import PageRequest, SearchBackend, document_ref
from ibidem.grouped_search.neighbours import WindowOverlaps
from ibidem.grouped_search.response import (
    NEVER,
    NO_PLACES,
    Group,
    Json,
    Pages,
    ResponseRenderer,
    build_groups,
    rows_of_step,
    sort_key_earliest,
)
from ibidem.grouped_search.scope import ScopeMatches, append_matches, look_up_duplicates
from ibidem.grouped_search.stats import LateDocument, late_members, response_stats
from ibidem.grouped_search.window import Window, WindowMembers
from ibidem_core.side_packages import need_hook
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.pairs import LongSignatureCache
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import Ranking
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit, Values
from ibidem_ingest.dates import iso_day
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError

Places = Mapping[int, int]  # the place of each row among the versions of its group, the current one last
VersionPlaces = Callable[[Iterable[Sequence[int]], Mapping[int, Document]], Places]  # the hook `version_places`


class VersionSource(Protocol):
    """Reads the fields of documents that determine their versions."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents without their texts; deleted documents are omitted."""


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Places:
    """Return the place of each row among the versions of its group."""
    places: VersionPlaces = need_hook("version_places", "ibidem_mail")
    return places(groups, documents)


def page_places(
    source: VersionSource, window: Window, groups: Iterable[Sequence[int]], request: DedupeRequest
) -> RequestFlow[Places]:
    """Return the place of each row among the versions of its group; empty if not requested."""
    several = [rows for rows in groups if len(rows) > 1]
    if request.keep.by != "current" or not several:
        return NO_PLACES
    rows = [row for rows in several for row in rows]
    read = yield from source.versioned([window.hits[row] for row in rows])
    documents = {row: read[window.name(row)] for row in rows if window.name(row) in read}
    return version_places(several, {row: _dated(each, window, row) for row, each in documents.items()})


def _dated(document: Document, window: Window, row: int) -> Document:
    """Return the document with its signed date, if the date has another field name."""
    day = sort_key_earliest(window.columns, row)
    return document if document.date or day == NEVER else replace(document, date=iso_day(day))


def without_text(hit: Json) -> Document:
    """Return the document of a hit without its text."""
    record = hit["_source"]
    texts = {name: record.get(name, "") for name in ("title", "date", "url")}
    return Document(record["id"], "", meta=record.get("meta", {}), **texts)


class WindowReader:
    """The top of a ranking, read deeper with each request."""

    def __init__(self, source: SearchBackend, page_request: PageRequest) -> None:
        self.ranking = Ranking((), 0)
        self.window: Window
        self.neighbours = WindowOverlaps(source, page_request.request.passages)
        self._source = source
        self._page_request = page_request
        self._step = page_request.request.window
        self._longs = LongSignatureCache()
        self._memberships: dict[DocumentRef, Values] = {}

    def read_steps(self) -> RequestFlow[None]:
        """Read as many steps of the window as the page needs, or as there are."""
        deepest, goal = self._page_request.deepest, self._page_request.start + self._page_request.size
        steps = max(1, -(-min(deepest, goal) // self._step))
        while True:
            depth = min(deepest, steps * self._step)
            self.ranking = yield from self._source.window(depth)
            yield from self._group()
            if self._is_done(depth):
                return
            steps = next_steps(steps, len(self.window.grouping.leads), goal)

    def _is_done(self, depth: int) -> bool:
        """Return whether no further request can add to the page."""
        start, size = self._page_request.start, self._page_request.size
        pages = Pages(self.window.grouping, self._step, size)
        is_full = pages.steps_needed(start + size) is not None
        return is_full or len(self.ranking.hits) < depth or depth == self._page_request.deepest

    def _group(self) -> RequestFlow[None]:
        overrides, hits = self._source.overrides(), self.ranking.hits
        membership = self._page_request.request.membership
        overlaps = yield from self.neighbours.overlaps(hits)
        group = partial(
            Window.group,
            hits,
            self._page_request.request.policy,
            overrides,
            long_signatures=self._longs,
            overlaps=overlaps,
            alone=bool(membership),
        )
        self.window = yield from group_window(self._source, self._longs, group)
        if membership:
            members = need_hook("window_members", "ibidem_mail")
            names = list(map(document_ref, hits))
            stored = yield from self._stored_members(names)
            days = [sort_key_earliest(self.window.columns, row) for row in range(len(hits))]
            own: WindowMembers = members(membership, names, stored, days)
            self.window = self.window.regroup(membership, own, overrides)

    def _stored_members(self, names: Sequence[DocumentRef]) -> RequestFlow[list[Values]]:
        """Return the stored threads and works of documents; those that were read before are not read again."""
        if new := [name for name in names if name not in self._memberships]:
            read = yield from self._source.memberships(new)
            self._memberships |= {name: read.get(name, {}) for name in new}
        return [self._memberships[name] for name in names]


def next_steps(steps: int, groups: int, goal: int) -> int:
    """Return how many steps to read next, if `steps` held too few groups: twice the number needed at the same rate.

    Copies of one text that fill a window would else be read again and again, in steps that are all too short.

    >>> next_steps(1, 8, 10), next_steps(1, 1, 10)
    (2, 20)
    """
    return 2 * steps * goal // max(1, min(groups, goal))


def group_window(
    source: SearchBackend, long_signatures: LongSignatureCache, group: Callable[[], Window]
) -> RequestFlow[Window]:
    """Group a window, and again with missing long signatures; most levels need none."""
    while True:
        window = group()
        if not long_signatures.missing:
            return window
        long_signatures.take((yield from source.long_signatures(sorted(long_signatures.missing))))


def read_long(source: SearchBackend, window: Window, rows: Sequence[int]) -> RequestFlow[None]:
    """Read the long signatures of rows, if they matter."""
    window.read_long(rows)
    if long_signatures := window.matcher.long_signatures.missing:
        window.matcher.long_signatures.take((yield from source.long_signatures(sorted(long_signatures))))


@dataclass(frozen=True, slots=True)
class GroupedPage:
    """A page of groups, with its window and ranking."""

    ranking: Ranking
    window: Window  # the part of it that the page is based on, grouped
    hits: list[Json]  # the list to show
    account: Json  # counts that describe the page


def check_page(page: int, size: int, deepest: int = MAX_WINDOW) -> None:
    """Refuse a page that is beyond every window."""
    if page < 1 or size < 1:
        raise UsageError(f"page {page} of size {size} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= deepest:
        raise UsageError(
            f"page {page} of size {size} lies beyond the first {MAX_WINDOW:,} hits", "narrow the query, or add a filter"
        )


def grouped_page(source: SearchBackend, page_request: PageRequest) -> RequestFlow[GroupedPage]:
    """Build a page of groups."""
    request = page_request.request
    read = WindowReader(source, page_request)
    yield from read.read_steps()
    ranking, read_window = read.ranking, read.window
    pages = Pages(read_window.grouping, request.window, page_request.size)
    window = read_window.head(max(1, pages.steps_used(page_request.start + page_request.size)) * request.window)
    leads = pages.leads(page_request.start)
    late_documents = late_members(window, pages, page_request.start)
    late_leads = [int(window.grouping.lead[row]) for row, _ in pages.late_rows(page_request.start)]
    if request.scope == "matches" and ranking.total <= window.ranked and not late_leads:
        window, scope_matches = yield from widen(source, window, [], leads, request)
    else:
        window, scope_matches = yield from widen(source, window, [*leads, *sorted(set(late_leads))], leads, request)
    members = window.grouping.members(leads).items()
    ordered = window.members if window.members is not None and window.members.is_ordered else None
    unordered = [(first, rows) for first, rows in members if ordered is None or not ordered.set_name(first)]
    steps = [rows_of_step(window, first, rows, request) for first, rows in unordered]
    groups = build_groups(window, leads, request, (yield from page_places(source, window, steps, request)))
    if (portion := page_request.portion) is not None:
        groups = [group.portion(portion.offset, portion.size) for group in groups if group.id == portion.group]
    yield from read_long(source, window, [row for group in groups if group.duplicates for row in group.shown_rows])
    shown_hits = [window.hits[row] for group in groups for row in group.shown_rows]
    sources = yield from source.fetch(shown_hits, scope_matches.outside)
    account = response_stats(window, groups, request, ranking.total, page_request.tables, page_request.deepest)
    late = zip(late_documents, late_leads, strict=True)
    account["late"] = [each.as_json() for each, lead in late if is_unseen(each, lead, scope_matches)]
    account["capped"] = cut_groups(groups, scope_matches)
    account |= read.neighbours.account(window.hits[: window.ranked])
    account |= window.members.stats(window.ranked) if window.members else {}
    hits = ResponseRenderer(window, groups, request, sources, scope_matches.outside).hits()
    return GroupedPage(ranking, window, hits, account)


def widen(
    source: SearchBackend, window: Window, lookup_leads: Sequence[int], leads: Sequence[int], request: DedupeRequest
) -> RequestFlow[tuple[Window, ScopeMatches]]:
    """Add the duplicates that a scope finds beyond a window."""
    if request.scope != "window" and lookup_leads:
        yield from read_long(source, window, leads)
    matches = yield from look_up_duplicates(source, window, lookup_leads, request)
    longs = window.matcher.long_signatures
    wider = yield from group_window(source, longs, lambda: append_matches(window, matches, source.overrides()))
    return wider, matches


def is_unseen(document: LateDocument, lead: int, scope_matches: ScopeMatches) -> bool:
    """Return whether a late document was not yet shown with its group by a scope beyond the window."""
    return (document.index, document.id) not in scope_matches.carriers.get(lead, ())


def cut_groups(groups: Sequence[Group], scope_matches: ScopeMatches) -> list[Json]:
    """Return the groups whose look-up was cut at the limit."""
    return [
        {"group": group.id, "by": list(scope_matches.capped[group.first])}
        for group in groups
        if group.first in scope_matches.capped
    ]
