"""Stored groups in the query DSL: the server collapses, counts and aggregates all that matches."""

from collections.abc import Mapping, Sequence
from time import perf_counter

from typing_extensions import override

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
from ibidem_engines.cluster.requests import RequestFlow
from ibidem_engines.collapse import Collapsed, Members, Place
from ibidem_engines.engine import Hit
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import id_of
from ibidem_workers.groups.checkpoint import Checkpoint, parsed


def stored_search(asked: DslSearch, around: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of stored groups.

    Args:
        asked: What, where and how.
        around: What was read of the indexes lately.

    Raises:
        UsageError: Other figures than those by which groups are stored, or an index that stores none.
        Failure: What the server did not do, where its answer does not make the sender raise.
    """
    began = perf_counter()
    stored = StoredDslBackend(asked, DslBackend(asked, around))
    yield from stored.look_around()
    found = yield from stored.page()
    if stored.renamed or stored.source.renamed:
        stored = StoredDslBackend(asked, stored.source.by_engine_ids(), stored.settled)
        found = yield from stored.page()
    suggested = yield from stored.source.suggested()
    answer = response(asked, stored.source, found.page, stored.aggregated() | suggested, began)
    answer["hits"]["max_score"] = found.best if asked.size else None
    answer["dedupe"]["cursor"] = stored.cursor(found)
    return answer


class StoredDslBackend(StoredBackend):
    """A collapsed ranking in the engine's own language.

    Args:
        asked: What, where and how.
        source: The ranking.
        settled: How far groups are settled.
    """

    def __init__(self, asked: DslSearch, source: DslBackend, settled: Checkpoint | None = None) -> None:
        self.asked = asked
        self.source = source
        self.settled = settled or Checkpoint()
        self.renamed = False
        self._heads: dict[DocumentRef, Json] = {}

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
        asked = self.asked
        return (yield from stored_page(self, PageRequest(asked.request, asked.page, asked.size, asked.tables)))

    @override
    def settlement(self) -> Checkpoint:
        return self.settled

    @override
    def collapsed(self, place: Place, size: int) -> RequestFlow[Collapsed]:
        answer, found = yield from self._ranking().page(place, size, parsed(self.settled.done), self._beside())
        check_whole(answer)
        self.source.learn(answer, found.newest)
        self.source.scores |= {head.name: head.score for head in found.heads}
        for hit in answer["hits"]["hits"]:
            self._heads[hit["_index"], hit["_id"]] = clean_explanation(as_shown(hit, self.asked.shown))
        packed = [head.hit for head in found.heads if head.hit.packed]
        self.renamed = not self.source.ids and any(id_of(hit.packed or b"") != hit.id for hit in packed)
        return found

    @override
    def members(self, groups: Sequence[str], most: int) -> RequestFlow[Members]:
        found = yield from self._ranking().members(groups, most)
        self.source.scores |= {each.name: each.score for each in found.hits}
        return found

    @override
    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return (yield from self._ranking().leads(groups))

    @override
    def overrides(self) -> Sequence[Override]:
        return self.source.overrides()

    @override
    def fetch(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        known = {name: self._heads[name] for name in names if name in self._heads}
        missing = [name for name in names if name not in known]
        return {**known, **((yield from self.source.fetch(missing)) if missing else {})}

    def aggregated(self) -> Json:
        """Give the aggregations with the groups of each bucket."""
        told = self.source.first.get("aggregations")
        if not told or not self.asked.aggregations:
            return {}
        counted = stored_buckets.told(told)
        typed = self.asked.target.params.get("typed_keys", "false").lower() in ("", "true")
        return {"aggregations": write_meta(counted) if typed else counted}

    def cursor(self, found: StoredPage) -> str:
        """Write what makes later pages see this ranking, and tells where the next one begins."""
        asked = self.asked
        return cursors.write(self.source.pin, asked.query, asked.request, found.further)

    def _ranking(self) -> ClusterCollapse:
        asked, source = self.asked, self.source
        shown = source.up_to_now(dict(asked.shown)) if "query" in asked.shown else dict(asked.shown)
        body = source.up_to_now(dict(asked.ranking))
        return collapsed(asked.target, body, source.layout, named=source.ids, shown=shown)

    def _beside(self) -> Json:
        """Give what is answered beside the hits."""
        asked = self.asked
        if not asked.aggregations:
            return {} if asked.completes else dict(asked.beside)
        beside: Json = {} if asked.completes else dict(asked.beside)
        beside["aggs"] = stored_buckets.asked(asked.aggregations)
        return beside
