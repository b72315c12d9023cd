"""Search of an index in a cluster, as request flows: its ranking, its stored groups, and documents by name.

A plugin inside the cluster groups the search where every node has it. Else a collapsed search is a native `collapse` on
the stored group. To it, documents without one would be one group. Where there are several, and beyond the groups that a
server counts off, the plain ranking is gone through instead, and a document is kept where it is the best of its group.

All matches are counted by a separate search. The count is used again as long as the number, maximum and sum of the
matching sequence numbers of each index, asked for with the hits of each page, show no write, regrouping or deletion.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ibidem_core.address import Fields, read_path
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import engine, stored_groups
from ibidem_engines.cluster import dsl, lookup
from ibidem_engines.cluster.client import Dialect, read_responses
from ibidem_engines.cluster.dsl import ALL, COUNTED, PACKED, Clause, all_of, first_value, hits_of, total_of
from ibidem_engines.cluster.groups import FOLLOWERS, GROUP, LEAD, LEADS, read_memberships
from ibidem_engines.cluster.index import Layout, beside_key, document_of, field_issues
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.query import NOW, Place, Query, ReadView
from ibidem_engines.requests import COUNTS_S, ApiRequest, Json, RequestFlow, Target, TtlCache, in_slices
from ibidem_engines.stored_groups import MAX_GROUPS, Collapsed, Collapsing, Coverage, GroupHit, MatchCounts, Members
from ibidem_ingest.dates import iso_date
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import UsageError

COUNTS = "ibidem_groups"  # name of the aggregation that counts all matches

# Groups of two or more up to which their names are read, so that other groups are not asked for their documents.
MAX_NAMED = 1_000

WRITES: Clause = {"writes": {"stats": {"field": "_seq_no"}}}
# Each index numbers its own writes: one in place of another's with its number shows in neither sum.
WRITES_BY_INDEX: Clause = {**WRITES, "indices": {"terms": {"field": "_index", "size": 10_000}, "aggs": WRITES}}

_SIZES = "groups>_count"
_WITHOUT_BUCKETS = {"filter_path": f"-responses.aggregations.**{COUNTS}.groups.buckets"}


@dataclass(frozen=True, slots=True)
class Writes:
    """Summary of the writes of all matching documents."""

    number: int  # how many there are
    newest: int  # the highest of their numbers; -1 where nothing matches
    total: float  # the sum of their numbers
    indices: Mapping[str, "Writes"] = field(default_factory=dict)  # the same of each of several indexes, by its name

    @classmethod
    def read(cls, counts: Json) -> "Writes":
        writes = counts["writes"]
        indices = {each["key"]: cls.read(each) for each in counts.get("indices", {}).get("buckets", ())}
        return cls(writes["count"], -1 if writes["max"] is None else int(writes["max"]), writes["sum"], indices)


@dataclass(frozen=True, slots=True)
class CountResult:
    writes: Writes  # the writes that matched then
    counts: MatchCounts
    # Names of all groups with two or more matching documents; None if too many, or unknown.
    several: frozenset[str] | None = None


# The counts of a search over no index: a wildcard that matches none, of which servers give no aggregations.
NO_COUNTS = CountResult(Writes(0, -1, 0.0), MatchCounts(documents=0, groups=0, exact=True), frozenset())


CountPlace = tuple[TtlCache[str, CountResult], str]  # a cache, and the key of one search


def read_coverage(target: Target, layout: Layout, settled: stored_groups.Marks) -> RequestFlow[Coverage]:
    """Count the documents of indexes without a settled group; each shard numbers its writes separately."""
    bodies = [COUNTED, COUNTED | {"query": {"bool": {"must_not": [{"exists": {"field": GROUP}}]}}}]
    lines: list[Json] = [line for body in bodies for line in ({**target.head, "index": target.index}, body)]
    for index, shards in layout.shard_counts.items():
        for shard in range(shards):
            newer: Clause = {"range": {"_seq_no": {"gte": settled.get(stored_groups.ShardRef(index, shard), 0)}}}
            part = {"index": index} | ({"preference": f"_shards:{shard}"} if shards > 1 else {})
            lines += [{**target.head, **part}, COUNTED | {"query": all_of(LEADS, newer)}]
    answers = read_responses((yield ApiRequest("POST", "/_msearch", lines=lines)))
    documents, ungrouped, *unsettled = map(total_of, answers)
    return Coverage(documents, ungrouped, sum(unsettled), has_content=bool(layout.kinds))


def filter_aggregations(body: Json, aggs: Clause) -> Clause:
    """Apply the filter that excludes hits after ranking to the counts."""
    return {"filter": body.get("post_filter") or ALL, "aggs": aggs}


def split_counts(answer: Json, name: str = COUNTS) -> tuple[Json, dict[str, Any]]:
    """Remove our own aggregation from the response of a search, and return both; empty if it has none."""
    aggregations = dict(answer.get("aggregations", {}))
    counts = aggregations.pop(name, {})
    response = {name: part for name, part in answer.items() if name != "aggregations"}
    return counts, response | ({"aggregations": aggregations} if aggregations else {})


def add_filter(body: Json, clause: Clause) -> Clause:
    """Add a filter; kNN searches are filtered after ranking."""
    query = body.get("query", ALL)
    if "knn" in body:
        filters = [clause, body["post_filter"]] if "post_filter" in body else [clause]
        return {**body, "post_filter": {"bool": {"filter": filters}}}
    return {**body, "query": {"bool": {"must": [query], "filter": [clause]}}}


CHUNK = 1_000  # hits of the plain ranking that are gone through at once

MEMBER_BATCH = 1_000  # documents of a page's groups that are read in one search

# Equal hits are ordered by index and id; those without signatures, which have no id there, by their writes.
_TIES: Sequence[Clause] = (
    {"_index": "asc"},
    {"ibidem.id": {"order": "asc", "unmapped_type": "keyword"}},
    {"_seq_no": "asc"},
)

_BY_DATE: Mapping[stored_groups.Order, Sequence[Clause]] = {
    "relevance": [],
    "newest": [{"ibidem.date": {"order": "desc", "mode": "max", "missing": "_last", "unmapped_type": "date"}}],
    "oldest": [{"ibidem.date": {"order": "asc", "mode": "min", "missing": "_last", "unmapped_type": "date"}}],
}
NEWEST: Clause = {"newest": {"max": {"field": "_seq_no"}}}


class ClusterCollapse:
    """A ranking in a total order (its own sort if any, then index and id), collapsed by what a group shares."""

    def __init__(  # noqa: PLR0913 - parts of a search, the rest by name
        self,
        target: Target,
        body: Json,
        layout: Layout,
        order: stored_groups.Order = "relevance",
        *,
        by: stored_groups.GroupField = "group",
        display: Json | None = None,  # parts of the body for the hits that are shown
    ) -> None:
        sort = body.get("sort", [])
        sort = sort if isinstance(sort, list | tuple) else [sort]
        sort_keys = sort or [*_BY_DATE[order], {"_score": "desc"}]
        self.target, self.layout, self.display, self.field = target, layout, display, f"ibidem.{by}"
        self.body: Json = {**body, "sort": [*sort_keys, *_TIES]} | ({} if sort else {"track_scores": True})
        self.sorted_by = len(sort)  # how many of the sort values are the caller's own, to be shown with a hit

    def page(
        self, place: Place, size: int, aggregations: Json, cached: CountPlace | None, *, has_ungrouped: bool = True
    ) -> RequestFlow[tuple[Json, Collapsed]]:
        """Read a part of the collapsed ranking; see `EngineSearch.collapse`. Without a place, no groups are counted."""
        counted_off = place.start + size <= self.layout.max_hits
        counted = {"from": place.start, "size": size} if counted_off else {"from": 0, "size": 0}
        request = {**self.body, **self._fields(self.display), **counted, "track_total_hits": True}
        request |= {"collapse": {"field": self.field}}
        answer, count = yield from self._send_first(request, aggregations, cached, has_ungrouped=has_ungrouped)
        counts = count.counts
        heads = self._read(answer)
        next_place = hits_of(answer)[-1]["sort"] if heads else place.search_after
        # A head without a group may stand for others that were written since those of the whole index were counted.
        is_folded = counts.ungrouped > 1 or (not has_ungrouped and any(not head.group for head in heads))
        if is_folded or not counted_off:
            heads, next_place = yield from self._walk(place, size, can_restart=counted_off)
        best = answer["hits"].get("max_score") if counts.documents else None
        return answer, Collapsed(heads, counts, best, next_place, newest=count.writes.newest, several=count.several)

    def _send_first(
        self, request: Clause, aggregations: Json, cached: CountPlace | None, *, has_ungrouped: bool
    ) -> RequestFlow[tuple[Json, CountResult]]:
        """Send the first search; all matches are counted too, unless their count is known, or nobody asks for it."""
        cache, key = cached or (None, "")
        count = cache.get(key) if cache else None
        if cache and count is None and not aggregations:
            (answer,), count = yield from self._count(request)
            return answer, cache.put(key, count)
        own: Clause = {} if self.target.point else {**NEWEST}
        own |= {"ungrouped": {"missing": {"field": self.field}}} if has_ungrouped else {}
        if cache:
            own = {} if count is None else self._writes
        aggs = {**aggregations, **({COUNTS: filter_aggregations(self.body, own)} if own else {})}
        request |= {"aggs": aggs} if aggs else {}
        counts, answer = split_counts((yield self.target.search(request, packed=True)))
        if cache is None:
            newest, documents = counts.get("newest", {}).get("value"), total_of(answer)
            ungrouped = counts.get("ungrouped", {}).get("doc_count", 0)
            writes = Writes(documents, -1 if newest is None else int(newest), 0.0)
            return answer, CountResult(writes, MatchCounts(documents, None, exact=False, ungrouped=ungrouped))
        if count is None or (Writes.read(counts) if counts else NO_COUNTS.writes) != count.writes:
            _, count = yield from self._count()
        return answer, cache.put(key, count)

    def tails(
        self, groups: Sequence[str], limit: int, heads: Sequence[GroupHit]
    ) -> RequestFlow[tuple[Sequence[Json], Members]]:
        """Read the documents of some groups but their heads, as shown; if one search does not bring all, as members."""
        size = min(MEMBER_BATCH, self.layout.max_hits, limit * len(groups))
        if not size:
            return (), Members((), {})
        heads = [head for head in heads if head.group in groups]
        heads_clause = dsl.any_of(dsl.documents([head.name for head in heads]))
        clause = {"bool": {"filter": [{"terms": {self.field: list(groups)}}], "must_not": [heads_clause]}}
        body = {**self.body, **self._fields(self.display), "size": size, "track_total_hits": True}
        answer = yield self.target.search(add_filter(body, clause), packed=True)
        if total_of(answer) > len(hits_of(answer)):
            return (), (yield from self.members(groups, limit))
        hits = self._read(answer)
        return hits_of(answer), Members(hits, Counter(each.group for each in (*heads, *hits)))

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        """Read the best documents of some groups, and how many each has."""
        if not groups:
            return Members((), {})
        limit = min(limit, stored_groups.MAX_MEMBERS, self.layout.max_hits)
        size = min(MEMBER_BATCH, self.layout.max_hits, max(100, 2 * limit * len(groups)))
        counted = {"groups": {"terms": {"field": self.field, "size": len(groups), "include": list(groups)}}}
        body = self._members_body(groups, size) | {"aggs": {COUNTS: filter_aggregations(self.body, counted)}}
        answer = yield self.target.search(body)
        sizes = {each["key"]: int(each["doc_count"]) for each in answer["aggregations"][COUNTS]["groups"]["buckets"]}
        read: defaultdict[str, list[GroupHit]] = defaultdict(list)
        for hit in self._read(answer):
            read[hit.group].append(hit)
        incomplete = [name for name, count in sizes.items() if len(read.get(name, ())) < min(count, limit)]
        bodies = [self._members_body([name], min(limit, sizes[name])) for name in incomplete]
        for name, each in zip(incomplete, (yield from self._search(bodies)), strict=True):
            read[name] = self._read(each)
        return Members([each for name in groups for each in read.get(name, ())[:limit]], sizes)

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, stored_groups.Hit]]:
        """Read the leads of some groups if they match; other leads must not be disclosed."""
        answer = yield self.target.search(add_filter(self._members_body(groups, len(groups)), LEADS))
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
            counted = {"size": min(CHUNK, self.layout.max_hits), "track_total_hits": False}
            body: Clause = {**self.body, **self._fields(), **counted}
            if next_place is not None:
                body["search_after"] = list(next_place)
            answer = yield self.target.search(body)
            hits = self._read(answer)
            if not hits:
                break
            best: Mapping[str, DocumentRef] = {}
            if groups := sorted({each.group for each in hits if each.group}):
                body = {**self._members_body(groups, len(groups)), "collapse": {"field": self.field}}
                best = {each.group: each.name for each in self._read((yield self.target.search(body)))}
            for each, raw in zip(hits, hits_of(answer), strict=True):
                next_place = raw["sort"]
                if not each.group or best.get(each.group) == each.name:
                    heads.append(each)
                    if len(heads) == offset + size:
                        break
        return heads[offset:], next_place

    def _fields(self, display: Json | None = None) -> Clause:
        """Request packed signatures and groups, and the shown fields, if any."""
        shown: Json = {"_source": False} if display is None else display
        return {**shown, "docvalue_fields": [*shown.get("docvalue_fields", ()), PACKED, self.field, LEAD]}

    def _members_body(self, groups: Sequence[str], size: int) -> Clause:
        """Build the request for documents of some groups; the group condition does not affect scores."""
        body = {**self.body, **self._fields(), "size": size, "track_total_hits": False}
        return add_filter(body, {"terms": {self.field: list(groups)}})

    def _read(self, answer: Json) -> list[GroupHit]:
        pairs = zip(lookup.read_hits(answer, self.sorted_by), hits_of(answer), strict=True)
        return [
            GroupHit(hit, str(first_value(raw, self.field) or ""), raw.get("_score"), first_value(raw, LEAD) is True)
            for hit, raw in pairs
        ]

    def _search(self, bodies: Sequence[Json]) -> RequestFlow[list[Json]]:
        if not bodies:
            return []
        if len(bodies) == 1:  # a single search costs less
            return [(yield self.target.search(bodies[0]))]
        return read_responses((yield self.target.searches(bodies)))

    @property
    def _writes(self) -> Clause:
        """The aggregations that show whether the matching writes have changed."""
        return WRITES_BY_INDEX if len(self.layout.indices) > 1 else WRITES

    def _count(self, *searches: Json) -> RequestFlow[tuple[Sequence[Json], CountResult]]:
        """Count, and run other searches at the same time."""
        # All groups of two or more; with several shards, each shard also returns its single documents.
        names = {"field": self.field, "size": MAX_GROUPS, "shard_size": MAX_GROUPS, "min_doc_count": 2}
        names["shard_min_doc_count"] = 2 if self.layout.shards == 1 else 1
        aggs: Clause = {
            "groups": {"terms": names},
            "sizes": {"stats_bucket": {"buckets_path": _SIZES}},
            "ungrouped": {"missing": {"field": self.field}},
            **self._writes,
        }
        if self.layout.shards == 1:
            aggs["several"] = {"terms": {"field": self.field, "size": MAX_NAMED, "min_doc_count": 2}}
        request = replace(self.target.searches([*searches, self._counting(aggs)]), params=_WITHOUT_BUCKETS)
        *answers, count_answer = read_responses((yield request))
        if "aggregations" not in count_answer:
            return answers, NO_COUNTS
        counts = count_answer["aggregations"][COUNTS]
        match_counts = yield from self._read_counts(counts)
        several = frozenset(each["key"] for each in counts.get("several", {}).get("buckets", ()))
        is_whole = match_counts.exact and len(several) == counts["sizes"]["count"]
        return answers, CountResult(Writes.read(counts), match_counts, several if is_whole else None)

    def _counting(self, aggs: Clause) -> Clause:
        parts = {name: part for name, part in self.body.items() if name not in ("sort", "track_scores", "post_filter")}
        if "min_score" in parts and "knn" not in parts:  # which Elasticsearch leaves out of aggregations
            parts["query"] = {"function_score": {"query": parts.get("query", ALL), "min_score": parts.pop("min_score")}}
        return {**parts, "size": 0, "track_total_hits": False, "aggs": {COUNTS: filter_aggregations(self.body, aggs)}}

    def _read_counts(self, counts: Json) -> RequestFlow[MatchCounts]:
        """Read the counts; if there are too many groups of two or more to count exactly, estimate them."""
        documents, ungrouped_count = int(counts["doc_count"]), int(counts["ungrouped"]["doc_count"])
        several, members = int(counts["sizes"]["count"]), int(counts["sizes"]["sum"] or 0)
        remainder = int(counts["groups"]["sum_other_doc_count"])
        exact = several < MAX_GROUPS and not (remainder and self.layout.shards > 1)
        groups = documents - ungrouped_count - (members - several)
        if not exact:
            has_leads = self.layout.shards > 1 and self.field == GROUP
            counted = (yield from self._count_by_leads(documents - ungrouped_count)) if has_leads else None
            exact = counted is not None
            if counted is None:
                count = {"cardinality": {"field": self.field, "precision_threshold": MAX_GROUPS}}
                estimate = yield from self._aggregate({"groups": count})
                counted = min(documents - ungrouped_count, int(estimate["groups"]["value"]))
            groups = counted
        return MatchCounts(documents, groups + ungrouped_count, exact, ungrouped_count)

    def _count_by_leads(self, documents: int) -> RequestFlow[int | None]:
        """Count the groups of several shards: groups with a matching lead, and groups without one."""
        names = {"terms": {"field": GROUP, "size": MAX_GROUPS, "shard_size": MAX_GROUPS}}
        listing = yield from self._aggregate({"followers": {"filter": FOLLOWERS, "aggs": {"groups": names}}})
        followers = listing["followers"]
        if followers["groups"]["sum_other_doc_count"]:
            return None
        groups = [each["key"] for each in followers["groups"]["buckets"]]
        led = yield from self._aggregate({"led": {"filter": all_of(LEADS, {"terms": {GROUP: groups}})}})
        leads = documents - int(followers["doc_count"])
        return leads + len(groups) - int(led["led"]["doc_count"])

    def _aggregate(self, aggs: Clause) -> RequestFlow[Json]:
        (answer,) = read_responses((yield self.target.searches([self._counting(aggs)])))
        counts: Json = answer["aggregations"][COUNTS]
        return counts


VARIABLE = "IBIDEM_PLUGIN"
NAME = "ibidem"  # of the plugin, and of the aggregation of the newest write
NODES = ApiRequest(
    "GET",
    "/_nodes/plugins",
    {"filter_path": ",".join(f"nodes.*.{part}" for part in ("name", "version", "plugins.name", "plugins.version"))},
    ok_statuses=(401, 403, 404),
)


def plugin_nodes() -> RequestFlow[list[engine.PluginNode]]:
    """List the nodes with their plugins, ordered by name; empty without the right to see them."""
    nodes: list[engine.PluginNode] = []
    for node in (yield NODES).get("nodes", {}).values():
        plugin = next((each["version"] for each in node.get("plugins", ()) if each["name"] == NAME), "")
        nodes.append(engine.PluginNode(node["name"], node.get("version", ""), plugin))
    return sorted(nodes, key=lambda each: each.name)


def may_use_plugin(cache: TtlCache[str, bool], key: str) -> RequestFlow[bool]:
    """Return whether the environment allows the plugin and every node has it: other versions may decide differently."""
    mode = os.environ.get(VARIABLE, "auto")
    if mode not in ("auto", "off"):
        raise UsageError(f"{VARIABLE}={mode!r} is not valid", "allowed: auto, off")
    if mode == "off":
        return False
    if (cached := cache.get(key)) is not None:
        return cached
    nodes, own_version = (yield from plugin_nodes()), installed_version()
    return cache.put(key, bool(nodes) and all(each.plugin == own_version for each in nodes))


def iterate_hits(hits: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the hits of a list, including those inside its leads."""
    for hit in hits:
        yield hit
        yield from hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())


