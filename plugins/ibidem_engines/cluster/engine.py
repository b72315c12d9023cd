"""Engine protocol over OpenSearch or Elasticsearch; `opensearch.py` and `elasticsearch.py` hold the differences.

Signatures beside an index that must not be touched are in a second index, `.ibidem-NAME-signatures`. It has one entry a
document, under the key of its index and id, with ibidem's fields and no text. Groups are settled there as they are in
an index that holds its signatures itself; records, such as manual decisions, stay those of the first index, so that
they outlive a change from one to the other.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from ibidem_core.address import OURS, Address, Fields
from ibidem_core.errors import Permanent
from ibidem_dedupe.overrides import Override
from ibidem_engines import engine as protocol
from ibidem_engines import stored_groups
from ibidem_engines.cluster import dsl, groups, records, search
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster import write as writing
from ibidem_engines.cluster.client import FORBIDDEN, Action, ClusterClient, Dialect, is_failure, run, unless_failure
from ibidem_engines.cluster.dsl import ALL, STATES, Clause, all_of, hits_of, ids_query, total_of
from ibidem_engines.cluster.groups import BesideGroups, ClusterGroups, Points
from ibidem_engines.cluster.index import Layout, beside_key, refresh_index, signature_index, source_of
from ibidem_engines.cluster.lookup import fill_from_beside, window
from ibidem_engines.cluster.records import LedgerStore, make_missing
from ibidem_engines.cluster.reindex import SLICE, ClusterReindexSource
from ibidem_engines.cluster.search import ClusterSearch, CountResult, open_point, target_of
from ibidem_engines.cluster.source import signature_entry, source_document
from ibidem_engines.cluster.write import WriteMode, WriteTarget, get_many
from ibidem_engines.ledger import LookupValues
from ibidem_engines.query import Query
from ibidem_engines.requests import ALIAS_S, COUNTS_S, INDEX_S, Json, RequestFlow, Target, TtlCache
from ibidem_engines.stored_groups import Hit, IndexNames, Ledger, Marks, Name, RecordState, SeqNoRange, ShardRef
from ibidem_ingest.errors import UsageError

MAX_LOOKUP = 200_000_000  # documents that an index of one shard takes, as a look-up join needs it
NO_STATE = 0, 0  # state of an entry that is not there: no primary term is 0
REFUSED = 400
AGAIN_MS = 60_000  # each look reads again from a minute before the last date


class BesideSource(ClusterReindexSource):
    """Documents of an index, whose signatures are written into another one."""

    def __init__(self, cluster: ClusterClient, index: str, fields: Fields, *, lookup: bool) -> None:
        super().__init__(cluster, index, fields, "lean")
        self._lookup = lookup

    @property
    def updates_in_part(self) -> bool:
        return True  # documents are read without their JSON, which nobody writes again

    @property
    def beside(self) -> str:
        return next(iter(layout.read(self._cluster, self._held).uuids.values()), "")

    @cached_property
    def _held(self) -> str:
        return signature_index(self._layout.names(self.index).home)

    def check(self, target: protocol.Destination) -> None:
        del target
        layout.check_readable(self._layout, self.index, self._cluster)
        if self._layout.kinds:
            raise UsageError(
                f"{self.index!r} holds its signatures itself",
                "sign it in place: ibidem backfill; or take them out first: ibidem strip",
            )
        super().check("memory")

    def prepare(self) -> None:
        """Create the index of signatures, with as many shards as the first one has."""
        home = self._layout.names(self.index).home
        make_missing(self._cluster, home)
        found = layout.read(self._cluster, self._held)
        if found.bare:
            problem = f"index {self._held!r} is not one of signatures: {home + layout.SIGNATURES!r} keeps records there"
            raise UsageError(problem, "sign in place; or give one of the two indexes another name")
        if found.indices:
            return
        settings: Clause = {"number_of_shards": self._layout.shards, "auto_expand_replicas": "0-1", "hidden": True}
        if self._lookup:
            if (documents := layout.count(self._cluster, self.index, ALL)) > MAX_LOOKUP:
                problem = f"{self.index!r} has {documents:,} documents, and an index for look-ups has one shard"
                raise UsageError(problem, f"leave out --lookup: it is for at most {MAX_LOOKUP:,}")
            settings |= {"number_of_shards": 1, "mode": "lookup"}
        try:
            layout.make(self._cluster, self._held, {"settings": {"index": settings}, "mappings": mappings()})
        except Permanent as error:
            if not self._lookup or not is_failure(error, REFUSED):
                raise
            remedy = "leave out --lookup: it is for the LOOKUP JOIN of Elasticsearch 8.18 and later"
            raise UsageError(f"{error.what}: this server has no index for look-ups", remedy) from error

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return the last write of each part; by a search where the account may not see statistics."""
        with unless_failure(FORBIDDEN):
            return super().newest(marks)
        return {part: self._last_write(part) for part in self.parts()}

    def _last_write(self, part: ShardRef) -> int:
        body: Clause = {"size": 0, "aggs": {"last": {"max": {"field": self._fields.changed or "_seq_no"}}}}
        answer = layout.search_shard(self._cluster, part, body)
        value = answer["aggregations"]["last"]["value"]
        if value is not None:
            return layout.write_order(max(0, int(value)))
        return layout.write_order(0) if total_of(answer) else layout.NONE

    def uuids(self) -> Mapping[str, str]:
        with unless_failure(FORBIDDEN):
            return super().uuids()
        return self._layout.uuids

    def count_fields(self) -> protocol.FieldCounts:
        return protocol.FieldCounts()  # no document is written, so none can lose a field

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[protocol.SourceDocument]:
        del raw
        originals = super().read(names)
        keys = [beside_key(each.name.index, each.name.id) for each in originals]
        entries = {each["_id"]: each for each in get_many(self._cluster, [self._held], keys, OURS)}
        return [self._with_entry(each, key, entries.get(key)) for each, key in zip(originals, keys, strict=True)]

    def _with_entry(self, original: protocol.SourceDocument, key: str, entry: Json | None) -> protocol.SourceDocument:
        """Return a document with what its entry says of it; of an older state its signatures are not current."""
        original = replace(original, document=replace(original.document, id=key), state=NO_STATE, own_fields=())
        if entry is None:
            return original
        held = source_document({**entry, "_version": 0}, original.name, self._fields, b"")
        is_current = entry["_source"].get(OURS, {}).get("order") == original.order
        return replace(
            original,
            version=held.version,
            digest=held.digest if is_current else "",
            schema=held.schema,
            idf=held.idf,
            packed=held.packed,
            group=held.group,
            state=held.state,
        )

    def sign(self, documents: Sequence[protocol.Signed]) -> list[protocol.Outcome | None]:
        return [each and replace(each, order=0) for each in super().sign(documents)]

    def _signing(self, document: protocol.SourceDocument, record: protocol.Record, values: LookupValues) -> Action:
        name, is_new = document.name, document.state == NO_STATE
        body = signature_entry(
            record, name.index, document.order, document.group or stored_groups.own_group(name), values
        )
        verb, state = ("create", None) if is_new else ("index", document.state)
        return Action(verb, self._held, record.document.id, body, state)

    def prune(self) -> int:
        """Delete the entries of documents that are gone; they are looked for where the two indexes' counts differ."""
        refresh_index(self._cluster, self._held)
        ends: dict[str, int] = {}
        for part, end in self.newest().items():
            ends[part.index] = max(end, ends.get(part.index, 0))
        gone: list[Clause] = [{"bool": {"must_not": {"terms": {f"{OURS}.index": list(ends)}}}}]
        ranges = [(index, 0, end) for index, end in ends.items()]
        removed = sum(
            self._delete(gone, ()) for _ in range(layout.count(self._cluster, self._held, gone[0]) // SLICE + 1)
        )
        while ranges:
            index, after, end = ranges.pop()
            inside: list[Clause] = [{"term": {f"{OURS}.index": index}}, _orders(f"{OURS}.order", after + 1, end + 1)]
            held = layout.count(self._cluster, self._held, all_of(*inside))
            if held <= layout.count(self._cluster, index, self._written(after, end)):
                continue
            if held > SLICE and end - after > 1:
                middle = (after + end) // 2
                ranges += [(index, after, middle), (index, middle, end)]
            else:
                removed += self._delete(inside, self._present(index, inside))
        return removed

    def _written(self, after: int, end: int) -> Clause:
        return _orders("_seq_no", after, end)

    def _entries(self, conditions: Sequence[Clause]) -> list[dict[str, Any]]:
        return hits_of(self._cluster.search(self._held, {"query": all_of(*conditions), "size": SLICE, **STATES}))

    def _present(self, index: str, conditions: Sequence[Clause]) -> set[str]:
        """Return the keys of entries whose documents are there, by a search, which finds them under any routing."""
        ids = [each["_id"].partition("/")[2] for each in self._entries(conditions)]
        body: Clause = {"query": ids_query(ids), "size": len(ids), "_source": False, "track_total_hits": False}
        hits = hits_of(self._cluster.search(index, body)) if ids else []
        return {beside_key(index, each["_id"]) for each in hits}

    def _delete(self, conditions: Sequence[Clause], present: Sequence[str] | set[str]) -> int:
        """Delete entries whose documents are not present, unless they were written meanwhile."""
        actions = [
            Action("delete", self._held, each["_id"], None, (each["_seq_no"], each["_primary_term"]))
            for each in self._entries(conditions)
            if each["_id"] not in present
        ]
        return sum(outcome.status < 300 for outcome in run(self._cluster, actions)) if actions else 0


class DatedSource(BesideSource):
    """The same for an index that says in a field when a document was last changed, by milliseconds in place of numbers.

    Documents without a date count as the first. Several may have one date, so a run that was stopped begins anew: it
    reads all, and signs what has changed. The last minute is read again with each look, since a write is found some
    time after its date.
    """

    def __init__(self, cluster: ClusterClient, index: str, fields: Fields, *, lookup: bool) -> None:
        super().__init__(cluster, index, fields, lookup=lookup)
        self._run = secrets.token_hex(4)
        self._next: dict[ShardRef, tuple[int, int]] = {}  # range that the next page of a part begins with

    def _check_numbers(self) -> None:
        """Allow an index without them: dates take their place."""

    def uuids(self) -> Mapping[str, str]:
        return {index: f"{uuid}/{self._run}" for index, uuid in layout.read(self._cluster, self.index).uuids.items()}

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        del marks
        return {part: self._last_write(part) for part in self.parts()}

    def count(self, seq_range: SeqNoRange) -> int:
        return layout.count_shard(self._cluster, seq_range.part, self._since(seq_range))

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        """Return the first documents of a range, and all others that have the date of the last one."""
        found = self._names(seq_range.part, self._since(seq_range), size)
        if len(found) < size:
            return found
        last = found[-1].order
        self._next[seq_range.part] = last, seq_range.end
        equal = self._names(seq_range.part, self._written(last - 1, last), self._layout.max_hits)
        if len(equal) == self._layout.max_hits:
            problem = f"{len(equal):,} documents or more of {seq_range.part.index!r} have one {self._fields.changed!r}"
            raise UsageError(problem, "name a field with the time of a change in IBIDEM_FIELDS=changed=…")
        return [each for each in found if each.order < last] + equal

    def _names(self, part: ShardRef, query: Clause, size: int) -> list[Name]:
        sort = {self._fields.changed: {"order": "asc", "missing": "_first", "unmapped_type": "date"}}
        body: Clause = {"query": query, "sort": [sort], "size": size, "_source": False, "track_total_hits": False}
        return [
            Name(hit["_index"], hit["_id"], layout.write_order(max(0, int(hit["sort"][0]))), hit.get("_routing", ""))
            for hit in hits_of(layout.search_shard(self._cluster, part, body))
        ]

    def _since(self, seq_range: SeqNoRange) -> Clause:
        """Build a clause for a range and the minute before, which each page but the first leaves out."""
        is_next = self._next.get(seq_range.part) == (seq_range.after, seq_range.end)
        return self._written(seq_range.after if is_next else max(0, seq_range.after - AGAIN_MS), seq_range.end)

    def _written(self, after: int, end: int) -> Clause:
        field = self._fields.changed
        written = _orders(field, after or None, end)
        written["range"][field]["format"] = "epoch_millis"
        undated = {"bool": {"must_not": {"exists": {"field": field}}}}
        return written if after else {"bool": {"should": [written, undated]}}


def _orders(field: str, first: int | None, end: int) -> Clause:
    return {"range": {field: {"gte": first, "lt": end}}}


def mappings() -> dict[str, Any]:
    """Return the mapping of an index of signatures: ibidem's fields, and where the document is."""
    own: dict[str, Any] = layout.template("lean")["mappings"]
    fields = own["properties"][OURS]
    fields["properties"] |= {"index": {"type": "keyword"}, "order": {"type": "long"}}
    excludes = [name for name in own["_source"]["excludes"] if name != f"{OURS}.packed"]  # which a backfill compares
    return own | {"_source": {"excludes": excludes}, "properties": {"key": {"type": "keyword"}, OURS: fields}}


class ClusterEngine(protocol.Engine):
    """An index in a cluster.

    `order` is the number of the write in its shard: in an index that `create` makes, which has one shard, a number that
    grows with each write.
    """

    parallel_writes = True

    def __init__(
        self, cluster: ClusterClient, dialect: Dialect, address: Address, index: str, *, kept: str | IndexNames = ""
    ) -> None:
        self.index = index
        self.is_beside = isinstance(kept, IndexNames)  # it holds the signatures of the index of these names
        self.fields = address.fields
        self._cluster = cluster
        self._dialect = dialect
        self._address = address
        self._kept = kept
        self._kind = address.layout
        self._version = ""
        self._layout_cache = TtlCache[str, Layout]()
        self._write_mode = WriteMode()
        self._plugin = TtlCache[str, bool]()
        self._counts = TtlCache[str, CountResult]()
        self._recent = TtlCache[str, list[Any]]()
        self._covered = TtlCache[str, stored_groups.Coverage]()
        self._sets = TtlCache[str, ClusterEngine]()
        self._ledgers = TtlCache[str, bool]()

    @property
    def rejections(self) -> int:
        return self._cluster.throttle.rejections

    def create(self) -> None:
        self._check_server()
        layout.create(self._cluster, self.index, self._kind)
        self._layout_cache.clear()
        self._ledgers.clear()
        records.make_missing(self._cluster, layout.read(self._cluster, self.index).names(self.index).home)

    def write(self, records: Sequence[protocol.Record]) -> list[protocol.Outcome]:
        return writing.write(self._place(), records) if records else []

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[protocol.Outcome]:
        self._layout_cache.clear()
        return writing.delete(self._place(), ids, version, any_version=any_version) if ids else []

    def searching(self, query: Query | None = None) -> ClusterSearch:
        layout = self._readable()
        fields = self._searched_fields()
        caches = self._counts, self._covered, self._plugin
        return ClusterSearch(self.index, layout, fields, self._dialect, *caches, query)

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
            "track_total_hits": False,
            **dsl.PACKED_STATES,
        }
        if _numbers(self._check_server()) >= self._dialect.shard_doc_version:
            sort = [{"_shard_doc": "asc"}] if index_layout.unnumbered else [{"_seq_no": "asc"}, {"_shard_doc": "asc"}]
            return self._slices(body | {"sort": sort}, index_layout.beside)
        body["sort"] = [{"_seq_no": "asc"}, {"_index": "asc"}]
        shards = range(max(index_layout.shard_counts.values(), default=1))
        return chain.from_iterable(
            self._slices(dict(body), index_layout.beside, f"_shards:{shard}") for shard in shards
        )

    def refresh(self) -> None:
        self._readable()
        refresh_index(self._cluster, self.index)
        self._covered.clear()

    def info(self) -> protocol.Info:
        version = self._check_server()
        index_layout = layout.read(self._cluster, self.index)
        if not index_layout.indices:
            return protocol.Info(
                self._dialect.name, version, exists=False, documents=0, unsigned=0, schema=(), tables={}
            )
        if index_layout.beside:
            held = self.group_set().info()
            behind = (total := self.run(layout.count_all(self.index))) - held.documents
            return replace(held, documents=total, unsigned=max(0, behind) + held.unsigned)
        answer = self._cluster.search(self.index, dsl.COUNTS)
        name, counts, documents = self._dialect.name, answer["aggregations"], total_of(answer)
        tables = {bucket["key"]: bucket["doc_count"] for bucket in counts["tables"]["buckets"] if bucket["key"]}
        unsigned = counts["unsigned"]["doc_count"]
        schema = tuple(sorted(bucket["key"] for bucket in counts["schemas"]["buckets"])) if documents > unsigned else ()
        return protocol.Info(
            name, version, exists=True, documents=documents, unsigned=unsigned, schema=schema, tables=tables
        )

    def health_issues(self) -> list[protocol.HealthIssue]:
        issue = self.run(layout.field_issue(self.index, self.fields))
        found = self.run(layout.read_layout(self.index, ok_statuses=layout.OK_STATUSES))
        names = found.names(self.index)
        sources = names.sources[: layout.MAX_SOURCES]
        issues = [
            *layout.check_cluster(self._cluster, [*sources, *records.record_indices(sources)]),
            *records.issues(self._cluster, sources),
        ]
        if names.indices and not any(each.stops for each in issues):
            issues += [*LedgerStore(self._cluster, names).issues(), *groups.issues(self._cluster, names)]
        if found.beside and not any(each.stops for each in issues):
            issues += self.run(layout.lag(self.index, found.beside, self.fields.changed or "_seq_no"))
        return [*issues, *([issue] if issue else [])]

    def reindex_source(self, beside: protocol.Beside = "") -> ClusterReindexSource:
        if beside:
            kind = DatedSource if self.fields.changed else BesideSource
            return kind(self._cluster, self.index, self.fields, lookup=beside == "lookup")
        return ClusterReindexSource(self._cluster, self.index, self.fields, self._kind)

    def facets(self, query: Query, limit: int) -> stored_groups.Facets:
        body = groups.facet_request(dsl.clause(query, self._searched_fields()), self.fields, limit)
        return groups.read_facets(self._cluster.search(self.index, body))

    def groups(self, points: Points | None = None) -> ClusterGroups:
        index_layout = self._layout_now()
        if index_layout.beside and (held := self.group_set()) is not self:
            return BesideGroups(self._cluster, held.index, layout.read(self._cluster, held.index), points or {})
        return ClusterGroups(self._cluster, self.index, index_layout, points or {})

    @contextmanager
    def points(self) -> Iterator[Points]:
        """Open a point in time for each part, for as long as the block runs."""
        with ExitStack() as stack:
            points = {}
            for part in self.groups().parts():
                points[part] = self.run(open_point(self._dialect, part.index, f"_shards:{part.shard}"))
                stack.callback(self._close_point, points[part])
            yield points

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
            kept = names.keep(source_of(home))
            held = ClusterEngine(self._cluster, self._dialect, self._address, home, kept=kept)
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
            engine = ClusterEngine(self._cluster, self._dialect, self._address, home, kept=home)
            engine = engine if home == self.index else engine.group_set()
        return self._sets.put(self.index, engine, ALIAS_S)

    def close(self) -> None:
        self._cluster.close()

    def put_records(self, ledger: Ledger, entries: Mapping[str, stored_groups.Entry]) -> None:
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
        return self._store(ledger).get_keys(ledger, keys)

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        entries, states = self._store(ledger).read_states(ledger, [key])
        return entries.get(key), states.get(key)

    def replace_record(
        self, ledger: Ledger, key: str, entry: stored_groups.Entry, state: RecordState | None
    ) -> RecordState | None:
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
        renamed = self._store("overrides", writes=True).rename_decisions()
        return [*rebuilt, *renamed]

    def _store(self, ledger: Ledger, *, writes: bool = False) -> LedgerStore:
        """Return the store of a ledger; manual records go to the index that an alias points to now."""
        if writes and ledger in stored_groups.MANUAL_LEDGERS:
            self._layout_cache.clear()
        return LedgerStore(self._cluster, self._names(), self._ledgers)

    def _names(self) -> IndexNames:
        kept = self._kept
        return kept if isinstance(kept, IndexNames) else self._readable().names(self.index).keep(kept)

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
            layout.create(self._cluster, self.index, self._kind)
            self._layout_cache.clear()
            index_layout = self._readable()
        layout.check_writable(index_layout, self._cluster)
        target = layout.write_index(index_layout, self.index, self._cluster)
        ledgers = LedgerStore(self._cluster, index_layout.names(self.index), self._ledgers)
        indices = index_layout.indices
        return WriteTarget(self._cluster, target, self.fields, index_layout.kind, ledgers, self._write_mode, indices)

    def _check_server(self) -> str:
        """Refuse a server that is another product, or too old; returns its version."""
        if not self._version:
            version, product = self._server()
            if product and product != self._dialect.name:
                raise Permanent(
                    f"{self._cluster.label}: it is {product}, not {self._dialect.product}",
                    f"write {product}+http://… in IBIDEM_ENGINE",
                )
            if _numbers(version) < self._dialect.min_version:
                least = ".".join(map(str, self._dialect.min_version))
                raise Permanent(
                    f"{self._cluster.label}: {self._dialect.product} {version} is not supported",
                    f"use {self._dialect.product} {least} or later",
                )
            self._version = version
        return self._version

    def _server(self) -> tuple[str, str]:
        """Read version and product; if the root path is not available, ask for the nodes."""
        with unless_failure(400, 404, 405):
            answer = self._cluster.ask("GET", "/").get("version", {})
            return str(answer.get("number", "")), str(answer.get("distribution", "elasticsearch"))
        nodes = self._cluster.ask("GET", "/_nodes", filter_path="nodes.*.version")["nodes"]
        return min(str(node["version"]) for node in nodes.values()), ""

    def _close_point(self, point: str) -> None:
        name = self._dialect.point_id
        self._cluster.ask("DELETE", self._dialect.point_path, {name: [point] if name == "pit_id" else point})

    def _slices(self, body: dict[str, Any], beside: Sequence[str], preference: str = "") -> Iterator[list[Hit]]:
        """Scan a point in time, and close it in any case."""
        point = self.run(open_point(self._dialect, self.index, preference))
        try:
            while True:
                ranking = self.run(window(target_of(self.index, point), body))
                if not ranking.hits:
                    return
                yield list(self.run(fill_from_beside(ranking, beside)).hits)
                body["search_after"] = hits_of(ranking.answer)[-1]["sort"]
        finally:
            self._close_point(point)


def _on_entries(entry: Any, index: str) -> Any:
    try:
        word = Override.from_record(entry)
    except (TypeError, ValueError, UsageError):  # a damaged record is left to those who read it
        return entry
    a, b = ((index, beside_key(*name)) for name in (word.a, word.b))
    return replace(word, a=a, b=b).as_record()


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version as a tuple to compare; an empty tuple, the lowest one, if it cannot be parsed."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
