"""Grouped search in the query DSL, answered in the engine's own response format.

Nothing is sent from here: requests are yielded, so that clients, waiting or not, and the gateway run the same code. The
ranking is read as deep as a page of groups needs, or, of stored groups, the server collapses, counts and aggregates all
matches. Groups in the buckets of a `terms` aggregation are estimated by the server (HyperLogLog++): a hundred are
counted, some thousands are off by one or two.

What is known of the indexes is kept by each client: their metadata for a minute, manual decisions for seconds.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import orjson
from typing_extensions import override
from xxhash import xxh3_128_hexdigest

from ibidem.grouped_search import pages
from ibidem.grouped_search.dsl import syntax
from ibidem.grouped_search.dsl.syntax import MATCH_PARTS, DslSearch, grows, read_search, refuse
from ibidem.grouped_search.response import Json, Passage, Window, with_current_tables
from ibidem_core.address import OURS, Fields, parse_address
from ibidem_core.settings import load
from ibidem_dedupe import parameters
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_engines import stored_groups
from ibidem_engines.cluster import lookup as ranks
from ibidem_engines.cluster import records as ledgers
from ibidem_engines.cluster import search as cluster
from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.dsl import ALL, PACKED, PACKED_STATES, documents, ids_query
from ibidem_engines.cluster.groups import read_memberships
from ibidem_engines.cluster.index import Layout, pipeline_fault, read_layout, schema_fault
from ibidem_engines.cluster.source import as_document
from ibidem_engines.engine import LookupResult, Ranking, SignatureLookup
from ibidem_engines.ledger import KEY, GroupCheckpoint, Parse, checkpoint_of, read_entries, read_preset
from ibidem_engines.query import NOW, Cursor, CursorCodec, Place, ReadView
from ibidem_engines.requests import ALIAS_S, COUNTS_S, INDEX_S, ApiRequest, RequestFlow, Target, TtlCache, Value
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import MISSING

AT_ONCE = 1_000

WORDS_S = 5.0  # seconds after which a manual decision counts for everybody

NAMES = ("ignore_unavailable", "allow_no_indices")  # parameters that say which indexes a name means

NO_LAYOUT = Layout((), frozenset(), {}, (), {}, 10_000, ())


@dataclass(slots=True)
class IndexMetadataCache:
    """TTL cache of index metadata and manual decisions; one per client."""

    layouts: TtlCache[str, Layout] = field(default_factory=TtlCache)
    stored_presets: TtlCache[str, Mapping[str, parameters.Preset]] = field(default_factory=TtlCache)
    decisions: TtlCache[str, Mapping[str, Override]] = field(default_factory=TtlCache)
    checkpoints: TtlCache[str, Sequence[GroupCheckpoint]] = field(default_factory=TtlCache)
    coverages: TtlCache[str, stored_groups.Coverage] = field(default_factory=TtlCache)
    points: TtlCache[str, str] = field(default_factory=TtlCache)
    plugins: TtlCache[str, bool] = field(default_factory=TtlCache)
    counts: TtlCache[str, cluster.CountResult] = field(default_factory=TtlCache)

    def layout(self, index: str, params: Mapping[str, str]) -> RequestFlow[Layout]:
        """Return the layout of indexes; indexes whose hits cannot be grouped are refused."""
        selection = {name: params[name] for name in NAMES if name in params}
        key = repr((index, sorted(selection.items())))
        if (cached := self.layouts.get(key)) is not None:
            return cached
        layout = yield from read_layout(index, selection, ok_statuses=(403, 404))
        if fault := schema_fault(layout) or (yield from pipeline_fault(layout.pipelines)):
            raise UsageError(*fault)
        is_alias = not set(layout.indices) >= set(read_names(index))
        return self.layouts.put(key, layout, ALIAS_S if is_alias else INDEX_S)

    def state(self, target: Target, layout: Layout, request: parameters.DedupeRequest) -> RequestFlow[pages.IndexState]:
        """Return what decides on the way of a search, but for manual decisions."""
        names = layout_names(target.index, layout)
        if (checkpoints := self.checkpoints.get(key := repr((names.asked, names.indices)))) is None:
            entries = (yield from ledgers.read_record(names, "groups", KEY)) if names.sources else []
            checkpoints = self.checkpoints.put(key, list(map(checkpoint_of, entries)), WORDS_S)
        if request.by == "stored":  # of indexes whose groups are unrelated, or that have none
            what = "dedupe_by=stored cannot be combined with"
            if layout.bare and not layout.beside:
                bare = ", ".join(layout.bare)
                raise UsageError(f"{what} {bare}: no groups are stored there", "sign it with: ibidem backfill")
            if len(checkpoints) > 1:
                remedy = "search each separately, or settle them as one by an alias of all: ibidem regroup --all"
                raise UsageError(f"{what} indexes whose groups are settled separately", remedy)
        checkpoint = checkpoints[0] if len(checkpoints) == 1 else GroupCheckpoint()
        if layout.beside or request.by == "window" or not checkpoint.done:
            return pages.IndexState(checkpoint, is_beside=bool(layout.beside))
        key = repr((key, target.params, checkpoint.done))
        if (coverage := self.coverages.get(key)) is None:
            coverage = yield from cluster.read_coverage(target, layout, stored_groups.parse_marks(checkpoint.done))
            self.coverages.put(key, coverage, COUNTS_S)
        return pages.IndexState(checkpoint, coverage)

    def point_indices(self, target: Target) -> RequestFlow[str]:
        key = repr(target.point)
        if (names := self.points.get(key)) is None:
            indices = {"terms": {"field": "_index", "size": 1_000}}
            answer = yield target.search({"size": 0, "aggs": {"indices": indices}})
            buckets = answer.get("aggregations", {}).get("indices", {}).get("buckets", ())
            names = self.points.put(key, ",".join(sorted(each["key"] for each in buckets)))
        return names


def read_manual(
    cache: TtlCache[str, Mapping[str, Value]],
    names: stored_groups.IndexNames,
    ledger: stored_groups.Ledger,
    parse: Parse[Value],
) -> RequestFlow[Mapping[str, Value]]:
    """Return the records of a ledger that people write, by key."""
    key = repr((names.asked, names.indices))
    if (found := cache.get(key) if names.sources else {}) is None:
        entries = yield from ledgers.read_records(names, ledger)
        found = cache.put(key, dict(read_entries(entries.items(), parse)), WORDS_S)
    return found


def read_names(index: str) -> list[str]:
    """Return the full names of the searched indexes, without patterns and excluded names.

    >>> read_names("news,old-*,-old-7")
    ['news']
    """
    return [name for name in index.split(",") if name and name[0] not in "-<" and "*" not in name and name != "_all"]


def layout_names(index: str, layout: Layout) -> stored_groups.IndexNames:
    return layout.names(*read_names(index))


class DslBackend(pages.SearchBackend):
    """A ranking in the engine's own language."""

    def __init__(self, search: DslSearch, metadata: IndexMetadataCache) -> None:
        self.search = search
        self.metadata = metadata
        self.layout = NO_LAYOUT
        self.first: Mapping[str, Any] = {}
        self.scores: dict[DocumentRef, float | None] = {}
        self.renamed = False
        self.state = pages.IndexState()
        self.way = pages.Way(search.request, "request")
        self.ids = False  # whether windows use the engine's own ids instead of those in packed values
        self._ranked: Sequence[stored_groups.Hit] = ()
        self._found: Sequence[stored_groups.Hit] = ()
        self.next_page: Place | None = None
        self.overrides: Sequence[Override] = ()
        self._view = NOW
        self._heads: Sequence[stored_groups.GroupHit] = ()
        self._shown: dict[DocumentRef, Json] = {}

    @property
    def page(self) -> pages.PageRequest:
        search, deepest = self.search, min(parameters.MAX_WINDOW, self.layout.max_hits)
        if search.request.window > deepest and not search.request.takes_all:
            what = f"dedupe_window={search.request.window} is more than the index allows"
            raise UsageError(what, f"use 1 to {deepest}, or raise index.max_result_window")
        start, size = search.start, search.size
        return pages.PageRequest(search.request, start, size, search.tables, deepest, next_page=self.next_page)

    def _ranks_as_a_whole(self) -> bool:
        """Return whether a document matches by its rank, so that no clause can test it alone."""
        return "knn" in self.search.ranking

    def _codec(self, request: parameters.DedupeRequest) -> CursorCodec:
        return pages.cursor_codec(self.search.target.index, self.search.digest, request)

    @property
    def cursor(self) -> str:
        """Cursor for later pages of this ranking; empty if it would need a point in time."""
        return "" if self._view == NOW else self.write_cursor()

    def write_cursor(self, next_page: Place | None = None) -> str:
        """Return the cursor of the next page, by its start position or number."""
        return self._codec(self.search.request).encode(Cursor(self._view, next_page))

    def read_metadata(self) -> RequestFlow[None]:
        """Read layouts and records of the indexes, then choose the way of the search and read its cursor."""
        target, asked = self.search.target, self.search.request
        if parameters.asks_for_stored_preset(asked):
            layout = NO_LAYOUT
            if target.point is None:
                layout = yield from self.metadata.layout(target.index, target.params)
            names = layout_names(target.index, layout)
            presets = yield from read_manual(self.metadata.stored_presets, names, "presets", read_preset)
            presets = {**parameters.PRESETS, **presets}
            asked = replace(asked, policy=parameters.parse_request(dict(asked.figures), presets=presets).policy)
        index = target.index if target.point is None else (yield from self.metadata.point_indices(target))
        if index or target.point is None:
            params = {name: target.params[name] for name in NAMES if name in target.params}
            self.layout = yield from self.metadata.layout(index, params)
            names, decisions = layout_names(index, self.layout), self.metadata.decisions
            overrides = yield from read_manual(decisions, names, "overrides", Override.from_record)
            self.overrides = list(overrides.values())
            state = yield from self.metadata.state(Target(index, params=params), self.layout, asked)
            self.state = replace(state, decisions=len(self.overrides))
        way = pages.choose_way(asked, self.state)
        if target.point is not None and asked.cursor and not way.request.takes_all:
            what = "dedupe_cursor cannot be combined with a point in time, by which all pages see one ranking already"
            raise UsageError(what, "leave one of them out")
        self.way, cursor = pages.read_cursor(way, self._codec, is_free=asked.by == "auto")
        self._view, self.next_page = cursor.view, cursor.next_page
        self.search = replace(self.search, request=self.way.request)
        asks_for_ids = self.way.request.takes_all or self.search.joins or bool(asked.membership)
        self.ids = asks_for_ids or bool(self.layout.bare)
        if not self.way.request.takes_all and self.search.start >= parameters.MAX_WINDOW:
            what = f"from={self.search.start} lies beyond the first {parameters.MAX_WINDOW:,} groups"
            raise UsageError(what, "narrow the query, or add a filter")

    def through_plugin(self) -> RequestFlow[Json | None]:
        """Let the cluster's plugin search and group; None without a plugin, or if it lacks an option."""
        if not does(self.search, self.layout) or self.needs_aggregation():
            return None
        if not (yield from cluster.may_use_plugin(self.metadata.plugins, "")):
            return None
        may_pin, ranked = self.may_pin(), self._collapsed_ranking() if self.search.request.takes_all else None
        answer = yield from self._ask_plugin(ranked)
        if answer is None:
            return None
        syntax.check_complete(answer)
        if may_pin:
            self._view = ReadView(ranks.read_newest(answer))
        _, answer = cluster.split_counts(answer, cluster.NAME)
        account, cursor = answer["dedupe"], self.cursor
        if ranked is not None:
            account = pages.with_index(account, self.state, self.overrides)
            last = cut_sort(answer["hits"]["hits"], ranked.sorted_by)
            cursor = self.write_cursor(pages.following_page(self.page, last))
        account |= {"cursor": cursor} | self.way.account() | self.search.notes(account["documents"]["matched"])
        return answer | {"dedupe": account}

    def _ask_plugin(self, ranked: cluster.ClusterCollapse | None) -> RequestFlow[Json | None]:
        """Let the plugin search; None if the layer would have read other documents."""
        search, request = self.search, self.search.request
        ranking = self.up_to_now(dict(search.ranking)) if ranked is None else {**ranked.body}
        aggregations = {**search.aggregations, **(ranks.NEWEST if self.may_pin() else {})}
        body: Json = {**search.display, **ranking, "ext": {cluster.NAME: pages.plugin_request(request)}}
        body |= {"track_total_hits": True, "from": search.start, "size": search.size}
        body |= {"aggs": aggregations} if aggregations else {}
        # What the plugin refuses of stored groups, the layer does or refuses in its own words.
        answer: Json = yield replace(search.target.search(body), ok_statuses=(400,) if request.takes_all else ())
        if not answer:
            return None
        account = cluster.pop_account(answer)
        if request.takes_all:
            most = stored_groups.MAX_MEMBERS if request.max_per_group is None else request.max_per_group
            marks = [hit["_dedupe"] for hit in cluster.iterate_hits(answer["hits"]["hits"])]
            # Every shown duplicate passes against its lead, and none is missing.
            is_same = account["by"] == request.by and all(
                (each["level"] or not each["indent"]) and each["shown"] > min(most, each["size"] - 1) for each in marks
            )
        else:  # the layer would deepen a kNN search whose page is not full
            is_short = account["groups"]["on_page"] < search.size
            has_more = is_short and account["documents"]["in_window"] >= request.window and grows(search.ranking)
            is_same = pages.is_read_as_here(account, request, search.size) and not has_more
        return answer | {"dedupe": with_current_tables(account, search.tables)} if is_same else None

    def window(self, depth: int) -> RequestFlow[Ranking]:
        deeper = self.search.deepen(depth) if grows(self.search.ranking) else self.search  # of a pure kNN search
        if deeper.adjusted != self.search.adjusted:
            self.search, self.first = deeper, {}  # other parts of the response are requested again
        answer, hits = yield from ranks.rank(
            self.search.target, self._body(depth), self.layout.max_hits, ids=self.ids, beside=self.layout.beside
        )
        syntax.check_complete(answer)
        if "sort" in self.search.ranking:
            pairs = zip(hits, answer["hits"]["hits"], strict=True)
            self.scores |= {hit.name: each["_score"] for hit, each in pairs}
        if not self.first:
            self.learn(answer, ranks.read_newest(answer) if self.may_pin() else -1)
        self._ranked = hits
        return Ranking(hits, answer["hits"]["total"]["value"])

    def find(self, searches: Sequence[SignatureLookup], *, whole_index: bool) -> RequestFlow[list[LookupResult]]:
        del whole_index  # refused before: `check_combinations`
        results = yield from ranks.LookUp(self.search.target, self.layout, self.search.clause).find(searches)
        self._found = [hit for each in results for hit in each.hits]
        return results

    def collapse(self, place: Place, size: int) -> RequestFlow[stored_groups.Collapsed]:
        aggregations, count = self.search.aggregations, self._cached_count() if self.search.counts else None
        if self.search.request.by == "stored":
            aggregations = syntax.request_counts(aggregations, syntax.STORED_COUNTS)
        has_ungrouped = self._by == "content" or bool(self.state.coverage.ungrouped)
        ranking = self._collapsed_ranking()
        answer, page = yield from ranking.page(place, size, aggregations, count, has_ungrouped=has_ungrouped)
        syntax.check_complete(answer)
        self.learn(answer, page.newest)
        self.scores |= {head.name: head.score for head in page.heads}
        self._heads = page.heads
        self._keep(answer["hits"]["hits"])
        return page

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[stored_groups.Members]:
        ranking = self._collapsed_ranking()
        if self.search.request.keep.by == "rank":  # all documents that are read are shown
            hits, members = yield from ranking.tails(groups, limit, self._heads)
            self._keep(hits)
        else:
            members = yield from ranking.members(groups, limit)
        self.scores |= {each.name: each.score for each in members.hits}
        return members

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, stored_groups.Hit]]:
        # In the current state, not the cursor's: a lead is rewritten whenever its group grows.
        return cluster.ClusterCollapse(self.search.target, self.search.ranking, self.layout).leads(groups)

    def _keep(self, hits: Sequence[Mapping[str, Any]]) -> None:
        """Keep the hits that already contain all fields to show."""
        display = self.search.display
        self._shown |= {
            (hit["_index"], hit["_id"]): syntax.clean_explanation(syntax.as_shown(hit, display)) for hit in hits
        }

    def _cached_count(self) -> cluster.CountPlace:
        """Return the cached count of this search without its cursor; valid until a matching write."""
        search = self.search
        parts = (search.target.index, search.target.point, search.target.params, search.digest, self._by)
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        return self.metadata.counts, xxh3_128_hexdigest(key)

    def _collapsed_ranking(self) -> cluster.ClusterCollapse:
        search = self.search
        parts = self.up_to_now(dict(search.display)) if "query" in search.display else dict(search.display)
        body = self.up_to_now(dict(search.ranking))
        return cluster.ClusterCollapse(search.target, body, self.layout, by=self._by, display=parts)

    @property
    def _by(self) -> stored_groups.GroupField:
        return "content" if self.search.request.by == "content" else "group"

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        if self.ids:
            return (yield from ranks.long_values(self.search.target, names, self.layout.beside))
        read = yield from ranks.long_hits(
            self.search.target, names, None if self._ranks_as_a_whole() else self.search.clause
        )
        hits = {hit.name: hit for hit in (*self._ranked, *self._found)}
        own = [raw for raw in read if ranks.is_same_state(raw, hits[raw["_index"], raw["_id"]])]
        self.renamed |= len(own) < len(read)
        return ranks.read_long(own)

    def passages(
        self, hits: Sequence[stored_groups.Hit], fields: parameters.PassageFields
    ) -> RequestFlow[Mapping[DocumentRef, Passage]]:
        read = yield from self._read(hits, {"_source": [fields.document, fields.text]})
        return {name: pages.read_passage(raw.get("_source", {}), fields) for name, raw in read.items()}

    def memberships(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
        return read_memberships(self.search.target, names)

    def versioned(self, hits: Sequence[stored_groups.Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        address = load().address
        fields = Fields() if address.startswith("sqlite:") else parse_address(address).fields
        read = yield from self._read(hits, {"_source": {"excludes": [fields.text, OURS]}})
        return {name: as_document(name[1], raw.get("_source", {}), fields) for name, raw in read.items()}

    @override
    def fetch(
        self, hits: Sequence[stored_groups.Hit], outside: Collection[DocumentRef] = ()
    ) -> RequestFlow[Mapping[DocumentRef, Json]]:
        missing = [hit for hit in hits if hit.name not in self._shown]
        read = (yield from self._read(missing, self.search.display)) if missing else {}
        return self._shown | {
            name: syntax.clean_explanation(raw if self.ids else syntax.as_shown(raw, self.search.display))
            for name, raw in read.items()
        }

    def _read(
        self, hits: Sequence[stored_groups.Hit], display: Mapping[str, Any]
    ) -> RequestFlow[dict[DocumentRef, Json]]:
        documents: dict[DocumentRef, Json] = {}
        for start in range(0, len(hits), AT_ONCE):
            batch = hits[start : start + AT_ONCE]
            names = [hit.name for hit in batch]  # maybe one twice, since a stored id may be false
            answer = yield self._documents_request(names, display)
            syntax.check_complete(answer)
            read: dict[DocumentRef, Json] = {}
            for raw in answer["hits"]["hits"]:
                if "_id" not in raw:
                    remedy = "do not let a search pipeline remove it, or use search_pipeline=_none"
                    raise UsageError(f"a hit of the index {raw['_index']!r} has no _id", remedy)
                read[raw["_index"], raw["_id"]] = raw
            there = ((name, hit) for name, hit in zip(names, batch, strict=True) if name in read)
            own = [name for name, hit in there if self.ids or ranks.is_same_state(read[name], hit)]
            self.renamed |= len(own) < len(batch) and not self.ids
            documents |= {name: read[name] for name in own}
        return documents

    def needs_aggregation(self) -> bool:
        """Return whether aggregations need the groups, or fields that the ranking's hits leave out."""
        aggregations = syntax.iter_aggregations(self.search.aggregations)
        return self.counts_buckets() or (self.search.joins and any("top_hits" in each for each in aggregations))

    def counts_buckets(self) -> bool:
        """Return whether the groups in buckets are counted; with signatures beside, the index cannot."""
        aggregations = syntax.iter_aggregations(self.search.aggregations)
        has_buckets = any(kind in each for each in aggregations for kind in syntax.BUCKET_AGGREGATIONS)
        return has_buckets and not self.layout.beside

    def up_to_now(self, body: Json) -> Json:
        """Exclude documents written after the ranking was first read."""
        if self._view.newest is None:
            return body
        return body | {"query": ranks.limit_writes(body.get("query") or ALL, self._view.newest)}

    def _body(self, depth: int) -> Json:
        """Build the request for the top of the ranking; the first one includes aggregations."""
        body: Json = {**self.search.ranking, **PACKED_STATES, "size": depth, "track_total_hits": True}
        body = self.up_to_now(body)
        if self.first:
            return body
        aggs = {} if self.needs_aggregation() else dict(self.search.aggregations)
        aggs |= ranks.NEWEST if self.may_pin() else {}
        return {**body, **({"aggs": aggs} if aggs else {})}

    def may_pin(self) -> bool:
        """Return whether sequence numbers order the writes, so that a ranking can be repeated."""
        is_new = self._view.newest is None and not self.search.target.point
        return self.layout.numbers_writes and is_new and not self._ranks_as_a_whole()

    def learn(self, answer: Mapping[str, Any], newest: int) -> None:
        """Store the response without its hits, and the highest sequence number among the matches."""
        if self.may_pin():
            self._view = ReadView(newest)
        self.first = answer

    def _documents_request(self, names: Sequence[DocumentRef], display: Mapping[str, Any]) -> ApiRequest:
        """Request documents by index and id, filtered by the shown query, since a stored id may be false."""
        id_clause = ids_query([name for _, name in names])
        indices = {index for index, _ in names}
        # With several indexes, more than one may contain the id.
        is_one_index = len(indices) == 1 and self.layout.indices == tuple(indices)
        clause = id_clause if is_one_index else {"bool": {"should": documents(names), "minimum_should_match": 1}}
        body, fields = dict(display), display.get("docvalue_fields") or []
        if not self.ids and isinstance(fields, list | tuple):  # of others the server reports the error
            body |= {"seq_no_primary_term": True, "docvalue_fields": [*fields, PACKED]}
        body |= {"size": len(names), "track_total_hits": False}
        if self._ranks_as_a_whole() and display.keys() & MATCH_PARTS:
            conditions = [clause, *([body["post_filter"]] if body.get("post_filter") else [])]
            return self.search.target.search(body | {"post_filter": {"bool": {"filter": conditions}}})
        query: Json = {"bool": {"filter": [clause]}}
        if body.get("query"):
            query["bool"]["must"] = [body["query"]]
        return self.search.target.search(body | {"query": query})


def does(search: DslSearch, layout: Layout) -> bool:
    """Return whether the plugin supports a request, except for aggregations that need the groups."""
    # The filter against later writes would be explained too.
    request = search.request
    if (request.cursor and "explain" in search.display) or search.joins:
        return False
    if not request.takes_all:
        return pages.decides(request)
    # Of several shards each returns all groups up to the page's end. A point in time is not grouped on both engines.
    is_near = search.start + search.size <= layout.max_hits // max(1, layout.shards) and search.target.point is None
    return is_near and request.keep.by == "rank" and request.policy.learned is None


def cut_sort(hits: list[Json], sorted_by: int) -> Sequence[object] | None:
    """Leave hits their first sort values, and return all those of the last group."""
    last = None
    for hit in cluster.iterate_hits(hits):
        sort = hit.pop("sort")
        hit.update({"sort": sort[:sorted_by]} if sorted_by else {})
        last = last if hit["_dedupe"]["indent"] else sort
    return last


def grouped_search(search: DslSearch, metadata: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of groups, or with the engine's own answer and a note."""
    start_time = perf_counter()
    if search.note:
        answer: Json = yield replace(search.target.search(search.ranking), params=search.target.params)
        return answer | {"dedupe": {"mode": "off", "note": search.note}}
    source = DslBackend(search, metadata)
    yield from source.read_metadata()
    if (plugin_answer := (yield from source.through_plugin())) is not None:
        return plugin_answer
    if is_stored := source.search.request.takes_all:
        page, window = yield from pages.stored_page(source, source.page, source.state)
        cursor, aggregations = source.write_cursor(page.next_page), dict[str, Any]()
        if source.search.aggregations and (found := source.first.get("aggregations")):
            counted = syntax.write_counts(found, syntax.STORED_COUNTS, syntax.count_stored_groups)
            aggregations = {"aggregations": counted}
    else:
        page, window = yield from pages.grouped_page(source, source.page)
        if source.renamed:  # some ids in packed values are false: the same ranking is read again, with the engine's own
            source.ids, source.renamed, source.first = True, False, {}
            page, window = yield from pages.grouped_page(source, source.page)
        aggregations, cursor = (yield from aggregate(source, window, page.total)), source.cursor
    took, shown = round((perf_counter() - start_time) * 1000), dict(source.first)
    account = page.account | {"cursor": cursor, "took_ms": took, "grouper": "client"} | source.way.account()
    if account["unsigned"] and (stored_groups.read_packed(window.hits).size[: window.ranked] == MISSING).any():
        account["remedy"] = "sign them with: ibidem backfill"
    account |= source.search.notes(page.total)
    if source.scores:
        for hit in cluster.iterate_hits(page.hits):
            hit["_score"] = source.scores.get((hit["_index"], hit["_id"]))
    best = page.best if is_stored else shown["hits"].get("max_score")
    hits = {"total": {"value": page.total, "relation": "eq"}, "max_score": best, "hits": page.hits}
    shown |= {"took": took, "hits": hits, "dedupe": account}
    return cluster.split_counts(shown, cluster.NAME)[1] | aggregations


def aggregate(source: DslBackend, window: Window, total: int) -> RequestFlow[Json]:
    """Request aggregations after the groups in their buckets are known; no request if already done."""
    if not source.needs_aggregation():
        return {}
    search, aggs = source.search, source.search.aggregations
    leaves_query = any("global" in each for each in syntax.iter_aggregations(aggs))
    all_read = window.ranked == total and not search.ranking.keys() & {"post_filter", "min_score"}
    bucket_groups = syntax.BucketGroups(window, is_whole=all_read and not leaves_query)
    parts = {name: part for name, part in search.ranking.items() if name in ("query", "knn", "min_score")}
    if "query" in parts:
        parts["query"] = search.display["query"]
    counted = syntax.request_counts(aggs, bucket_groups.own) if source.counts_buckets() else aggs
    body = source.up_to_now(parts) | {"size": 0, "track_total_hits": False, "aggs": counted}
    answer = yield search.target.search(body, request_cache="false")
    syntax.check_complete(answer)
    if "aggregations" not in answer:  # no index matched
        return {}
    return {"aggregations": syntax.write_counts(answer["aggregations"], bucket_groups.own, bucket_groups.count)}


INDEX = ("index", "indices", "indice")  # names under which the engines look for the indexes in a head


SearchLine = tuple[Mapping[str, Any], Mapping[str, Any]]  # a header, which names the indexes, and a body


def names_dedupe(line: SearchLine) -> bool:
    return any(parameters.is_dedupe_name(name) for part in line for name in part)


def multi_search(  # noqa: PLR0913, PLR0917 - the request, and the cache and the errors of its caller
    asked: ApiRequest,  # without its lines; only searches without groups may have further parameters
    index: str,  # the indexes in the path, for headers that name none
    options: Mapping[str, object],  # dedupe parameters that hold for each search
    lines: Sequence[SearchLine],
    metadata: IndexMetadataCache,
    error_answer: Callable[[Exception], Json | None],  # returns the response inside an error; None to raise it
) -> RequestFlow[Json]:
    """Answer several searches in order; searches without grouping are sent in one request."""
    requests = [line_request(line, options) for line in lines]
    plain = [without_dedupe(part) for line, each in zip(lines, requests, strict=True) if each is None for part in line]
    if not any(requests):
        answer: Json = yield replace(asked, lines=plain)
        return answer
    for name in asked.params:
        refuse(name)
    engine_answer = (yield replace(asked, params={}, lines=plain)) if plain else {}
    passed, responses = iter(engine_answer.get("responses", ())), list[Json]()
    for line, each in zip(lines, requests, strict=True):
        if each is None:
            responses.append(next(passed))
        elif isinstance(each, UsageError):
            responses.append(usage_json(each))
        else:
            responses.append((yield from answer_line(line, each, index, metadata, error_answer)))
    return {"took": max((each.get("took", 0) for each in responses), default=0), "responses": responses}


def line_request(line: SearchLine, options: Mapping[str, object]) -> parameters.DedupeRequest | UsageError | None:
    """Return the dedupe options of a search, or its error; None if the engine's own response is requested."""
    try:
        request = parameters.dedupe_request({**options, **line[0]}, line[1])
    except UsageError as error:
        return error
    return None if request is None or request.mode == "off" else request


def answer_line(
    line: SearchLine,
    request: parameters.DedupeRequest,
    index: str,
    metadata: IndexMetadataCache,
    error_answer: Callable[[Exception], Json | None],
) -> RequestFlow[Json]:
    """Answer one of several searches, also with its error."""
    try:
        head, body = map(without_dedupe, line)
        params = {name: value for name, value in head.items() if name not in INDEX}
        index = next((join_names(head[name]) for name in INDEX if name in head), "") or index
        return {**(yield from grouped_search(read_search(index, body, params, request), metadata)), "status": 200}
    except UsageError as error:
        return usage_json(error)
    except Failure as failure:
        return error_json(failure.status or 502, failure.kind or "exception", failure.reason)
    except Exception as error:
        if (answer := error_answer(error)) is None:
            raise
        return answer


def read_lines(parts: Iterable[Any]) -> list[SearchLine]:
    """Parse searches: a header, which may be empty, and a body, each a JSON object.

    >>> read_lines([{"index": "news"}, {"size": 1}])
    [({'index': 'news'}, {'size': 1})]
    """
    lines = list(parts)
    if len(lines) % 2:
        raise UsageError("the last header of the searches has no body", "give a header and a body for each search")
    for number, line in enumerate(lines):
        if not isinstance(line, Mapping):
            raise UsageError(f"part {number + 1} of the searches is not a JSON object", "write {'query': …}")
    return list(zip(lines[::2], lines[1::2], strict=True))


def without_dedupe(part: Mapping[str, Any]) -> Json:
    return {name: value for name, value in part.items() if not parameters.is_dedupe_name(name)}


def join_names(value: object) -> str:
    """Join the indexes of a header for a path.

    >>> join_names(["news", "law"])
    'news,law'
    """
    values = value if isinstance(value, list | tuple) else [value]
    names = [name for name in values if isinstance(name, str)]
    if len(names) < len(values):
        raise UsageError("an index name has to be a string", 'write {"index": "NAME"}')
    return ",".join(names)


def error_json(status: int, kind: str, reason: str) -> Json:
    """Return an error in the format of OpenSearch and Elasticsearch."""
    cause = {"type": kind, "reason": reason}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


def usage_json(error: UsageError) -> Json:
    """Return a usage error in the format of the engines."""
    return error_json(400, "illegal_argument_exception", str(error))
