"""Engine protocol over OpenSearch or Elasticsearch; `opensearch.py` and `elasticsearch.py` hold their differences."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from ibidem_core.address import Address, read_path
from ibidem_core.errors import Permanent
from ibidem_engines.cluster import dsl, group_set, groups, ledger_index, plugin, terms
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster import records as ledgers
from ibidem_engines.cluster import write as writing
from ibidem_engines.cluster.client import ClusterClient, Dialect, build_failure, to_engine_error
from ibidem_engines.cluster.collapse import ClusterCollapse, collapse_search
from ibidem_engines.cluster.groups import ClusterGroups
from ibidem_engines.cluster.health import PASSED_OVER, check_cluster, field_issue
from ibidem_engines.cluster.index import Layout, refresh_index
from ibidem_engines.cluster.lookup import LookUp, holders_query
from ibidem_engines.cluster.match_counts import CountCache, CountResult
from ibidem_engines.cluster.ranking import apply_view, limit_writes, long_values, next_view, rank, window
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.reindex_source import ClusterReindexSource
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.cursor import KEY, NOW, ReadView
from ibidem_engines.engine import (
    HealthIssue,
    Hit,
    Info,
    Ledger,
    LookupResult,
    Outcome,
    Ranking,
    Record,
    SignatureLookup,
    StoredDocument,
)
from ibidem_engines.hits import GroupedHits, PluginEngine, PluginNode
from ibidem_engines.index_names import IndexNames
from ibidem_engines.query import Filter, Query
from ibidem_engines.reindex import Marks, ReindexableEngine
from ibidem_engines.requests import ALIAS_S, INDEX_S, Target, TtlCache, answer_to
from ibidem_engines.stored_groups import Collapsed, CollapseEngine, Facets, Members, Order, Place
from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import UsageError

KEEP_ALIVE = "5m"
AT_ONCE = 1_000
OF_PEOPLE: frozenset[Ledger] = frozenset(("overrides", "presets", "alerts"))
"""Ledgers that people write, rarely."""

CURSOR_KEY_S = 3_600.0
"""Seconds after which the key of cursors is read again: it changes only with an index that is made anew."""


class ClusterEngine(CollapseEngine, PluginEngine, ReindexableEngine):
    """An index in a cluster.

    `order` is the number of the write in its shard: in an index that `create` makes, which has one shard, a number that
    grows with each write.

    Args:
        cluster: The cluster.
        dialect: Dialect of OpenSearch or Elasticsearch.
        address: Where it is and what the index looks like.
        index: Name of the index, or of an alias or a data stream.
        kept: The name next to which records are kept, where that does not follow from the index's names.
    """

    parallel_writes = True

    def __init__(
        self, cluster: ClusterClient, dialect: Dialect, address: Address, index: str, *, kept: str = ""
    ) -> None:
        self.index = index
        self.fields = address.fields
        self._cluster = cluster
        self._dialect = dialect
        self._address = address
        self._kept = kept
        self._kind = address.layout
        self._version = ""
        self._layout_cache = TtlCache[str, Layout]()
        self._write_mode = writing.WriteMode()
        self._plugin = TtlCache[str, bool]()
        self._cursor_keys = TtlCache[str, bytes]()
        self._counts = TtlCache[str, CountResult]()
        self._sets = TtlCache[str, ClusterEngine]()
        self._ledgers = TtlCache[str, bool]()

    @property
    @override
    def rejections(self) -> int:
        return self._cluster.throttle.rejections

    @override
    def create(self) -> None:
        self._check_server()
        layout.create(self._cluster, self.index, self._kind)
        self._layout_cache.clear()
        self._ledgers.clear()
        store = LedgerStore(self._cluster, layout.read(self._cluster, self.index).names(self.index))
        store.create()
        store.make_cursor_key()

    @override
    def write(self, records: Sequence[Record]) -> list[Outcome]:
        return writing.write(self._place(), records) if records else []

    @override
    def delete(self, ids: Sequence[str], version: int, *, beats: bool = False) -> list[Outcome]:
        self._layout_cache.clear()
        return writing.delete(self._place(), ids, version, beats=beats) if ids else []

    @override
    def search(self, query: Query, size: int, view: ReadView = NOW, exclude: Collection[str] = ()) -> Ranking:
        layout = self._readable()
        if not 1 <= size <= layout.most_hits:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {layout.most_hits}")
        view = self._begin(layout) if view == NOW else view
        body = dsl.window(query, self.fields, size)
        if exclude:
            body = dsl.add_exclusion(body, holders_query(layout.kinds, "content", list(exclude)))
        target = self._ranking_target(view, query)
        ranking = self._cluster.hold(rank(target, apply_view(body, view), layout.most_hits, ids=True))
        self._check_phrases(query, ranking.hits)
        return Ranking(ranking.hits, ranking.answer["hits"]["total"]["value"], next_view(view, ranking.answer))

    @override
    def search_grouped(
        self, query: Query, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> GroupedHits | None:
        if not self._has_plugin():
            return None
        layout = self._readable()
        view = self._begin(layout) if view == NOW else view
        body = apply_view(dsl.search_body(query, self.fields, size, self._dialect.offset_limit), view)
        body |= {"from": start, "ext": {plugin.NAME: dict(options)}}
        answer = self._cluster.hold(answer_to(self._ranking_target(view, query).search(body)))
        self._check_phrases(query, answer["hits"]["hits"])
        words = query if self.fields.are_own else None
        return plugin.read_grouped(answer, self.fields, words, next_view(view, answer))

    @override
    def plugin_nodes(self) -> list[PluginNode]:
        return self._cluster.hold(plugin.plugin_nodes())

    @override
    def fetch(self, ids: Sequence[tuple[str, str]], query: Query | None = None) -> list[StoredDocument]:
        """Fetch documents with the passages that match.

        In an index of our own words are cut as passages are, so these are marked here, in a tenth of the time that a
        server takes to mark words; in one of others, or for a query in the server's language, only the server knows.
        """
        layout = self._readable()
        indices, batch_size = layout.indices, min(AT_ONCE, layout.most_hits)
        places = {
            each: [(index, each[1]) for index in (indices if each[0] == self.index else each[:1])] for each in ids
        }
        names = list(dict.fromkeys(place for each in places.values() for place in each))
        marked_here = query if query is not None and query.native is None and self.fields.are_own else None
        documents: dict[tuple[str, str], StoredDocument] = {}
        for start in range(0, len(names), batch_size):
            batch = names[start : start + batch_size]
            hits = self._read(batch) if query is None else self._fetch_matching(batch, query, marked_here is None)
            for hit in hits:
                documents[hit["_index"], hit["_id"]] = to_stored_document(hit, self.fields, marked_here)
        return [documents[place] for each in ids for place in places[each] if place in documents]

    @override
    def dates(self, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        batch_size, found = min(AT_ONCE, self._readable().most_hits), dict[tuple[str, str], str]()
        for start in range(0, len(ids), batch_size):
            body = dsl.fetch_by_name(ids[start : start + batch_size]) | {"_source": [self.fields.date]}
            for hit in self._search(body)["hits"]["hits"]:
                if date := iso_date(read_path(hit["_source"], self.fields.date)):
                    found[hit["_index"], hit["_id"]] = date
        return found

    @override
    def find(self, searches: Sequence[SignatureLookup], query: Query | None = None) -> list[LookupResult]:
        clause = None if query is None else dsl.clause(query, self.fields)
        return self._cluster.hold(LookUp(Target(self.index), self._readable(), clause).find(searches))

    @override
    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        self._readable()
        return self._cluster.hold(long_values(self._target(), ids))

    @override
    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        self._readable()
        return self._cluster.hold(terms.suggest(self._target(), self.fields, words))

    @override
    def scan(self, filters: Sequence[Filter] = (), size: int = 1_000) -> Iterator[list[Hit]]:
        limit = self._readable().most_hits
        if size < 1:
            raise UsageError(f"a slice of {size} documents is not possible", "use 1 or more")
        body: dict[str, Any] = {
            "query": dsl.clause(Query(filters=tuple(filters)), self.fields),
            "size": min(size, limit),
            "sort": [{"_seq_no": "asc"}, {"_shard_doc": "asc"}],
            "track_total_hits": False,
            **dsl.packed_options(),
        }
        return self._slices(body)

    @override
    def refresh(self) -> None:
        self._readable()
        refresh_index(self._cluster, self.index)

    @override
    def info(self) -> Info:
        version = self._check_server()
        index_layout = layout.read(self._cluster, self.index)
        if not index_layout.indices:
            return Info(self._dialect.name, version, exists=False, documents=0, unsigned=0, schema=(), tables={})
        answer = self._search(dsl.COUNTS)
        counts = answer["aggregations"]
        tables = {bucket["key"]: bucket["doc_count"] for bucket in counts["tables"]["buckets"] if bucket["key"]}
        documents, unsigned_count = answer["hits"]["total"]["value"], counts["unsigned"]["doc_count"]
        schema = (
            tuple(sorted(bucket["key"] for bucket in counts["schemas"]["buckets"]))
            if documents > unsigned_count
            else ()
        )
        return Info(
            self._dialect.name,
            version,
            exists=True,
            documents=documents,
            unsigned=unsigned_count,
            schema=schema,
            tables=tables,
        )

    @override
    def health_issues(self) -> list[HealthIssue]:
        issue = field_issue(self._cluster, self.index, self.fields)
        found = self._cluster.hold(layout.read_layout(self.index, passed_over=PASSED_OVER))
        names = found.names(self.index)
        issues = [*check_cluster(self._cluster, names.sources), *ledger_index.issues(self._cluster, names.sources)]
        if names.indices and not any(each.stops for each in issues):
            issues += [*LedgerStore(self._cluster, names).issues(), *group_set.issues(self._cluster, names)]
        return [*issues, *([issue] if issue else [])]

    @override
    def reindex_source(self) -> ClusterReindexSource:
        return ClusterReindexSource(self._cluster, self.index, self.fields, self._kind)

    @override
    def collapse(
        self, query: Query, place: Place, size: int, *, settled: Marks, order: Order = "relevance", view: ReadView = NOW
    ) -> Collapsed:
        layout = self._readable()
        view = self._begin(layout) if view == NOW else view
        marks = sorted((part.index, part.shard, number) for part, number in settled.items())
        cache = CountCache(self._counts, f"{query.digest()} {view.point} {marks}")
        _, page = self._cluster.hold(self._collapse(query, order, view).page(place, size, settled, cache=cache))
        return replace(page, view=ReadView(page.newest) if view == NOW else view)

    @override
    def members(
        self, query: Query, groups: Sequence[str], limit: int, *, order: Order = "relevance", view: ReadView = NOW
    ) -> Members:
        return self._cluster.hold(self._collapse(query, order, view).members(groups, limit))

    @override
    def facets(self, query: Query, limit: int) -> Facets:
        body = groups.facet_request(dsl.clause(query, self.fields), self.fields, limit)
        return groups.read_facets(self._search(body))

    def _collapse(self, query: Query, order: Order, view: ReadView) -> ClusterCollapse:
        """Give the collapsed ranking of what matches."""
        body = dsl.with_ids(dsl.window(query, self.fields, 0))
        if view.newest is not None:
            body["query"] = limit_writes(body["query"], view.newest)
        target = self._target(view.point, query.digest())
        return collapse_search(target, body, self._readable(), order)

    @override
    def groups(self) -> ClusterGroups:
        if self._readable().indices != (self.index,):  # an alias may have another index since
            self._layout_cache.clear()
        return ClusterGroups(self._cluster, self.index, self._readable())

    @override
    def group_set(self, *, cached: bool = False, takes_over: bool = False) -> "ClusterEngine":
        if cached and (found := self._sets.get(self.index)) is not None:
            return found
        if self._readable().indices != (self.index,):
            self._layout_cache.clear()
        layout = self._readable()
        names = layout.names(self.index)
        if names.sources == (self.index,):
            return self
        home = group_set.find_set(self._cluster, names, takes_over=takes_over)
        if home in layout.filtered:
            raise UsageError(
                f"the alias {home!r} has a filter, which hides documents that others would join",
                "settle groups by an alias of the same indexes without a filter",
            )
        return self._sets.put(self.index, self._of_set(home), ALIAS_S)

    def _of_set(self, home: str) -> "ClusterEngine":
        """Return the engine of a set, whose records are next to its name, however many indexes are behind that."""
        if home == self._kept or (home == self.index and home in self._readable().indices):
            return self
        engine = ClusterEngine(self._cluster, self._dialect, self._address, home, kept=home)
        return engine if home == self.index else engine.group_set()

    @override
    def close(self) -> None:
        self._cluster.close()

    @override
    def put_records(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        self._store(ledger, writes=True).put(ledger, entries)

    @override
    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        return self._store(ledger).get(ledger, prefix)

    @override
    def get_record(self, ledger: Ledger, key: str) -> Any:
        return self._store(ledger).get_key(ledger, key)

    @override
    def count(self, ledger: Ledger) -> int:
        return self._store(ledger).count(ledger)

    @override
    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        return self._store(ledger, writes=True).delete(ledger, keys)

    @override
    def repair_ledgers(self) -> list[str]:
        self._ledgers.clear()
        rebuilt = ledger_index.repair(self._cluster, self._names().sources)
        renamed = self._store("overrides", writes=True).rename_decisions()
        return [*rebuilt, *renamed]

    def _store(self, ledger: Ledger, *, writes: bool = False) -> LedgerStore:
        """Return the records; what people write goes to the index that is behind an alias now."""
        if writes and ledger in OF_PEOPLE:
            self._layout_cache.clear()
        return LedgerStore(self._cluster, self._names(), self._ledgers)

    def _names(self) -> IndexNames:
        return self._readable().names(self.index).keep(self._kept)

    @override
    def cursor_key(self) -> bytes:
        if (cached := self._cursor_keys.get(self.index)) is not None:
            return cached
        try:
            (entries,) = self._cluster.hold(ledgers.read_records(self._names(), ledgers.LedgerQuery("runs", KEY)))
        except Permanent as error:
            if not layout.is_failure(error, 403):
                raise
            entries = {}
        key = ledgers.first_cursor_key(entries.values())
        return self._cursor_keys.put(self.index, key, CURSOR_KEY_S) if key else key

    def _readable(self) -> Layout:
        """Return the layout of the index, after checking that we can read it."""
        if (index_layout := self._layout_cache.get(self.index)) is not None:
            return index_layout
        self._check_server()
        index_layout = layout.read(self._cluster, self.index)
        layout.check_readable(index_layout, self.index, self._cluster)
        is_alias = index_layout.indices != (self.index,)
        return self._layout_cache.put(self.index, index_layout, ALIAS_S if is_alias else INDEX_S)

    def _place(self) -> writing.WriteTarget:
        """Give the place of writing, once the index has been found to be one that has our fields.

        The next index of an alias of several, or of a data stream, gets them here: its first writer may be this one.
        """
        if self._readable().indices != (self.index,):
            self._layout_cache.clear()
        if (index_layout := self._readable()).bare and index_layout.kinds:
            layout.create(self._cluster, self.index, self._kind)
            self._layout_cache.clear()
            index_layout = self._readable()
        layout.check_writable(index_layout, self._cluster)
        target = layout.write_index(index_layout, self.index, self._cluster)
        kind = "full" if "full" in index_layout.kinds else "lean"
        ledgers = LedgerStore(self._cluster, index_layout.names(self.index), self._ledgers)
        indices = index_layout.indices
        is_set = index_layout.is_set
        return writing.WriteTarget(
            self._cluster, target, self.fields, kind, ledgers, self._write_mode, indices, is_set=is_set
        )

    def _check_server(self) -> str:
        """Refuse a server that is another product, or too old; returns its version."""
        if not self._version:
            version, product = self._server()
            if product and product != self._dialect.name:
                raise Permanent(
                    f"{self._cluster.label}: it is {product}, not {self._dialect.product}",
                    f"write {product}+http://… in IBIDEM_ENGINE",
                )
            major = version.partition(".")[0]
            if not major.isdecimal() or int(major) < self._dialect.min_version:
                raise Permanent(
                    f"{self._cluster.label}: {self._dialect.product} {version} is not supported",
                    f"use {self._dialect.product} {self._dialect.min_version} or later",
                )
            self._version = version
        return self._version

    def _server(self) -> tuple[str, str]:
        """Read version and product; a server without an answer at its root is asked for its nodes."""
        try:
            answer = self._cluster.ask("GET", "/").get("version", {})
        except Permanent as error:
            if not any(layout.is_failure(error, status) for status in (400, 404, 405)):
                raise
            nodes = self._cluster.ask("GET", "/_nodes", filter_path="nodes.*.version")["nodes"]
            return min(str(node["version"]) for node in nodes.values()), ""
        return str(answer.get("number", "")), str(answer.get("distribution", "elasticsearch"))

    def _has_plugin(self) -> bool:
        """Return whether the plugin may be used: every node has it, and the environment does not switch it off."""
        if plugin.mode() == "off":
            return False
        if (cached := self._plugin.get(self.index)) is not None:
            return cached
        return self._plugin.put(self.index, plugin.has_same_plugin(self.plugin_nodes()))

    def _check_phrases(self, query: Query, hits: Sequence[object]) -> None:
        """Say why phrases found nothing, where that is the mapping's fault."""
        if not hits and query.phrases() and (issue := field_issue(self._cluster, self.index, self.fields)):
            raise UsageError(issue.what, issue.remedy)

    def _ranking_target(self, view: ReadView, query: Query) -> Target:
        """Return the place of a ranking, so that later pages read the same one."""
        return self._target(view.point, query.digest())

    def _begin(self, layout: Layout) -> ReadView:
        """Open a point in time where the numbers of writes do not order them."""
        return ReadView(point="" if layout.shards == 1 else self._open_point())

    def _open_point(self) -> str:
        path = self._dialect.open_point.format(index=self.index)
        answer = self._cluster.ask("POST", path, keep_alive=KEEP_ALIVE, **self._dialect.open_whole)
        return str(answer[self._dialect.opened_as])

    def _close_point(self, point: str) -> None:
        body = [point] if self._dialect.closed_as == "pit_id" else point
        self._cluster.ask("DELETE", self._dialect.close_point, {self._dialect.closed_as: body})

    def _target(self, point: str = "", preference: str = "") -> Target:
        """Give the index, or a point in time of it, as a target.

        The same preference reaches the same copies of the shards, whose scores may differ a little from others'.
        """
        if point:
            return Target("", {"id": point, "keep_alive": KEEP_ALIVE})
        return Target(self.index, params={"preference": preference} if preference else {})

    def _search(self, body: Mapping[str, Any]) -> Any:
        return self._cluster.hold(answer_to(self._target().search(body)))

    def _read(self, ids: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
        """Read documents as searches see them; in an index of others also documents with another routing.

        An alias may have a filter, which only searches apply: through one, documents are searched for by id.
        """
        if self._readable().indices != (self.index,):
            return self._search_by_name(ids)
        documents = [{"_index": index, "_id": name} for index, name in ids]
        answer = self._cluster.ask("POST", "/_mget", {"docs": documents}, realtime="false") if ids else {"docs": []}
        for each in answer["docs"]:
            failure = build_failure(503, each) if "error" in each else None
            if failure is not None and failure.kind != "index_not_found_exception":
                raise to_engine_error(failure, self._cluster.label)
        hits: list[Mapping[str, Any]] = [each for each in answer["docs"] if each.get("found")]
        if len(hits) < len(ids) and not self.fields.are_own:
            names = {(each["_index"], each["_id"]) for each in hits}
            hits += self._search_by_name([each for each in ids if each not in names])
        return hits

    def _search_by_name(self, ids: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
        """Search for documents by index and id, whole."""
        hits: list[Mapping[str, Any]] = self._search(dsl.fetch_by_name(ids))["hits"]["hits"] if ids else []
        return hits

    def _fetch_matching(
        self,
        ids: Sequence[tuple[str, str]],
        query: Query,
        marked: bool,  # noqa: FBT001 - one of two ways to mark
    ) -> list[Mapping[str, Any]]:
        """Search for documents by id, those that match, and let the server mark the query's words where asked for."""
        body = dsl.fetch(ids, query, self.fields, self._dialect.offset_limit if marked else None)
        hits: list[Mapping[str, Any]] = self._search(body)["hits"]["hits"]
        return hits

    def _slices(self, body: dict[str, Any]) -> Iterator[list[Hit]]:
        """Go through a point in time, and close it however the caller leaves."""
        point = self._open_point()
        try:
            while True:
                ranking = self._cluster.hold(window(self._target(point), body))
                if not ranking.hits:
                    return
                yield list(ranking.hits)
                body["search_after"] = ranking.answer["hits"]["hits"][-1]["sort"]
        finally:
            self._close_point(point)
