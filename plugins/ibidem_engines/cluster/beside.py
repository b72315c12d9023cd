"""Signatures beside an index that must not be touched: a second index of ibidem's own, `.ibidem-NAME-signatures`.

It has one entry a document, under the key of its index and id, with ibidem's fields and no text. Groups are settled
there as they are in an index that holds its signatures itself; records, such as manual decisions, stay those of the
first index, so that they outlive a change from one to the other.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ibidem_core.address import OURS, Fields
from ibidem_core.errors import Permanent
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster.client import FORBIDDEN, Action, ClusterClient, run
from ibidem_engines.cluster.dsl import Clause, ids_query
from ibidem_engines.cluster.index import beside_key, refresh_index, signature_index
from ibidem_engines.cluster.records import make_missing
from ibidem_engines.cluster.reindex import SLICE, ClusterReindexSource
from ibidem_engines.cluster.source import signature_entry
from ibidem_engines.cluster.source_storage import source_document
from ibidem_engines.cluster.write import get_many
from ibidem_engines.engine import Destination, FieldCounts, Outcome, Record, Signed, SourceDocument
from ibidem_engines.ledger import LookupValues
from ibidem_engines.stored_groups import Marks, Name, SeqNoRange, ShardRef, own_group
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

    def check(self, target: Destination) -> None:
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
            if (documents := layout.count(self._cluster, self.index, {"match_all": {}})) > MAX_LOOKUP:
                problem = f"{self.index!r} has {documents:,} documents, and an index for look-ups has one shard"
                raise UsageError(problem, f"leave out --lookup: it is for at most {MAX_LOOKUP:,}")
            settings |= {"number_of_shards": 1, "mode": "lookup"}
        try:
            layout.make(self._cluster, self._held, {"settings": {"index": settings}, "mappings": mappings()})
        except Permanent as error:
            if not self._lookup or not layout.is_failure(error, REFUSED):
                raise
            remedy = "leave out --lookup: it is for the LOOKUP JOIN of Elasticsearch 8.18 and later"
            raise UsageError(f"{error.what}: this server has no index for look-ups", remedy) from error

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return the last write of each part; by a search where the account may not see statistics."""
        with layout.unless_failure(FORBIDDEN):
            return super().newest(marks)
        return {part: self._last_write(part) for part in self.parts()}

    def _last_write(self, part: ShardRef) -> int:
        body: Clause = {"size": 0, "aggs": {"last": {"max": {"field": self._fields.changed or "_seq_no"}}}}
        answer = layout.search_shard(self._cluster, part, body)
        value = answer["aggregations"]["last"]["value"]
        if value is not None:
            return layout.write_order(max(0, int(value)))
        return layout.write_order(0) if answer["hits"]["total"]["value"] else layout.NONE

    def uuids(self) -> Mapping[str, str]:
        with layout.unless_failure(FORBIDDEN):
            return super().uuids()
        return self._layout.uuids

    def count_fields(self) -> FieldCounts:
        return FieldCounts()  # no document is written, so none can lose a field

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        del raw
        originals = super().read(names)
        keys = [beside_key(each.name.index, each.name.id) for each in originals]
        entries = {each["_id"]: each for each in get_many(self._cluster, [self._held], keys, OURS)}
        return [self._with_entry(each, key, entries.get(key)) for each, key in zip(originals, keys, strict=True)]

    def _with_entry(self, original: SourceDocument, key: str, entry: Mapping[str, Any] | None) -> SourceDocument:
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

    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        return [each and replace(each, order=0) for each in super().sign(documents)]

    def _signing(self, document: SourceDocument, record: Record, values: LookupValues) -> Action:
        name, is_new = document.name, document.state == NO_STATE
        body = signature_entry(record, name.index, document.order, document.group or own_group(name), values)
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
            held = layout.count(self._cluster, self._held, {"bool": {"filter": inside}})
            if held <= layout.count(self._cluster, index, self._written(after, end)):
                continue
            if held > SLICE and end - after > 1:
                middle = (after + end) // 2
                ranges += [(index, after, middle), (index, middle, end)]
            else:
                removed += self._delete(inside, self._present(index, inside))
        return removed

    def _written(self, after: int, end: int) -> Clause:
        """Build a clause for the documents written in a range of numbers."""
        return _orders("_seq_no", after, end)

    def _entries(self, conditions: Sequence[Clause]) -> list[Mapping[str, Any]]:
        body: Clause = {"query": {"bool": {"filter": list(conditions)}}, "size": SLICE, "_source": False}
        body |= {"seq_no_primary_term": True, "track_total_hits": False}
        hits: list[Mapping[str, Any]] = self._cluster.search(self._held, body)["hits"]["hits"]
        return hits

    def _present(self, index: str, conditions: Sequence[Clause]) -> set[str]:
        """Return the keys of entries whose documents are there, by a search, which finds them under any routing."""
        ids = [each["_id"].partition("/")[2] for each in self._entries(conditions)]
        body: Clause = {"query": ids_query(ids), "size": len(ids), "_source": False, "track_total_hits": False}
        hits = self._cluster.search(index, body)["hits"]["hits"] if ids else []
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
            for hit in layout.search_shard(self._cluster, part, body)["hits"]["hits"]
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
