"""Page of groups of all matches, stored ones or equal texts: the engine collapses, reasons are decided on the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ibidem.grouped_search.backend import IndexState, PageRequest, SearchBackend, start_place
from ibidem.grouped_search.page import GroupedPage, page_places
from ibidem.grouped_search.response import NO_PLACES, Group, Json, ResponseRenderer, choose_lead
from ibidem.grouped_search.stats import count_other_tables, count_short, request_stats
from ibidem.grouped_search.window import Window
from ibidem_dedupe.leader_clustering import Grouping
from ibidem_dedupe.overrides import Override, apply_overrides
from ibidem_dedupe.pairs import LongTextMatcher
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cursor import NextPage
from ibidem_engines.engine import Ranking
from ibidem_engines.ledger import override_hashes
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import MAX_MEMBERS, Collapsed, GroupHit, Hit, MatchCounts, Members
from ibidem_ingest.signatures.packed_columns import PackedColumns

ADVICE = "settle groups with: ibidem regroup"  # remedy where documents are not settled


NO_MEMBERS = Members((), {})  # the further documents of groups of one


@dataclass(frozen=True, slots=True)
class StoredPage:
    page: GroupedPage
    further: NextPage | None  # start of the next page, for an engine that does not count that far
    best: float | None  # the highest score; None if nothing is scored


def stored_page(source: SearchBackend, page_request: PageRequest, state: IndexState) -> RequestFlow[StoredPage]:
    place = start_place(page_request)
    page = yield from source.collapse(place, page_request.size)
    larger_groups = sorted({head.group for head in page.heads if may_have_more(head.group, page)})
    members = (yield from source.members(larger_groups, most_members(page_request))) if larger_groups else NO_MEMBERS
    read = PageGroups.build(page.heads, members, page_request, source.overrides())
    groups = read.groups((yield from page_places(source, read.window, read.rows.values(), page_request.request)))
    if (portion := page_request.portion) is not None:
        groups = [group.portion(portion.offset, portion.size) for group in groups if group.id == portion.group]
    read, stored_leads = yield from read_leads(source, read, groups)
    sources = yield from source.fetch([read.window.hits[row] for group in groups for row in group.shown_rows])
    hits = ResponseRenderer(read.window, groups, page_request.request, sources, stored_leads=stored_leads).hits()
    account = stored_stats(page.counts, groups, page_request, read.window)
    account = with_index(account, state, source.overrides())
    ranking = Ranking([head.hit for head in page.heads], page.counts.documents)
    further = following_page(page_request, page.search_after)
    return StoredPage(GroupedPage(ranking, read.window, hits, account), further, page.best)


def following_page(page_request: PageRequest, last: Sequence[object] | None) -> NextPage | None:
    """Return where the next page begins: behind the sort values of the last group; an empty page is at the end."""
    search_after = start_place(page_request).search_after if last is None else last
    return None if search_after is None else NextPage(page_request.start + page_request.size, search_after)


def may_have_more(group: str, page: Collapsed) -> bool:
    """Return whether a group may have more matching documents."""
    if page.several is not None:
        return group in page.several
    return bool(group) and not (page.counts.exact and page.counts.documents == page.counts.groups)


def most_members(page_request: PageRequest) -> int:
    """Return how many documents of a group the page needs: the shown ones, or all if the lead is chosen among them."""
    request, portion = page_request.request, page_request.portion
    if request.keep.by != "rank" or request.max_per_group is None:
        return MAX_MEMBERS
    count = request.max_per_group if portion is None else max(request.max_per_group, portion.offset + portion.size)
    return min(MAX_MEMBERS, 1 + count)


@dataclass(frozen=True, slots=True)
class PageGroups:
    """The documents of a page, by their stored groups."""

    window: Window  # the documents, ordered by group
    rows: Mapping[int, Sequence[int]]  # the rows of each group, by that of its first
    sizes: Mapping[int, int]  # how many documents of each group match, by the row of its first
    leads: Mapping[int, int]  # the stored lead of each group, if it was read, by the row of its first
    request: DedupeRequest  # how to show them

    @classmethod
    def build(
        cls, heads: Sequence[GroupHit], members: Members, page_request: PageRequest, overrides: Sequence[Override]
    ) -> "PageGroups":
        members_by_group: dict[str, list[GroupHit]] = {}
        best = {head.name for head in heads}
        for each in members.hits:
            if each.name not in best:
                members_by_group.setdefault(each.group, []).append(each)
        hits: list[Hit] = []
        lead: list[int] = []
        names: dict[int, str] = {}
        rows: dict[int, Sequence[int]] = {}
        sizes: dict[int, int] = {}
        leads: dict[int, int] = {}
        for head in heads:
            first, followers = len(hits), members_by_group.get(head.group, []) if head.group else []
            hits += [head.hit, *(each.hit for each in followers)]
            lead += [first] * (1 + len(followers))
            rows[first] = range(first, len(hits))
            sizes[first] = max(1 + len(followers), members.sizes.get(head.group, 1))
            if led := [row for row, each in enumerate((head, *followers), first) if each.lead and head.group]:
                leads[first] = led[0]
            if head.group and page_request.request.by == "stored":
                names[first] = head.group
        window = build_window(hits, page_request.request.policy, overrides, lead, names)
        return cls(window, rows, sizes, leads, page_request.request)

    def groups(self, places: Mapping[int, int] = NO_PLACES) -> list[Group]:
        return [self._group(first, rows, places) for first, rows in self.rows.items()]

    def _group(self, first: int, rows: Sequence[int], places: Mapping[int, int]) -> Group:
        lead = choose_lead(self.window.columns, rows, self.request.keep, places)
        duplicates = tuple(row for row in rows if row != lead)
        limit = len(duplicates) if self.request.max_per_group is None else self.request.max_per_group
        unread_count = self.sizes[first] - len(rows)
        return Group(
            self.window.group_id(first), first, lead, duplicates, min(len(duplicates), limit), unread_count=unread_count
        )


def build_window(
    hits: Sequence[Hit],
    policy: Policy,
    overrides: Sequence[Override],
    lead: Sequence[int],
    names_by_row: Mapping[int, str],
) -> Window:
    """Build a window whose groups are known."""
    columns = PackedColumns.decode_lazily([hit.packed for hit in hits])
    names = [(hit.index, hit.id) for hit in hits]
    applied_overrides = apply_overrides(overrides, names, columns)
    matcher = LongTextMatcher(names, cache(columns.unpack_row), policy)
    none = np.zeros(len(hits), np.int64)
    grouping = Grouping(np.array(lead, np.int64), none.astype(np.uint8), none.astype(np.bool_))
    return Window(hits, len(hits), policy, columns, applied_overrides, grouping, matcher, names_by_row)


def read_leads(
    source: SearchBackend, documents: PageGroups, groups: Sequence[Group]
) -> RequestFlow[tuple[PageGroups, Mapping[int, int]]]:
    """Read the stored leads of groups in which a shown document is not a duplicate of the shown lead.

    A group of which all is read has its lead among its rows, or it does not match. With a cursor it may be newer than
    what the page reads: it is rewritten whenever its group grows.
    """
    window, request = documents.window, documents.request
    unexplained = [
        group for group in groups if any(window.evidence(row, group.lead) is None for row in group.shown_rows[1:])
    ]
    stored_leads = {each.first: documents.leads[each.first] for each in unexplained if each.first in documents.leads}
    unread = [each for each in unexplained if each.first not in stored_leads]
    unread = [each for each in unread if request.by == "stored" and (each.unread_count or request.cursor)]
    if not unread:
        return documents, stored_leads
    leads = yield from source.leads([group.id for group in unread])
    hits, lead = list(window.hits), window.grouping.lead.tolist()
    rows = {window.name(row): row for row in range(len(hits))}
    for group in unread:
        if (hit := leads.get(group.id)) is None:
            continue
        position = rows.setdefault((hit.index, hit.id), len(hits))
        if position == len(hits):
            hits.append(hit)
            lead.append(group.first)
        stored_leads[group.first] = position
    if len(hits) == len(window.hits):
        return documents, stored_leads
    wider = build_window(hits, window.policy, source.overrides(), lead, window.group_names)
    return replace(documents, window=wider), stored_leads


def stored_stats(counts: MatchCounts, groups: Sequence[Group], page_request: PageRequest, window: Window) -> Json:
    """Build the account of a page; `unsigned`, `too_short` and `mixed_tables` count the documents that were read."""
    matched, found = counts.documents, counts.groups
    shown_count = sum(len(group.shown_rows) for group in groups)
    return request_stats(page_request.request) | {
        "documents": {"matched": matched, "in_window": matched, "beyond_window": 0, "on_page": shown_count},
        "groups": {
            "matching": found,
            "in_window": found,
            "on_page": len(groups),
            "exact": counts.exact,
            "counted": found is not None,
        },
        "limited": False,
        "duplicates": None if found is None else matched - found,
        "unsigned": window.unsigned_count,
        "too_short": count_short(window.columns, window.ranked),
        "mixed_tables": count_other_tables(window.columns, window.ranked, page_request.tables),
        "found_by_scope": 0,
        "capped": [{"group": group.id, "by": ["keep"]} for group in groups if is_cut(group, page_request)],
    }


def with_index(account: Json, state: IndexState, overrides: Sequence[Override]) -> Json:
    """Add what groups do not cover: documents of the index, and manual decisions that wait to be settled."""
    coverage, followed = state.coverage, state.checkpoint.overrides
    waiting = len({key for key, _ in override_hashes(overrides).items() ^ followed.items()})
    index = {name: getattr(coverage, name) for name in ("documents", "ungrouped", "unsettled")}
    is_lacking = index["ungrouped"] or index["unsettled"] or waiting
    if len(state.checkpoint.done) > 1 and coverage.unsettled:  # each shard may have a lead of one group
        account["groups"]["exact"] = False
    return ({"remedy": ADVICE} if is_lacking else {}) | account | {"index": index, "waiting": waiting}


def is_cut(group: Group, page_request: PageRequest) -> bool:
    """Return whether only some documents of a group were considered when choosing its lead."""
    return page_request.request.keep.by != "rank" and group.unread_count > 0
