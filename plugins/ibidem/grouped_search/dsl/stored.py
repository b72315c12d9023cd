"""Stored groups in the query DSL: the server collapses, counts and aggregates all matches.

Groups in the buckets of a `terms` aggregation are estimated by the server (HyperLogLog++): a hundred are counted, some
thousands are off by one or two. A search in the query DSL is grouped this way or by its window, as it asks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from typing_extensions import override
from xxhash import xxh3_128_hexdigest

from ibidem.grouped_search.backend import PageRequest, document_ref
from ibidem.grouped_search.dsl.backend import DslBackend
from ibidem.grouped_search.dsl.response import (
    COUNTED,
    NO_META,
    OTHER_DOCUMENTS,
    PRECISION,
    as_shown,
    check_complete,
    clean_explanation,
    sub_aggregations,
)
from ibidem.grouped_search.response import Json
from ibidem.grouped_search.stored import StoredBackend, StoredPage, stored_page
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_engines.cluster.collapse import ClusterCollapse, CountCache, collapse_search
from ibidem_engines.cluster.groups import GROUP
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Collapsed, GroupField, Hit, Members, Place
from ibidem_ingest.document import Document

GROUPS, UNGROUPED = "_ibidem_groups", "_ibidem_ungrouped"
CERTAIN = 100  # groups up to which two are not taken for one, but once in ten thousand buckets

_COUNTS: Json = {
    GROUPS: {"cardinality": {"field": GROUP, "precision_threshold": PRECISION}},
    UNGROUPED: {"missing": {"field": GROUP}},
}


def request_counts(aggregations: Mapping[str, Any]) -> Json:
    """Build aggregations that also count the groups in each bucket."""
    return {name: _request_counts(each) for name, each in aggregations.items()}


def _request_counts(aggregation: Any) -> Any:
    if not isinstance(aggregation, Mapping) or any(name in aggregation for name in OTHER_DOCUMENTS):
        return aggregation
    children = sub_aggregations(aggregation)
    group_counts = _COUNTS if any(name in aggregation for name in COUNTED) else {}
    settings = {name: part for name, part in aggregation.items() if name not in ("aggs", "aggregations")}
    return settings | ({"aggs": request_counts(children) | group_counts} if children or group_counts else {})


def write_counts(answer: Any) -> Any:
    """Replace our own sub-aggregations in each bucket by `_dedupe`."""
    if isinstance(answer, list):
        return [write_counts(each) for each in answer]
    if not isinstance(answer, Mapping):
        return answer
    settings = {
        name: write_counts(each)
        for name, each in answer.items()
        if name not in (GROUPS, UNGROUPED) and (name, each) != NO_META
    }
    return settings | {"_dedupe": _count_groups(answer)} if {GROUPS, UNGROUPED} <= answer.keys() else settings


def _count_groups(bucket: Mapping[str, Any]) -> Json:
    """Count the groups of one bucket; each document without a group counts as one."""
    groups, ungrouped = int(bucket[GROUPS]["value"]), int(bucket[UNGROUPED]["doc_count"])
    group_count = min(groups, int(bucket["doc_count"]) - ungrouped)
    return {"groups": group_count + ungrouped, "approximate": group_count > CERTAIN}


class StoredDslBackend(StoredBackend):
    """A collapsed ranking in the engine's own language."""

    def __init__(self, source: DslBackend) -> None:
        self.search = source.search
        self.source = source
        self._collapsed: Collapsed | None = None
        self._hits: dict[DocumentRef, Json] = {}

    def page(self) -> RequestFlow[StoredPage]:
        """Build the page."""
        search, next_page = self.search, self.source.next_page
        page_request = PageRequest(search.request, search.start, search.size, search.tables, next_page=next_page)
        return (yield from stored_page(self, page_request, self.source.state))

    @override
    def collapse(self, place: Place, size: int) -> RequestFlow[Collapsed]:
        aggregations = request_counts(self.search.aggregations) if self.search.request.by == "stored" else {}
        answer, page = yield from self._ranking().page(
            place,
            size,
            aggregations or self.search.aggregations,
            self._cached_count() if self.search.counts else None,
            has_ungrouped=self._by == "content" or bool(self.source.state.coverage.ungrouped),
        )
        check_complete(answer)
        self.source.learn(answer, page.newest)
        self.source.scores |= {head.name: head.score for head in page.heads}
        self._collapsed = page
        self._keep(answer["hits"]["hits"])
        return page

    @override
    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        page = self._collapsed
        if page is not None and self.search.request.keep.by == "rank":  # all documents that are read are shown
            hits, members = yield from self._ranking().tails(groups, page.heads, limit)
            self._keep(hits)
        else:
            members = yield from self._ranking().members(groups, limit)
        self.source.scores |= {each.name: each.score for each in members.hits}
        return members

    @override
    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        # In the current state, not the cursor's: a lead is rewritten whenever its group grows.
        return collapse_search(self.search.target, self.search.ranking, self.source.layout).leads(groups)

    @override
    def overrides(self) -> Sequence[Override]:
        return self.source.overrides()

    @override
    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        return self.source.versioned(hits)

    @override
    def fetch(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        documents = {name: self._hits[name] for hit in hits if (name := document_ref(hit)) in self._hits}
        missing = [hit for hit in hits if document_ref(hit) not in documents]
        return {**documents, **((yield from self.source.fetch(missing)) if missing else {})}

    def aggregate(self) -> Json:
        """Return the aggregations with the groups of each bucket."""
        aggregations = self.source.first.get("aggregations")
        if not aggregations or not self.search.aggregations:
            return {}
        return {"aggregations": write_counts(aggregations)}

    def cursor(self, page: StoredPage) -> str:
        """Write the cursor for later pages of this ranking, with the next start position."""
        return self.source.write_cursor(page.further)

    def _keep(self, hits: Sequence[Mapping[str, Any]]) -> None:
        """Keep the hits that already contain all fields to show."""
        display = self.search.display
        self._hits |= {(hit["_index"], hit["_id"]): clean_explanation(as_shown(hit, display)) for hit in hits}

    def _cached_count(self) -> CountCache:
        """Return the cached count of this search without its cursor; valid until a matching write."""
        search = self.search
        parts = (search.target.index, search.target.point, search.target.params, search.digest, self._by)
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        return CountCache(self.source.metadata.counts, xxh3_128_hexdigest(key))

    def _ranking(self) -> ClusterCollapse:
        search, source = self.search, self.source
        parts = source.up_to_now(dict(search.display)) if "query" in search.display else dict(search.display)
        body = source.up_to_now(dict(search.ranking))
        return collapse_search(search.target, body, source.layout, by=self._by, display=parts)

    @property
    def _by(self) -> GroupField:
        return "content" if self.search.request.by == "content" else "group"
