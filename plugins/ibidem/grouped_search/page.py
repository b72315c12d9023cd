"""Page of groups: reads a window as deep as the page needs, matches beyond it, and the documents to show.

Copy cap: after 100 copies of one text, further copies are counted, not fetched, where the first step of the window does
not fill the page. Otherwise one story with 100,000 copies would use up the whole window.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ibidem.grouped_search.backend import PageRequest, SearchBackend, document_ref
from ibidem.grouped_search.current_version import page_places
from ibidem.grouped_search.neighbours import WindowOverlaps
from ibidem.grouped_search.response import (
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
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pairs import LongSignatureCache
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import Ranking, SignatureLookup
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Values
from ibidem_ingest.errors import UsageError

MANY = 100  # copies of a text from which on further ones are surplus


def find_capped_texts(window: Window, overrides: Iterable[Override]) -> dict[str, Sequence[int]]:
    """Return the rows of the texts that have more copies than needed, by content hash.

    All copies must be sure to join the first of them. So this one leads its group; no field that must not differ keeps
    one of them apart from it, and no manual decision.
    """
    cannot_link = {name for word in overrides if word.verdict == "not" for name in (word.a, word.b)}
    return {
        content: rows
        for content, rows in copies(window).items()
        if len(rows) >= MANY and joins_every_copy(window, rows[0]) and window.name(rows[0]) not in cannot_link
    }


def joins_every_copy(window: Window, row: int) -> bool:
    """Return whether a row is a lead that every copy of its text would join."""
    return bool(window.grouping.lead[row] == row and window.columns.guard[row] == 0)


def copies(window: Window) -> Mapping[str, Sequence[int]]:
    """Return the rows of each text by its content hash, in rank order, except for texts without words."""
    hashes = window.columns.content.astype("<u8").tobytes().hex()
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row in range(len(window.hits)):
        if window.columns.length[row]:
            rows[f"ch{window.columns.scheme[row]}:{hashes[32 * row : 32 * row + 32]}"].append(row)
    return rows


def capped_rows(copies: Mapping[str, Sequence[int]], step: int) -> set[int]:
    """Return the rows that are only counted: copies beyond the first step and beyond the first hundred."""
    return {row for rows in copies.values() for row in rows[MANY:] if row >= step}


def counts(contents: Iterable[str]) -> list[SignatureLookup]:
    """Return the look-ups that count the documents of each text."""
    return [SignatureLookup({"content": [content]}, limit=0) for content in contents]


def count_unread(window: Window, matching: Mapping[str, int], outside: Collection[DocumentRef] = ()) -> dict[str, int]:
    """Return the number of counted, unread copies of each text, by the id of its group."""
    rows = copies(window) if matching else {}
    counts = {}
    for content, count in matching.items():
        read = [row for row in rows.get(content, ()) if window.name(row) not in outside]
        if read and count > len(read):
            counts[window.group_id(read[0])] = count - len(read)
    return counts


class WindowReader:
    """The top of a ranking, read deeper with each request.

    It holds the ranking without copies that are only counted; `surplus` holds their content hashes, and
    `matching` how many documents with one of these match, as far as a request counted them. Which copies are left out
    depends on the hits above alone, so however deep a page makes it read at once, it reads the same.
    """

    def __init__(self, source: SearchBackend, page_request: PageRequest) -> None:
        self.ranking = Ranking((), 0)
        self.window: Window
        self.surplus: tuple[str, ...] = ()
        self.matching: dict[str, int] = {}
        self.neighbours = WindowOverlaps(source, page_request.request.passages)
        self._source = source
        self._page_request = page_request
        self._step = page_request.request.window
        self._longs = LongSignatureCache()
        self._memberships: dict[DocumentRef, Values] = {}
        self._exhausted = False

    def read_steps(self) -> RequestFlow[None]:
        """Read as many steps of the window as the page needs, or as there are."""
        deepest, goal = self._page_request.deepest, self._page_request.start + self._page_request.size
        steps = max(1, -(-min(deepest, goal) // self._step))
        while True:
            depth, surplus = min(deepest, steps * self._step), self.surplus
            yield from self._read(depth)
            if self._exhausted or len(self.ranking.hits) >= depth:
                if self._is_done(depth):
                    return
                groups = len(self.window.grouping.leads)
                steps = steps + 1 if self.surplus != surplus else next_steps(steps, groups, goal)

    def _is_done(self, depth: int) -> bool:
        """Return whether no further request can add to the page."""
        start, size = self._page_request.start, self._page_request.size
        pages = Pages(self.window.grouping, self._step, size)
        is_full = pages.steps_needed(start + size) is not None
        return is_full or self._exhausted or depth == self._page_request.deepest

    def _read(self, depth: int) -> RequestFlow[None]:
        """Read down to a depth, without copies that are only counted."""
        yield from self._hits(depth)
        yield from self._group()
        if not self._may_leave_out or (depth == self._step and self._is_done(depth)):
            return
        capped_texts = find_capped_texts(self.window, self._source.overrides())
        self.surplus = tuple(capped_texts)
        if rows := capped_rows(capped_texts, self._step):
            hits = self.ranking.hits
            self.ranking = replace(self.ranking, hits=[hit for row, hit in enumerate(hits) if row not in rows])
            yield from self._group()

    def _hits(self, depth: int) -> RequestFlow[None]:
        """Read hits down to a depth, without surplus copies: all again, or only hits not read yet."""
        if not self.surplus:
            self.ranking = yield from self._source.window(depth)
            self._exhausted = len(self.ranking.hits) < depth
            return
        rows = copies(self.window)
        size = depth - sum(len(rows.get(content, ())) for content in self.surplus)
        ranking = yield from self._source.window(size, self.surplus)
        if len(self.surplus) == 1:
            self.matching[self.surplus[0]] = self.ranking.total - ranking.total
        self._exhausted = len(ranking.hits) < size
        names = {(hit.index, hit.id) for hit in self.ranking.hits}
        new_hits = [hit for hit in ranking.hits if (hit.index, hit.id) not in names]
        self.ranking = replace(self.ranking, hits=[*self.ranking.hits, *new_hits][:depth])

    @property
    def _may_leave_out(self) -> bool:
        """Return whether copies may be counted without reading: not if they have neighbours, threads or works."""
        request = self._page_request.request
        return self._page_request.may_leave_out and request.passages is None and not request.membership

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
    unread_count = count_unread(window, (yield from count_capped(source, read)), scope_matches.outside)
    shown_hits = [window.hits[row] for group in groups for row in group.shown_rows]
    sources = yield from source.fetch(shown_hits, scope_matches.outside)
    account = response_stats(
        window, groups, request, ranking.total, page_request.tables, page_request.deepest, unread_count
    )
    late = zip(late_documents, late_leads, strict=True)
    account["late"] = [each.as_json() for each, lead in late if is_unseen(each, lead, scope_matches)]
    account["capped"] = cut_groups(groups, scope_matches)
    account |= read.neighbours.account(window.hits[: window.ranked])
    account |= window.members.stats(window.ranked) if window.members else {}
    hits = ResponseRenderer(window, groups, request, sources, scope_matches.outside, unread_count).hits()
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


def count_capped(source: SearchBackend, reader: WindowReader) -> RequestFlow[dict[str, int]]:
    """Count the matching documents of each text whose further copies were left out."""
    unknown = [content for content in reader.surplus if content not in reader.matching]
    results = (yield from source.find(counts(unknown), whole_index=False)) if unknown else ()
    return reader.matching | {content: each.copies for content, each in zip(unknown, results, strict=True)}


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
