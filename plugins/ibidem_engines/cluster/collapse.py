"""Collapsed search in a cluster: native `collapse` on the stored group, with counts of all matches.

Documents without a stored group would be one group to `collapse`. Where there are several, and beyond the groups that
a server counts off, the plain ranking is gone through instead (`search_after`), and a document is kept where it is the
best of its group.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.dsl import PACKED, Clause
from ibidem_engines.cluster.groups import GROUP, LEADS
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.match_counts import (
    OWN,
    CountCache,
    CountResult,
    MatchCounter,
    add_filter,
    check_answers,
    filter_aggregations,
    split_writes,
)
from ibidem_engines.cluster.ranking import read_hit
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.stored_groups import MAX_MEMBERS, Collapsed, GroupHit, Hit, Marks, Members, Order, Place
from ibidem_ingest.errors import UsageError

CHUNK = 1_000  # hits of the plain ranking that are gone through at once

TOGETHER = 1_000  # documents of a page's groups that are read in one search

# Equal hits are ordered by index and id; those without signatures, which have no id there, by their writes.
_TIES: Sequence[Clause] = (
    {"_index": "asc"},
    {"ibidem.id": {"order": "asc", "unmapped_type": "keyword"}},
    {"_seq_no": "asc"},
)

_BY_DATE: Mapping[Order, Sequence[Clause]] = {
    "relevance": [],
    "newest": [{"ibidem.date": {"order": "desc", "mode": "max", "missing": "_last", "unmapped_type": "date"}}],
    "oldest": [{"ibidem.date": {"order": "asc", "mode": "min", "missing": "_last", "unmapped_type": "date"}}],
}
_SCORE: Clause = {"_score": "desc"}
# Parts of a body that ask for what groups are made of, and for nothing that is shown.
FIELDS: Clause = {"_source": False, "docvalue_fields": [PACKED, GROUP]}


def collapse_search(
    target: Target,
    body: Mapping[str, Any],
    layout: Layout,
    order: Order = "relevance",
    *,
    display: Mapping[str, Any] | None = None,
) -> "ClusterCollapse":
    """Return a search as a collapsed ranking in a total order: its own sort, if any, then index and id."""
    sort = body.get("sort", [])
    sort = sort if isinstance(sort, list | tuple) else [sort]
    sort_keys = sort or [*_BY_DATE[order], _SCORE]
    ordered_body = {**body, "sort": [*sort_keys, *_TIES]} | ({} if sort else {"track_scores": True})
    return ClusterCollapse(target, ordered_body, layout, len(sort), display)


@dataclass(frozen=True, slots=True)
class ClusterCollapse:
    """A ranking, collapsed by stored groups."""

    target: Target  # the indexes, or a point in time
    body: Mapping[str, Any]  # body of the search that ranks, in a whole order
    layout: Layout  # layout of the indexes
    sorted_by: int = 0  # how many of the sort values are the caller's own, to be shown with a hit
    # Parts of the body for the hits that are shown, read with the best of each group; None: nothing.
    display: Mapping[str, Any] | None = None

    def page(
        self,
        place: Place,
        size: int,
        settled_marks: Marks,
        extras: Mapping[str, Any] | None = None,
        cache: CountCache | None = None,
    ) -> RequestFlow[tuple[Mapping[str, Any], Collapsed]]:
        """Read a part of the collapsed ranking; see `EngineSearch.collapse`."""
        counted_off = place.start + size <= self.layout.max_hits
        request = {
            **self._collapse_body(place.start if counted_off else 0, size if counted_off else 0),
            **(extras or {}),
        }
        counter = MatchCounter(self.target, self.body, self.layout, settled_marks)
        answer, count = yield from self._send_first(request, counter, cache, separate=bool(extras))
        counts = count.counts
        heads = self._read(answer)
        next_place = answer["hits"]["hits"][-1]["sort"] if heads else place.search_after
        if counts.ungrouped > 1 or not counted_off:
            heads, next_place = yield from self._walk(place, size, can_restart=counted_off)
        best = answer["hits"].get("max_score") if counts.documents else None
        return answer, Collapsed(heads, counts, best, next_place, newest=count.writes.newest, several=count.several)

    def _send_first(
        self, request: Mapping[str, Any], counter: MatchCounter, cache: CountCache | None, *, separate: bool
    ) -> RequestFlow[tuple[Mapping[str, Any], CountResult]]:
        """Send the first search; all matches are counted at the same time, unless the count is known."""
        count = cache.get() if cache else None
        if count is None and not separate:
            (answer,), counts = yield from counter.count(request)
        else:
            search = request if count is None else {**request, "aggs": {**request.get("aggs", {}), **counter.writes()}}
            answer = (yield self.target.search(search)) if separate else (yield from self._search([search]))[0]
            if count is not None:
                writes, answer = split_writes(answer)
                if writes == count.writes:
                    return answer, count
            _, counts = yield from counter.count()
        if cache:
            cache.put(counts)
        return answer, counts

    def tails(
        self, groups: Sequence[str], heads: Sequence[GroupHit], limit: int
    ) -> RequestFlow[tuple[Sequence[Mapping[str, Any]], Members]]:
        """Read the documents of some groups except the best of each, as shown."""
        size = min(TOGETHER, self.layout.max_hits, limit * len(groups))
        if not size:
            return (), Members((), {})
        heads = [head for head in heads if head.group in groups]
        heads_clause = {"bool": {"should": dsl.documents([head.name for head in heads]), "minimum_should_match": 1}}
        clause = {"bool": {"filter": [{"terms": {GROUP: list(groups)}}], "must_not": [heads_clause]}}
        body = add_filter({**self.body, **self._hit_fields(), "size": size, "track_total_hits": True}, clause)
        (answer,) = yield from self._search([body])
        if answer["hits"]["total"]["value"] > len(answer["hits"]["hits"]):
            return (), (yield from self.members(groups, limit))
        hits = self._read(answer)
        sizes = Counter([*(head.group for head in heads), *(each.group for each in hits)])
        return answer["hits"]["hits"], Members(hits, sizes)

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        """Read documents of some groups; see `EngineSearch.members`."""
        if not groups:
            return Members((), {})
        limit = min(limit, MAX_MEMBERS, self.layout.max_hits)
        size = min(TOGETHER, self.layout.max_hits, max(100, 2 * limit * len(groups)))
        body = self._members_body(groups, size) | {
            "aggs": {OWN: filter_aggregations(self.body, {"groups": _sizes(groups)})}
        }
        (answer,) = yield from self._search([body])
        sizes = {each["key"]: int(each["doc_count"]) for each in answer["aggregations"][OWN]["groups"]["buckets"]}
        hits = self._read(answer)
        read = split_by_group(hits)
        incomplete = [name for name, count in sizes.items() if len(read.get(name, ())) < min(count, limit)]
        bodies = [self._members_body([name], min(limit, sizes[name])) for name in incomplete]
        for name, each in zip(incomplete, (yield from self._search(bodies)), strict=True):
            read[name] = self._read(each)
        return Members([each for name in groups for each in read.get(name, ())[:limit]], sizes)

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        """Read the leads of some groups if they match; other leads must not be disclosed."""
        (answer,) = yield from self._search([add_filter(self._members_body(groups, len(groups)), LEADS)])
        return {each.group: each.hit for each in self._read(answer)}

    def _walk(
        self, place: Place, size: int, *, can_restart: bool
    ) -> RequestFlow[tuple[list[GroupHit], Sequence[object] | None]]:
        """Scan the plain ranking and keep the best hit of each group."""
        if place.search_after is None and not can_restart:
            raise UsageError(
                f"page beyond the first {self.layout.max_hits:,} groups",
                "go on with dedupe_cursor from the page before it",
            )
        offset, next_place = (0, place.search_after) if place.search_after is not None else (place.start, None)
        heads: list[GroupHit] = []
        while len(heads) < offset + size:
            body: Clause = {
                **self.body,
                **FIELDS,
                "size": min(CHUNK, self.layout.max_hits),
                "track_total_hits": False,
            }
            if next_place is not None:
                body["search_after"] = list(next_place)
            (answer,) = yield from self._search([body])
            hits = self._read(answer)
            if not hits:
                break
            best = yield from self._read_best(sorted({each.group for each in hits if each.group}))
            for each, raw in zip(hits, answer["hits"]["hits"], strict=True):
                next_place = raw["sort"]
                if not each.group or best.get(each.group) == each.name:
                    heads.append(each)
                    if len(heads) == offset + size:
                        break
        return heads[offset:], next_place

    def _read_best(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, tuple[str, str]]]:
        """Return the best document of each group."""
        if not groups:
            return {}
        body = {**self._members_body(groups, len(groups)), "collapse": {"field": GROUP}}
        (answer,) = yield from self._search([body])
        return {each.group: each.name for each in self._read(answer)}

    def _collapse_body(self, start: int, size: int) -> Clause:
        body = {**self.body, **self._hit_fields(), "from": start, "size": size, "track_total_hits": True}
        return body | {"collapse": {"field": GROUP}}

    def _hit_fields(self) -> Clause:
        """Request packed signatures and groups, and the shown fields."""
        if self.display is None:
            return FIELDS
        return {**self.display, "docvalue_fields": [*self.display.get("docvalue_fields", ()), PACKED, GROUP]}

    def _members_body(self, groups: Sequence[str], size: int) -> Clause:
        """Build the request for documents of some groups; the group condition does not affect scores."""
        body = {**self.body, **FIELDS, "size": size, "track_total_hits": False}
        return add_filter(body, {"terms": {GROUP: list(groups)}})

    def _read(self, answer: Mapping[str, Any]) -> list[GroupHit]:
        return read_group_hits(answer, self.sorted_by)

    def _search(self, bodies: Sequence[Mapping[str, Any]]) -> RequestFlow[list[Mapping[str, Any]]]:
        if not bodies:
            return []
        if len(bodies) == 1:  # a single search costs less
            return [(yield self.target.search(bodies[0]))]
        return check_answers((yield self.target.searches(bodies))["responses"])


def _sizes(groups: Sequence[str]) -> Clause:
    return {"terms": {"field": GROUP, "size": len(groups), "include": list(groups)}}


def split_by_group(hits: Sequence[GroupHit]) -> dict[str, list[GroupHit]]:
    """Return hits by group, in rank order; hits without a group are under an empty name."""
    groups: dict[str, list[GroupHit]] = {}
    for each in hits:
        groups.setdefault(each.group, []).append(each)
    return groups


def read_group_hits(answer: Mapping[str, Any], sorted_by: int = 0) -> list[GroupHit]:
    """Read hits with their groups; the first `sorted_by` sort values are the caller's own."""
    raw = answer["hits"]["hits"]
    return [GroupHit(read_hit(each, sorted_by), _group(each), each.get("_score")) for each in raw]


def _group(hit: Mapping[str, Any]) -> str:
    values = hit.get("fields", {}).get(GROUP)
    return str(values[0]) if values else ""
