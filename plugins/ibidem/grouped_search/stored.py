"""Page of stored groups: the engine collapses and counts all matches; reasons are decided on the page's documents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from ibidem.grouped_search.backend import PageRequest, start_place
from ibidem.grouped_search.current_version import page_places
from ibidem.grouped_search.page import GroupedPage
from ibidem.grouped_search.response import NO_PLACES, Group, Json, ResponseRenderer, choose_lead
from ibidem.grouped_search.stats import request_stats
from ibidem.grouped_search.window import Window
from ibidem_dedupe.leader_clustering import Grouping
from ibidem_dedupe.overrides import DocumentRef, Override, apply_overrides
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, no_long_signatures
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cursor import NextPage
from ibidem_engines.engine import Ranking
from ibidem_engines.group_checkpoint import GroupCheckpoint, parse_policy
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import MAX_MEMBERS, Collapsed, GroupHit, Hit, MatchCounts, Members, Place
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed_columns import PackedColumns

ADVICE = "settle groups with: ibidem backfill --groups"  # remedy where documents are not settled


NOBODY = Members((), {})  # the further documents of groups of one


class StoredBackend(Protocol):
    """The source of a collapsed ranking, its documents and their groups."""

    def settlement(self) -> GroupCheckpoint:
        """Return how far groups are settled, and under which policy."""

    def collapse(self, place: Place, size: int) -> RequestFlow[Collapsed]:
        """Read a part of the ranking, with only the best document of each group."""

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        """Read up to `limit` matching documents of each of some groups."""

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        """Read the leads of some groups, within the caller's filters."""

    def overrides(self) -> Sequence[Override]:
        """Return the manual decisions; called after the ranking is read."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents with the fields of their versions; see `VersionSource`."""

    def fetch(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        """Return the documents of hits as shown; those that no longer match are omitted."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page of stored groups."""

    page: GroupedPage
    further: NextPage | None  # start of the next page, for an engine that does not count that far
    best: float | None  # the highest score; None if nothing is scored


def with_stored_policy(request: DedupeRequest, checkpoint: GroupCheckpoint) -> DedupeRequest:
    """Return the request with the policy of the stored groups."""
    stored_policy = parse_policy(checkpoint.policy)
    policy = requested_policy(request, stored_policy)
    if policy != stored_policy:
        figures = ", ".join(f"{name}={value}" for name, value in request.figures)
        current = describe_policy(stored_policy)
        raise UsageError(
            f"dedupe_by=stored cannot be combined with {figures}: groups are stored with different figures ({current})",
            "leave that out, or use dedupe_by=window; ibidem regroup --all --preset NAME stores groups by others",
        )
    return replace(request, policy=stored_policy)


def is_as_stored(request: DedupeRequest, checkpoint: GroupCheckpoint) -> bool:
    """Return whether groups are settled under the policy of a request."""
    stored_policy = parse_policy(checkpoint.policy)
    is_settled = bool(checkpoint.done) and not checkpoint.everything and not request.membership
    return is_settled and requested_policy(request, stored_policy) == stored_policy


def requested_policy(request: DedupeRequest, stored_policy: Policy) -> Policy:
    """Return the requested policy; missing figures are taken from the stored groups."""
    figures = dict(request.figures)
    if figures.keys() & {"dedupe_preset", "dedupe_similarity"}:
        policy = request.policy
        return replace(policy, characters=None) if stored_policy.characters is None else policy  # groups do without
    level = request.policy.level if "dedupe_level" in figures else stored_policy.level
    days = request.policy.window_days if "dedupe_window_days" in figures else stored_policy.window_days
    base = stored_policy.similar(int(figures["dedupe_similarity"])) if "dedupe_similarity" in figures else stored_policy
    return base.at(level).within(days)


def describe_policy(policy: Policy) -> str:
    """Name a policy by its level and date window.

    >>> describe_policy(Policy(window_days=42))
    'level near, window of 42 days'
    """
    days = "no date window" if policy.window_days is None else f"window of {policy.window_days} days"
    return f"level {policy.level}, {days}"


def stored_page(source: StoredBackend, page_request: PageRequest) -> RequestFlow[StoredPage]:
    """Build a page of stored groups."""
    place = start_place(page_request)
    page_request = replace(page_request, request=with_stored_policy(page_request.request, source.settlement()))
    page = yield from source.collapse(place, page_request.size)
    larger_groups = sorted({head.group for head in page.heads if may_have_more(head.group, page)})
    members = (yield from source.members(larger_groups, most_members(page_request))) if larger_groups else NOBODY
    read = PageGroups.build(page.heads, members, page_request, source.overrides())
    groups = read.groups((yield from page_places(source, read.window, read.rows.values(), page_request.request)))
    if (portion := page_request.portion) is not None:
        groups = [group.portion(portion.offset, portion.size) for group in groups if group.id == portion.group]
    read, stored_leads = yield from read_leads(source, read, groups)
    sources = yield from source.fetch([read.window.hits[row] for group in groups for row in group.shown_rows])
    hits = ResponseRenderer(read.window, groups, page_request.request, sources, stored_leads=stored_leads).hits()
    account = stored_stats(page.counts, groups, page_request)
    ranking = Ranking([head.hit for head in page.heads], page.counts.documents)
    further = None if page.search_after is None else NextPage(page_request.start + page_request.size, page.search_after)
    return StoredPage(GroupedPage(ranking, read.window, hits, account), further, page.best)


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
    request: DedupeRequest  # how to show them

    @classmethod
    def build(
        cls, heads: Sequence[GroupHit], members: Members, page_request: PageRequest, overrides: Sequence[Override]
    ) -> "PageGroups":
        """Arrange the documents of a page."""
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
        for head in heads:
            first, followers = len(hits), members_by_group.get(head.group, []) if head.group else []
            hits += [head.hit, *(each.hit for each in followers)]
            lead += [first] * (1 + len(followers))
            rows[first] = range(first, len(hits))
            sizes[first] = max(1 + len(followers), members.sizes.get(head.group, 1))
            if head.group:
                names[first] = head.group
        window = build_window(hits, page_request.request.policy, overrides, lead, names)
        return cls(window, rows, sizes, page_request.request)

    def groups(self, places: Mapping[int, int] = NO_PLACES) -> list[Group]:
        """Build the groups."""
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
    matcher = LongTextMatcher(names, cache(columns.unpack_row), policy, LongSignatureCache(no_long_signatures))
    none = np.zeros(len(hits), np.int64)
    grouping = Grouping(np.array(lead, np.int64), none.astype(np.uint8), none.astype(np.bool_))
    return Window(hits, len(hits), policy, columns, applied_overrides, grouping, matcher, names_by_row)


def read_leads(
    source: StoredBackend, documents: PageGroups, groups: Sequence[Group]
) -> RequestFlow[tuple[PageGroups, Mapping[int, int]]]:
    """Read the stored leads of groups in which a shown document is not a duplicate of the shown lead."""
    window = documents.window
    unexplained = [
        group for group in groups if any(window.evidence(row, group.lead) is None for row in group.shown_rows[1:])
    ]
    if not unexplained:
        return documents, {}
    leads = yield from source.leads([group.id for group in unexplained])
    hits, lead = list(window.hits), window.grouping.lead.tolist()
    rows = {window.name(row): row for row in range(len(hits))}
    stored_leads: dict[int, int] = {}
    for group in unexplained:
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


def stored_stats(counts: MatchCounts, groups: Sequence[Group], page_request: PageRequest) -> Json:
    """Build the account of a page of stored groups, in which all matches are grouped."""
    match_count = counts.documents
    account: Json = request_stats(page_request.request)
    account["grouping"] = "stored"
    shown_count = sum(len(group.shown_rows) for group in groups)
    account["documents"] = {
        "matched": match_count,
        "in_window": match_count,
        "beyond_window": 0,
        "on_page": shown_count,
    }
    account["groups"] = {
        "matching": counts.groups,
        "in_window": counts.groups,
        "on_page": len(groups),
        "exact": counts.exact,
    }
    account |= {
        "limited": counts.limited,
        "duplicates": match_count - counts.groups,
        "unsigned": counts.unsigned,
        "ungrouped": counts.ungrouped,
        "unsettled": counts.unsettled,
        "too_short": counts.short_count,
        "mixed_tables": count_others(counts.tables, page_request.tables),
        "found_by_scope": 0,
        "capped": [{"group": group.id, "by": ["keep"]} for group in groups if is_cut(group, page_request)],
    }
    if counts.unsettled or counts.ungrouped > counts.unsigned:
        account["remedy"] = ADVICE
    return account


def count_others(tables: Mapping[str, int], current: Collection[str]) -> int:
    """Count the documents with an outdated idf table; without current names, the most frequent table is current."""
    current_names = set(current) or {max(tables, key=lambda name: tables[name], default="")}
    return sum(count for name, count in tables.items() if name not in current_names)


def is_cut(group: Group, page_request: PageRequest) -> bool:
    """Return whether only some documents of a group were considered when choosing its lead."""
    return page_request.request.keep.by != "rank" and group.unread_count > 0
