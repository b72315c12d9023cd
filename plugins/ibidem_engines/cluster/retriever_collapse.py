"""Collapsed ranking of a retriever: all hits are read at once, and only the best of each stored group is kept.

A retriever takes no sort, by which pages could be counted off, and ranks a bounded number of hits. Native `collapse`
over it counts no groups.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.collapse import FIELDS, collapse_search, read_group_hits, split_by_group
from ibidem_engines.cluster.dsl import Clause
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.match_counts import NOTHING, CountCache, MatchCounter
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.stored_groups import Collapsed, GroupHit, Hit, Marks, Members, Place


@dataclass(slots=True)
class RetrieverCollapse:
    """The ranking of a retriever, collapsed by stored groups; see `ClusterCollapse`."""

    target: Target  # the indexes, or a point in time
    body: Mapping[str, Any]  # body of the search, with the retriever
    layout: Layout  # layout of the indexes
    depth: int  # how many hits the retriever ranks
    _hits: Sequence[GroupHit] = field(default=(), init=False)

    def page(
        self,
        place: Place,
        size: int,
        settled_marks: Marks,
        extras: Mapping[str, Any] | None = None,
        _cache: CountCache | None = None,
    ) -> RequestFlow[tuple[Mapping[str, Any], Collapsed]]:
        """Read the ranking and a collapsed part of it; see `ClusterCollapse.page`, here with hits."""
        body = {**self.body, **FIELDS, **(extras or {}), "size": self.depth, "track_total_hits": True}
        answer = yield self.target.search(body)
        self._hits = read_group_hits(answer)
        count = NOTHING
        if self._hits:
            counter = MatchCounter(self.target, {"query": self._ranked_clause()}, self.layout, settled_marks)
            _, count = yield from counter.count()
        best: dict[object, GroupHit] = {}
        for hit in self._hits:
            best.setdefault(hit.group or hit.name, hit)
        heads = [*best.values()][place.start : place.start + size]
        counts = replace(count.counts, limited=len(self._hits) >= self.depth)
        best_score = answer["hits"].get("max_score") if self._hits else None
        without_hits = {**answer, "hits": {**answer["hits"], "hits": []}}
        return without_hits, Collapsed(heads, counts, best_score, several=count.several)

    def tails(
        self, groups: Sequence[str], _heads: Sequence[GroupHit], limit: int
    ) -> RequestFlow[tuple[Sequence[Mapping[str, Any]], Members]]:
        """Return further documents of some groups, from hits already read."""
        return (), (yield from self.members(groups, limit))

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        """Return documents of some groups, read with the ranking."""
        yield from ()
        by_group = split_by_group(self._hits)
        hits = [hit for name in groups for hit in by_group.get(name, ())[:limit]]
        sizes = Counter(hit.group for hit in self._hits)
        return Members(hits, {name: sizes[name] for name in groups})

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        """Return the ranked leads of some groups."""
        return (yield from collapse_search(self.target, {"query": self._ranked_clause()}, self.layout).leads(groups))

    def _ranked_clause(self) -> Clause:
        """Build a clause for the documents of the ranking."""
        return {"bool": {"should": dsl.documents([hit.name for hit in self._hits]), "minimum_should_match": 1}}