def pop_account(answer: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the plugin's account from a response: in `ext` on OpenSearch, else at the top level."""
    account: dict[str, Any] = answer.pop("ext", {}).get(NAME) or answer.pop("dedupe")
    return account


KEEP_ALIVE = "5m"

Names = Sequence[DocumentRef]  # documents by index and id


def open_point(dialect: Dialect, index: str, preference: str = "") -> RequestFlow[str]:
    """Open a point in time of an index, or of the shards in a preference; returns its id."""
    parameters = {"keep_alive": KEEP_ALIVE, **dialect.open_whole, **({"preference": preference} if preference else {})}
    answer = yield ApiRequest("POST", f"/{index}{dialect.point_path}", parameters)
    return str(answer[dialect.point_id])


@dataclass(frozen=True, slots=True)
class ClusterSearch(engine.EngineSearch):
    """One query to an index of a cluster."""

    index: str  # name of the index, or of an alias
    layout: Layout  # its layout, which was checked to be readable
    fields: Fields  # names of a document's fields in it
    dialect: Dialect  # dialect of OpenSearch or Elasticsearch
    counts: TtlCache[str, CountResult]  # counts of what matches stored groups, of all searches
    covered: TtlCache[str, Coverage]  # how far groups reach, by the last settled writes
    plugins: TtlCache[str, bool]  # whether every node has the plugin, by index
    query: Query | None = None  # for what; None: for everything

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[engine.Ranking]:
        if not 1 <= size <= self.layout.max_hits:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {self.layout.max_hits}")
        view = yield from self._begin(view)
        body = dsl.window(self._ranked, self.fields, size)
        answer, hits = yield from lookup.rank(
            self._target(view), lookup.apply_view(body, view), self.layout.max_hits, ids=True, beside=self.layout.beside
        )
        yield from self._check_phrases(hits)
        return engine.Ranking(hits, total_of(answer), lookup.next_view(view, answer))

    def grouped(
        self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> RequestFlow[engine.GroupedHits | None]:
        if not (yield from may_use_plugin(self.plugins, self.index)):
            return None
        view = yield from self._begin(view)
        body = lookup.apply_view(dsl.window(self._ranked, self.fields, size), view)
        body = {name: part for name, part in body.items() if name not in dsl.ONLY_PACKED}
        if not self.fields.are_cut_as_ours:  # only the server has the analyzer
            body["highlight"] = dsl.highlight(self.fields, self.dialect.offset_limit)
        body |= {"from": start, "ext": {NAME: dict(options)}}
        answer = yield self._target(view).search(body)
        hits = hits_of(answer)
        yield from self._check_phrases(hits)
        words = self.query if self.fields.are_cut_as_ours or self.fields.search else None
        shown = [hit for hit in iterate_hits(hits) if "_source" in hit]
        documents = {(hit["_index"], hit["_id"]): to_stored_document(hit, self.fields, words) for hit in shown}
        best, total = answer["hits"]["max_score"], total_of(answer)
        return engine.GroupedHits(hits, documents, pop_account(answer), total, best, lookup.next_view(view, answer))

    def fetch(self, ids: Names) -> RequestFlow[list[engine.StoredDocument]]:
        """Fetch documents with matching passages.

        In an index of our own words are cut as passages are, so these are marked here, in a tenth of the time that a
        server takes to mark words; in one of others only the server knows.
        """
        indices = self.layout.indices
        places = {
            each: [(index, each[1]) for index in (indices if each[0] == self.index else each[:1])] for each in ids
        }
        names = list(dict.fromkeys(place for each in places.values() for place in each))
        query = self.query
        marked_here = query if self.fields.are_cut_as_ours or self.fields.search else None
        documents: dict[DocumentRef, engine.StoredDocument] = {}
        for batch in in_slices(names, self._at_once):
            body = dsl.fetch_by_name(batch)
            if query is not None:
                body["query"] = {"bool": {"filter": [body["query"]], "must": [dsl.clause(query, self.fields)]}}
                if not self.fields.are_cut_as_ours:  # only the server has the analyzer
                    body["highlight"] = dsl.highlight(self.fields, self.dialect.offset_limit)
            for hit in hits_of((yield Target(self.index).search(body))):
                documents[hit["_index"], hit["_id"]] = to_stored_document(hit, self.fields, marked_here)
        return [documents[place] for each in ids for place in places[each] if place in documents]

    def dates(self, ids: Names) -> RequestFlow[dict[DocumentRef, str]]:
        hits = yield from self._parts(ids, {"_source": [self.fields.date]})
        dates = {(hit["_index"], hit["_id"]): iso_date(read_path(hit["_source"], self.fields.date)) for hit in hits}
        return {name: date for name, date in dates.items() if date}

    def find(self, searches: Sequence[engine.SignatureLookup]) -> RequestFlow[list[engine.LookupResult]]:
        clause = None if self.query is None else dsl.clause(self.query, self.fields)
        if not self.layout.beside:
            return (yield from lookup.LookUp(Target(self.index), self.layout, clause).find(searches))
        held = replace(self.layout, kinds=frozenset({"lean"}))
        found = yield from lookup.LookUp(lookup.beside_target(self.layout.beside), held, None).find(searches)
        keys = sorted({document_of(hit.id) for each in found for hit in each.hits})
        visible = yield from self._parts(keys, {"_source": False}, *filter(None, [clause]))
        # Those that the caller may see and that match.
        names = {beside_key(hit["_index"], hit["_id"]): {"index": hit["_index"], "id": hit["_id"]} for hit in visible}
        hits = [[replace(hit, **names[hit.id]) for hit in each.hits if hit.id in names] for each in found]
        return [each._replace(hits=own) for each, own in zip(found, hits, strict=True)]

    def long_signatures(self, ids: Names) -> RequestFlow[dict[DocumentRef, bytes]]:
        return lookup.long_values(Target(self.index), ids, self.layout.beside)

    def coverage(self, settled_marks: stored_groups.Marks) -> RequestFlow[Coverage]:
        key = repr(settled_marks)
        if (coverage := self.covered.get(key)) is None:
            coverage = yield from read_coverage(Target(self.index), self.layout, settled_marks)
            self.covered.put(key, coverage, COUNTS_S)
        return coverage

    def collapse(self, place: Place, size: int, how: Collapsing = stored_groups.BY_GROUP) -> RequestFlow[Collapsed]:
        began = yield from self._begin(how.view)
        cached = self.counts, f"{self._ranked.digest()} {began.point} {how.by}"
        _, page = yield from self._collapsed(replace(how, view=began)).page(place, size, {}, cached)
        return replace(page, view=ReadView(page.newest) if began == NOW else began)

    def members(
        self, groups: Sequence[str], limit: int, how: Collapsing = stored_groups.BY_GROUP
    ) -> RequestFlow[Members]:
        return self._collapsed(how).members(groups, limit)

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, stored_groups.Hit]]:
        return self._collapsed(stored_groups.BY_GROUP).leads(groups)

    def memberships(self, ids: Names) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
        return read_memberships(Target(self.index), ids)

    @property
    def _ranked(self) -> Query:
        return Query() if self.query is None else self.query

    def _target(self, view: ReadView) -> Target:
        """Return the target of a ranking, so that later pages read the same view.

        The same preference reaches the same copies of the shards, whose scores may differ a little from others'.
        """
        if view.point:
            return Target("", {"id": view.point, "keep_alive": KEEP_ALIVE})
        return Target(self.index, params={"preference": self._ranked.digest()})

    def _begin(self, view: ReadView) -> RequestFlow[ReadView]:
        """Open a point in time for a new ranking, if sequence numbers do not order the writes."""
        if view != NOW or self.layout.numbers_writes:
            return view
        return ReadView(point=(yield from open_point(self.dialect, self.index)))

    def _check_phrases(self, hits: Sequence[object]) -> RequestFlow[None]:
        """Raise if phrases found nothing because of the mapping."""
        if not hits and self._ranked.phrases() and (issues := (yield from field_issues(self.index, self.fields))):
            raise UsageError(issues[0].what, issues[0].remedy)

    def _collapsed(self, how: Collapsing) -> ClusterCollapse:
        body = dsl.with_ids(dsl.window(self._ranked, self.fields, 0))
        if how.view.newest is not None:
            body["query"] = lookup.limit_writes(body["query"], how.view.newest)
        return ClusterCollapse(self._target(how.view), body, self.layout, how.order, by=how.by)

    @property
    def _at_once(self) -> int:
        return min(dsl.AT_ONCE, self.layout.max_hits)

    def _parts(self, ids: Names, parts: Json, *clauses: Clause) -> RequestFlow[list[Json]]:
        return dsl.fetch_parts(Target(self.index), ids, parts, *clauses, at_once=self._at_once)
