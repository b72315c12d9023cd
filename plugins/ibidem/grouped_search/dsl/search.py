"""Grouped search in the query DSL, answered in the engine's own response format.

Nothing is sent from here: requests are yielded, so that clients, waiting or not, and the gateway run the same code.
"""

from dataclasses import replace
from time import perf_counter

from ibidem.grouped_search.dsl.backend import DslBackend
from ibidem.grouped_search.dsl.depth import nothing_near, raised_depths
from ibidem.grouped_search.dsl.index_cache import NOWHERE, IndexMetadataCache, layout_names
from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.dsl.response import (
    BucketGroups,
    check_complete,
    drop_own_aggregation,
    has_countable_buckets,
    iterate_hits,
    leaves_query,
)
from ibidem.grouped_search.dsl.stored import StoredDslBackend
from ibidem.grouped_search.page import GroupedPage, grouped_page
from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.request import asks_for_stored_preset, with_presets
from ibidem_engines.requests import RequestFlow

# Parts of a search that decide on what is aggregated.
AGGREGATION_PARTS = frozenset(("query", "knn", "min_score"))

REMEDY = "sign them with: ibidem backfill"


def grouped_search(search: DslSearch, metadata: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of groups, or with the engine's own answer and a note."""
    start_time = perf_counter()
    if search.note:
        answer: Json = yield replace(search.target.search(search.ranking), params=search.target.params)
        return answer | {"dedupe": {"mode": "off", "note": search.note}}
    source = DslBackend((yield from with_stored_preset(search, metadata)), metadata)
    yield from source.read_metadata()
    if source.search.request.takes_all:
        backend = StoredDslBackend(source)
        stored = yield from backend.page()
        answer = response(source.search, source, stored.page, backend.aggregate(), start_time, backend.cursor(stored))
        answer["hits"]["max_score"] = stored.best
        return answer
    if (plugin_answer := (yield from source.through_plugin())) is not None:
        return plugin_answer
    page = yield from grouped_page(source, source.page)
    if source.renamed:
        source = source.use_engine_ids()
        page = yield from grouped_page(source, source.page)
    aggregations = yield from aggregate(source, page)
    return response(source.search, source, page, aggregations, start_time, source.cursor)


def aggregate(source: DslBackend, page: GroupedPage) -> RequestFlow[Json]:
    """Request aggregations after the groups in their buckets are known; no request if already done."""
    if not source.needs_aggregation():
        return {}
    search, aggs = source.search, source.search.aggregations
    all_read = page.window.ranked == page.ranking.total and not search.ranking.keys() & {"post_filter", "min_score"}
    bucket_groups = BucketGroups(page.window, is_whole=all_read and not leaves_query(aggs))
    parts = {name: part for name, part in search.ranking.items() if name in AGGREGATION_PARTS}
    if "query" in parts:
        parts["query"] = search.display["query"]
    body = source.up_to_now(parts)
    body |= {
        "size": 0,
        "track_total_hits": False,
        "aggs": bucket_groups.request_counts(aggs) if has_countable_buckets(aggs) else aggs,
    }
    answer = yield search.target.search(body, request_cache="false")
    check_complete(answer)
    if "aggregations" not in answer:  # no index matched
        return {}
    return {"aggregations": bucket_groups.write_counts(answer["aggregations"])}


def response(  # noqa: PLR0913, PLR0917 - the parts of an answer
    search: DslSearch, source: DslBackend, page: GroupedPage, aggregations: Json, start_time: float, cursor: str
) -> Json:
    """Build a response."""
    answer = dict(source.first)
    took = round((perf_counter() - start_time) * 1000)
    account = page.account | {"cursor": cursor, "took_ms": took, "grouper": "client"} | source.way.account()
    account |= raised_depths(search.raised)
    if account["unsigned"] and page.window.lacks_signatures:
        account["remedy"] = REMEDY
    account |= nothing_near(search.ranking, page.ranking.total)
    if source.scores:
        for hit in iterate_hits(page.hits):
            hit["_score"] = source.scores.get((hit["_index"], hit["_id"]))
    total = max(page.ranking.total, len(page.ranking.hits))
    hits = {
        "total": {"value": total, "relation": "eq"},
        "max_score": answer["hits"].get("max_score"),
        "hits": page.hits,
    }
    answer |= {"took": took, "hits": hits, "dedupe": account}
    drop_own_aggregation(answer)
    return answer | aggregations


def with_stored_preset(search: DslSearch, metadata: IndexMetadataCache) -> RequestFlow[DslSearch]:
    """Read the preset of a search, if it is not built in."""
    if not asks_for_stored_preset(search.request):
        return search
    target = search.target
    layout = (yield from metadata.layout(target.index, target.params)) if target.point is None else NOWHERE
    presets = yield from metadata.presets(layout_names(target.index, layout))
    return replace(search, request=with_presets(search.request, {**PRESETS, **presets}))
