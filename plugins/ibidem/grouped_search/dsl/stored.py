"""Stored groups in the query DSL: the server collapses, counts and aggregates all that matches."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import orjson
from typing_extensions import override
from xxhash import xxh3_128_hexdigest

from ibidem.dedupe.overrides import DocumentRef, Override
from ibidem.grouped_search import cursor as cursors
from ibidem.grouped_search.backend import PageRequest
from ibidem.grouped_search.dsl import stored_buckets
from ibidem.grouped_search.dsl.bucket_groups import write_meta
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache, names_of
from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.dsl.search import DslBackend, check_whole, clean_explanation, response
from ibidem.grouped_search.response import Json
from ibidem.grouped_search.stored import StoredBackend, StoredPage, stored_page
from ibidem_engines.cluster.collapse import ClusterCollapse, as_shown, collapsed
from ibidem_engines.cluster.match_counts import KeptCount
from ibidem_engines.cluster.requests import RequestFlow
from ibidem_engines.collapse import Collapsed, Members, Place
from ibidem_engines.engine import Hit
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import id_of
from ibidem_workers.groups.checkpoint import Checkpoint, parsed

BEGINNING = Checkpoint()
"""How far groups are settled before that is read."""


def stored_search(search: DslSearch, around: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of stored groups.

    Args:
        search: What, where and how.
        around: What was read of the indexes lately.

    Raises:
        UsageError: Other figures than those by which groups are stored, or an index that stores none.
        Failure: What the server did not do, where its answer does not make the sender raise.
    """
    began = perf_counter()
    stored = StoredDslBackend(search, DslBackend(search, around))
    yield from stored.look_around()
    page = yield from stored.page()
    if stored.renamed or stored.source.renamed:
        stored = StoredDslBackend(search, stored.source.by_engine_ids(), stored.settled)
        page = yield from stored.page()
    suggested = yield from stored.source.suggested()
    answer = response(search, stored.source, page.page, stored.aggregated() | suggested, began)
    answer["hits"]["max_score"] = page.best if search.size else None
    answer["dedupe"]["cursor"] = stored.cursor(page)
    return answer


class StoredDslBackend(StoredBackend):
    """A collapsed ranking in the engine's own language.

    Args:
        asked: What, where and how.
        source: The ranking.
        settled: How far groups are settled.
    """

    def __init__(self, search: DslSearch, source: DslBackend, settled: Checkpoint | None = None) -> None:
        self.asked = search
        self.source = source
        self.settled = BEGINNING if settled is None else settled
        self.renamed = False
        self._collapsed: Collapsed | None = None
        self._shown: dict[DocumentRef, Json] = {}

    def look_around(self) -> RequestFlow[None]:
        """Read how far groups are settled; of a point in time the indexes first.

        Raises:
            UsageError: An index stores no groups.
        """
        source, target = self.source, self.asked.target
        yield from source.look_around()
        if target.point is not None:
            aggs = {"indices": {"terms": {"field": "_index", "size": 1_000}}}
            answer = yield target.search({"size": 0, "aggs": aggs})
            named = [(each["key"]) for each in answer["aggregations"]["indices"]["buckets"]]
            yield from source.look_at(",".join(sorted(named)))
        if source.layout.bare:
            raise UsageError(
                f"dedupe_by=stored does not go with {', '.join(source.layout.bare)}: no groups are stored there",
                "sign it with: ibidem backfill --groups",
            )
        index = target.index if target.point is None else ",".join(source.layout.indices)
        self.settled = yield from source.around.settlement(names_of(index, source.layout))

    def page(self) -> RequestFlow[StoredPage]:
        """Make the page."""
        search = self.asked
        return (yield from stored_page(self, PageRequest(search.request, search.page, search.size, search.tables)))

    @override
    def settlement(self) -> Checkpoint:
        return self.settled

    @override
    def collapsed(self, place: Place, size: int) -> RequestFlow[Collapsed]:
        settled = parsed(self.settled.done)
        answer, page = yield from self._ranking().page(place, size, settled, self._beside(), self._kept())
        check_whole(answer)
        self.source.learn(answer, page.newest)
        self.source.scores |= {head.name: head.score for head in page.heads}
        self._collapsed = page
        self._keep(answer["hits"]["hits"])
        packed = [head.hit for head in page.heads if head.hit.packed]
        self.renamed = not self.source.ids and any(id_of(hit.packed or b"") != hit.id for hit in packed)
        return page

    @override
    def members(self, groups: Sequence[str], most: int) -> RequestFlow[Members]:
        page = self._collapsed
        if page is not None and page.counts.exact and page.counts.documents == page.counts.groups:
            return Members((), {})  # no two documents that match are in one group
        if page is not None and self.asked.request.keep.by == "rank":  # all that are read are shown
            hits, members = yield from self._ranking().others(groups, page.heads, most)
            self._keep(hits)
        else:
            members = yield from self._ranking().members(groups, most)
        self.source.scores |= {each.name: each.score for each in members.hits}
        return members

    @override
    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return (yield from self._ranking().leads(groups))

    @override
    def overrides(self) -> Sequence[Override]:
        return self.source.overrides()

    @override
    def fetch(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        known = {name: self._shown[name] for name in names if name in self._shown}
        missing = [name for name in names if name not in known]
        return {**known, **((yield from self.source.fetch(missing)) if missing else {})}

    def aggregated(self) -> Json:
        """Give the aggregations with the groups of each bucket."""
        aggregations = self.source.first.get("aggregations")
        if not aggregations or not self.asked.aggregations:
            return {}
        counted = stored_buckets.told(aggregations)
        typed = self.asked.target.params.get("typed_keys", "false").lower() in ("", "true")
        return {"aggregations": write_meta(counted) if typed else counted}

    def cursor(self, page: StoredPage) -> str:
        """Write what makes later pages see this ranking, and tells where the next one begins."""
        search = self.asked
        return cursors.write(self.source.pin, search.query, search.request, page.further)

    def _keep(self, hits: Sequence[Mapping[str, Any]]) -> None:
        """Keep hits that hold all that is shown of them."""
        shown = self.asked.shown
        self._shown |= {(hit["_index"], hit["_id"]): clean_explanation(as_shown(hit, shown)) for hit in hits}

    def _kept(self) -> KeptCount:
        """Say where counts of this search are kept, whatever a cursor keeps out of it: the writes that match tell."""
        search = self.asked
        parts = (search.target.index, search.target.point, search.target.params, search.query.native, self.settled.done)
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        return KeptCount(self.source.around.counts, xxh3_128_hexdigest(key))

    def _ranking(self) -> ClusterCollapse:
        search, source = self.asked, self.source
        shown = source.up_to_now(dict(search.shown)) if "query" in search.shown else dict(search.shown)
        body = source.up_to_now(dict(search.ranking))
        return collapsed(search.target, body, source.layout, named=source.ids, shown=shown)

    def _beside(self) -> Json:
        """Give what is answered next to the hits."""
        search = self.asked
        if not search.aggregations:
            return {} if search.completes else dict(search.beside)
        beside: Json = {} if search.completes else dict(search.beside)
        beside["aggs"] = stored_buckets.asked(search.aggregations)
        return beside
