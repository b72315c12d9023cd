"""Engine protocol over OpenSearch or Elasticsearch; `opensearch.py` and `elasticsearch.py` hold the differences."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from ibidem_core.address import Fields
from ibidem_core.errors import Permanent
from ibidem_dedupe.overrides import Override
from ibidem_engines import engine as protocol
from ibidem_engines import stored_groups
from ibidem_engines.cluster import dsl, groups, records, search
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster import write as writing
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import Layout, beside_key, refresh_index, source_of
from ibidem_engines.cluster.lookup import fill_from_beside, window
from ibidem_engines.cluster.reindex import BesideSource, ClusterReindexSource, DatedSource
from ibidem_engines.cluster.write import WriteMode, WriteTarget
from ibidem_engines.query import Query
from ibidem_engines.requests import ALIAS_S, COUNTS_S, INDEX_S, ApiRequest, RequestFlow, Target, TtlCache
from ibidem_engines.stored_groups import Entry, Hit, IndexNames, Ledger, RecordState
from ibidem_ingest.errors import UsageError


class ClusterEngine(protocol.Engine):
    """An index in a cluster.

    `order` is the number of the write in its shard: in an index that `create` makes, which has one shard, a number that
    grows with each write.
    """

    parallel_writes = True

    def __init__(self, cluster: ClusterClient, index: str, *, kept: str | IndexNames = "") -> None:
        self.index = index
        self.is_beside = isinstance(kept, IndexNames)  # it holds the signatures of the index of these names
        self.fields = cluster.address.fields
        self._cluster = cluster
        self._kept = kept
        self._version = ""
        self._layout_cache = TtlCache[str, Layout]()
        self._write_mode = WriteMode()
        self._plugin = TtlCache[str, bool]()
        self._counts = TtlCache[str, search.CountResult]()
        self._recent = TtlCache[str, list[Any]]()
        self._covered = TtlCache[str, stored_groups.Coverage]()
        self._sets = TtlCache[str, ClusterEngine]()
        self._ledgers = TtlCache[str, bool]()

    @property
    def rejections(self) -> int:
        return self._cluster.throttle.rejections

    def create(self) -> None:
        self._check_server()
        layout.create(self._cluster, self.index)
        self._layout_cache.clear()
        self._ledgers.clear()
        records.make_missing(self._cluster, layout.read(self._cluster, self.index).names(self.index).home)

    def write(self, records: Sequence[protocol.Record]) -> list[protocol.Outcome]:
        return writing.write(self._place(), records) if records else []

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[protocol.Outcome]:
        self._layout_cache.clear()
        return writing.delete(self._place(), ids, version, any_version=any_version) if ids else []

    def searching(self, query: Query | None = None) -> search.ClusterSearch:
        layout = self._readable()
        fields = self._searched_fields()
        caches = self._counts, self._covered, self._plugin
        return search.ClusterSearch(self.index, layout, fields, self._cluster.dialect, *caches, query)

    def run(self, flow: RequestFlow[protocol.T]) -> protocol.T:
        return self._cluster.hold(flow)

    def plugin_nodes(self) -> list[protocol.PluginNode]:
        return self.run(search.plugin_nodes())

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        self._readable()
        return self.run(dsl.suggest(Target(self.index), self.fields, words))

    def scan(self, size: int = 1_000) -> Iterator[list[Hit]]:
        index_layout = self._readable()
        if size < 1:
            raise UsageError(f"a slice of {size} documents is not possible", "use 1 or more")
        body: dict[str, Any] = {
            "query": dsl.clause(Query(), self.fields),
            "size": min(size, index_layout.max_hits),
            "sort": ["_shard_doc"] if index_layout.unnumbered else ["_seq_no", "_index"],
            "track_total_hits": False,
            **dsl.PACKED_STATES,
        }
        shards = range(max(index_layout.shard_counts.values(), default=1))  # each numbers its own writes
        return chain.from_iterable(self._slices(dict(body), index_layout.beside, f"_shards:{each}") for each in shards)

    def refresh(self) -> None:
        self._readable()
        refresh_index(self._cluster, self.index)
        self._covered.clear()

    def info(self) -> protocol.Info:
        name, version = self._cluster.address.kind, self._check_server()
        info = protocol.Info(name, version, exists=False, documents=0, unsigned=0, schema=(), tables={})
        index_layout = layout.read(self._cluster, self.index)
        if not index_layout.indices:
            return info
        if index_layout.beside:
            held = self.group_set().info()
            behind = (total := layout.count(self._cluster, self.index)) - held.documents
            return held._replace(documents=total, unsigned=max(0, behind) + held.unsigned)
        answer = self._cluster.search(self.index, dsl.COUNTS)
        counts, documents = answer["aggregations"], dsl.total_of(answer)
        tables = {bucket["key"]: bucket["doc_count"] for bucket in counts["tables"]["buckets"] if bucket["key"]}
        unsigned = counts["unsigned"]["doc_count"]
        schema = tuple(sorted(bucket["key"] for bucket in counts["schemas"]["buckets"])) if documents > unsigned else ()
        return info._replace(exists=True, documents=documents, unsigned=unsigned, schema=schema, tables=tables)

    def health_issues(self) -> list[protocol.HealthIssue]:
        found = self.run(layout.read_layout(self.index, ok_statuses=layout.OK_STATUSES))
        names = found.names(self.index)
        sources = names.sources[: layout.MAX_SOURCES]
        issues = [
            *layout.check_cluster(self._cluster, [*sources, *records.record_indices(sources)]),
            *records.issues(self._cluster, sources),
        ]
        if names.indices and not any(each.stops for each in issues):
            issues += [*records.LedgerStore(self._cluster, names).issues(), *groups.issues(self._cluster, names)]
        if found.beside and not any(each.stops for each in issues):
            issues += self.run(layout.lag(self.index, found.beside, self.fields.changed or "_seq_no"))
        return issues + self.run(layout.field_issues(self.index, self.fields))

    def reindex_source(self, beside: protocol.Beside = "") -> ClusterReindexSource:
        if beside:
            kind = DatedSource if self.fields.changed else BesideSource
            return kind(self._cluster, self.index, lookup=beside == "lookup")
        return ClusterReindexSource(self._cluster, self.index)

    def facets(self, query: Query, limit: int) -> stored_groups.Facets:
        return groups.read_facets(self._cluster, self.index, dsl.clause(query, self._searched_fields()), limit)

    @contextmanager
    def points(self) -> Iterator[groups.Points]:
        """Open a point in time for each part, for as long as the block runs."""
        with ExitStack() as stack:
            yield {
                part: stack.enter_context(self._point(part.index, f"_shards:{part.shard}"))
                for part in self.groups().parts()
            }

    def groups(self, points: groups.Points | None = None) -> groups.ClusterGroups:
        index, index_layout = self.index, self._layout_now()
        if is_beside := bool(index_layout.beside) and (held := self.group_set()) is not self:
            index, index_layout = held.index, layout.read(self._cluster, held.index)
        return groups.ClusterGroups(self._cluster, index, index_layout, points or {}, names_documents=is_beside)

    def _layout_now(self) -> Layout:
        """Read the layout again, since an alias may point to another index by now."""
        if self._readable().indices != (self.index,):
            self._layout_cache.clear()
        return self._readable()

    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "ClusterEngine":
        if self.is_beside:
            return self
        if use_cache and (found := self._sets.get(self.index)) is not None:
            return found
        layout = self._layout_now()
        names = layout.names(self.index)
        if layout.beside:
            if len(layout.beside) > 1:
                raise UsageError(
                    f"the signatures of {self.index!r} are in several indexes: {', '.join(layout.beside)}",
                    "settle each by itself; or strip all, and sign them by one name: ibidem backfill --beside",
                )
            home = layout.beside[0]
            kept = replace(names, kept=source_of(home))
            held = ClusterEngine(self._cluster, home, kept=kept)
            return self._sets.put(self.index, held, ALIAS_S)
        if names.sources == (self.index,):
            return self
        home = groups.find_set(self._cluster, names, takes_over=takes_over)
        if home in layout.filtered:
            raise UsageError(
                f"the alias {home!r} has a filter, which hides documents that others would join",
                "settle groups by an alias of the same indexes without a filter",
            )
        engine = self
        if home != self._kept and not (home == self.index and home in self._readable().indices):
            engine = ClusterEngine(self._cluster, home, kept=home)
            engine = engine if home == self.index else engine.group_set()
        return self._sets.put(self.index, engine, ALIAS_S)

    def close(self) -> None:
        self._cluster.close()

    def put_records(self, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
        self._store(ledger, writes=True).put(ledger, entries)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read records; beside an index, manual decisions name entries instead of documents."""
        records = self._store(ledger).get(ledger, prefix)
        if not self.is_beside or ledger != "overrides":
            return records
        return ((key, _on_entries(entry, self.index)) for key, entry in records)

    def recent_record(self, ledger: Ledger, key: str) -> Any:
        name = f"{ledger}/{key}"
        recent = self._recent.get(name)
        return (recent or self._recent.put(name, [self.get_record(ledger, key)], COUNTS_S))[0]

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        return self._store(ledger).read_states(ledger, keys)[0]

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        entries, states = self._store(ledger).read_states(ledger, [key])
        return entries.get(key), states.get(key)

    def replace_record(self, ledger: Ledger, key: str, entry: Entry, state: RecordState | None) -> RecordState | None:
        return self._store(ledger, writes=True).replace(ledger, key, entry, state)

    def count(self, ledger: Ledger) -> int:
        return self._store(ledger).count(ledger)

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        return self._store(ledger, writes=True).delete(ledger, keys)

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        return self._store(ledger, writes=True).delete_unchanged(ledger, entries)

    def repair_ledgers(self) -> list[str]:
        self._ledgers.clear()
        rebuilt = records.repair(self._cluster, records.record_indices(self._names().sources[: layout.MAX_SOURCES]))
        store = self._store("overrides", writes=True)
        if misnamed := store.misnamed():  # the plugin follows only those under the names of indexes
            store.put("overrides", misnamed)
        return [*rebuilt, *sorted(misnamed)]

    def _store(self, ledger: Ledger, *, writes: bool = False) -> records.LedgerStore:
        """Return the store of a ledger; manual records go to the index that an alias points to now."""
        if writes and ledger in stored_groups.MANUAL_LEDGERS:
            self._layout_cache.clear()
        return records.LedgerStore(self._cluster, self._names(), self._ledgers)

    def _names(self) -> IndexNames:
        kept = self._kept
        return kept if isinstance(kept, IndexNames) else replace(self._readable().names(self.index), kept=kept)

    def _readable(self) -> Layout:
        """Return the layout of the index, after checking that it can be read."""
        if (index_layout := self._layout_cache.get(self.index)) is not None:
            return index_layout
        self._check_server()
        index_layout = layout.read(self._cluster, self.index, text="" if self.fields.stemmed else self.fields.searched)
        layout.check_readable(index_layout, self.index, self._cluster)
        is_alias = index_layout.indices != (self.index,)
        return self._layout_cache.put(self.index, index_layout, ALIAS_S if is_alias else INDEX_S)

    def _searched_fields(self) -> Fields:
        """Return the searched field names, with stemmed ones from the settings or the mapping."""
        return replace(self.fields, stemmed=self.fields.stemmed or self._readable().stemmed)

    def _place(self) -> WriteTarget:
        """Return the write target, after checking that the index has our fields.

        The next index of an alias of several, or of a data stream, gets them here: its first writer may be this one.
        """
        if (index_layout := self._layout_now()).bare and index_layout.kinds and not index_layout.beside:
            layout.create(self._cluster, self.index)
            self._layout_cache.clear()
            index_layout = self._readable()
        layout.check_writable(index_layout, self._cluster)
        target = layout.write_index(index_layout, self.index, self._cluster)
        ledgers = records.LedgerStore(self._cluster, index_layout.names(self.index), self._ledgers)
        return WriteTarget(self._cluster, target, index_layout.kind, ledgers, self._write_mode, index_layout.indices)

    def _check_server(self) -> str:
        """Refuse a server that is another product, or too old; returns its version."""
        if self._version:
            return self._version
        dialect, kind, label = self._cluster.dialect, self._cluster.address.kind, self._cluster.label
        if answer := self._cluster.send(ApiRequest("GET", "/", ok_statuses=(400, 404, 405))):
            about = answer.get("version", {})
        else:
            nodes = self._cluster.ask("GET", "/_nodes", filter_path="nodes.*.version")["nodes"]
            about = {"number": min(node["version"] for node in nodes.values()), "distribution": kind}
        version, product = str(about.get("number", "")), about.get("distribution", "elasticsearch")
        if product != kind:
            what = f"{label}: it is {product}, not {dialect.product}"
            raise Permanent(what, f"write {product}+http://… in IBIDEM_ENGINE")
        if tuple(map(int, re.findall(r"\d+", version))) < dialect.min_version:
            least = ".".join(map(str, dialect.min_version))
            what = f"{label}: {dialect.product} {version} is not supported"
            raise Permanent(what, f"use {dialect.product} {least} or later")
        self._version = version
        return version

    @contextmanager
    def _point(self, index: str, preference: str) -> Iterator[str]:
        """Open a point in time, and close it in any case."""
        dialect = self._cluster.dialect
        point = self.run(search.open_point(dialect, index, preference))
        try:
            yield point
        finally:
            body = {dialect.point_id: [point] if dialect.point_id == "pit_id" else point}
            self._cluster.ask("DELETE", dialect.point_path, body)

    def _slices(self, body: dict[str, Any], beside: Sequence[str], preference: str) -> Iterator[list[Hit]]:
        with self._point(self.index, preference) as point:
            target = Target("", {"id": point, "keep_alive": search.KEEP_ALIVE})
            while True:
                answer, hits = self.run(window(target, body))
                if not hits:
                    return
                yield list(self.run(fill_from_beside((answer, hits), beside))[1])
                body["search_after"] = dsl.hits_of(answer)[-1]["sort"]


def _on_entries(entry: Any, index: str) -> Any:
    with suppress(TypeError, ValueError, UsageError):  # a damaged record is left to those who read it
        word = Override.from_record(entry)
        a, b = ((index, beside_key(*name)) for name in (word.a, word.b))
        return replace(word, a=a, b=b).as_record()
    return entry
