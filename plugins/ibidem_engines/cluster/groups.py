"""Stored groups, threads and works in a cluster: fields of each document, written by conditional partial updates.

Facets count all that matches by source, language and year, with the groups of each.

A group set is the indexes behind an alias or of a data stream, or one index, whose groups are settled together. It is
known by the record of its progress, which is next to the name that stands for all of it. Where an alias gets a second
index, as by a rollover, the record of the first one becomes that of the alias.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import orjson

from ibidem_core.address import OURS
from ibidem_core.errors import NoIndex
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import stored_groups
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster import index as layouts
from ibidem_engines.cluster.client import Action, ClusterClient, run
from ibidem_engines.cluster.dsl import COUNTED, PACKED, STATES, UNSIGNED, Clause, all_of, hits_of, total_of
from ibidem_engines.cluster.lookup import leads_with_value, long_values, read_binary
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.source import signature_fields
from ibidem_engines.engine import HealthIssue
from ibidem_engines.ledger import KEY, checkpoint_of
from ibidem_engines.requests import Json, RequestFlow, Target, in_slices, quote_index
from ibidem_engines.stored_groups import FIELDS, Assignment, GroupedDocument, Hit, IndexNames, Marks, SeqNoRange
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import stored_keys
from ibidem_ingest.signatures.packed import LONG as IS_LONG

GROUP, LEAD = "ibidem.group", "ibidem.lead"
SLICE = 1_000
Points = Mapping[stored_groups.ShardRef, str]  # the point in time at which each part is read
LONG_ALIVE = "1h"  # how long a point in time of a part waits for its next reader
REMEDY = "settle the others with: ibidem regroup"
WRITE, WRITES = 500, 4  # followers that are written at once, and how many such writes are under way at the same time

LEADS: Clause = {"term": {LEAD: True}}
FOLLOWERS: Clause = {"term": {LEAD: False}}


class ClusterGroups(layouts.ClusterParts, stored_groups.StoredGroups):
    """The groups of an index, or of the indexes behind an alias; see `StoredGroups`.

    Those beside an index may have the names of its documents as members: to be read, not settled.
    """

    def __init__(
        self, cluster: ClusterClient, index: str, layout: layouts.Layout, points: Points, *, names_documents: bool
    ) -> None:
        super().__init__(cluster, index)
        self.layout, self._points, self._names_documents = layout, points, names_documents

    @cached_property
    def _uuids(self) -> Mapping[str, str]:
        return super().uuids()

    def uuids(self) -> Mapping[str, str]:
        return self._uuids

    def target(self, part: stored_groups.ShardRef) -> Target:
        if part in self._points:
            return Target("", {"id": self._points[part], "keep_alive": LONG_ALIVE})
        return super().target(part)

    def documents(self, seq_range: SeqNoRange, size: int, *, leads: bool = False) -> list[GroupedDocument]:
        conditions = [*([LEADS] if leads else []), layouts.in_range(seq_range)]
        return self._documents(self.target(seq_range.part), _read(conditions, size))

    def count_leads(self, seq_range: SeqNoRange) -> int:
        return self.count_in(seq_range.part, all_of(LEADS, layouts.in_range(seq_range)))

    def with_value(self, keys: Sequence[stored_groups.LeadKeys], end: Marks) -> list[Hit]:
        hits: list[Hit] = []
        for part, number in end.items():
            if number:
                conditions: list[Clause] = [LEADS, {"range": {"_seq_no": {"lt": number}}}]
                hits += self.cluster.hold(leads_with_value(self.target(part), self.layout, conditions, keys))
        return hits

    def members(
        self, groups: Sequence[str], excluded: Sequence[DocumentRef] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        slices = self._members(groups, excluded, lead=lead)
        if len(self.layout.indices) == 1:
            yield from slices
            return
        places = {index: place for place, index in enumerate(self.layout.indices)}  # no server sorts by these
        members = [each for documents in slices for each in documents]
        members.sort(key=lambda each: (places.get(each.name.index, len(places)), each.name.order))
        yield from map(list, in_slices(members, SLICE))

    def _members(
        self, groups: Sequence[str], excluded: Sequence[DocumentRef], *, lead: bool | None
    ) -> Iterator[list[GroupedDocument]]:
        """Scan the documents of some groups, by sequence number."""
        conditions: list[Clause] = [{"terms": {GROUP: list(groups)}}]
        if lead is not None:
            conditions.append(LEADS if lead else FOLLOWERS)
        body = _read(conditions, SLICE)
        body["sort"] = [{"_seq_no": "asc"}, {"_index": "asc"}, {"ibidem.id": "asc"}]
        if excluded:
            entries = [(self.index, layouts.beside_key(*each)) for each in excluded]
            body["query"]["bool"]["must_not"] = dsl.documents(entries if self._names_documents else excluded)
        while hits := hits_of(self.cluster.search(self.index, body)):
            documents = [_document(hit) for hit in hits]
            if self._names_documents:
                names = [stored_groups.Name(*layouts.document_of(each.name.id), each.name.order) for each in documents]
                documents = [replace(each, name=name) for each, name in zip(documents, names, strict=True)]
            yield documents
            body["search_after"] = hits[-1]["sort"]

    def read(self, ids: Sequence[DocumentRef], end: Marks | None = None) -> list[GroupedDocument]:
        places: list[tuple[Target, list[Clause]]] = [(Target(self.index), [])]
        if end is not None:  # each shard numbers its writes separately
            places = [(self.target(part), [{"range": {"_seq_no": {"lt": end[part]}}}]) for part in end]
        members: list[GroupedDocument] = []
        for batch in in_slices(ids, SLICE):
            for target, conditions in places:
                members += self._documents(target, _read([dsl.fetch_by_name(batch)["query"], *conditions], len(batch)))
        return members

    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        # A partial update would create a deleted index again, empty.
        uuids = layouts.read(self.cluster, self.index).uuids if self.layout.is_set else self.layout.uuids
        if gone := [index for index, uuid in self.layout.uuids.items() if uuids.get(index) != uuid]:
            raise NoIndex(f"{self.cluster.label}: index {gone[0]!r} was deleted while groups were settled", REMEDY)
        if len(changes) <= WRITE or any(each.lead for each in changes):
            return self._assign(changes)
        lanes: defaultdict[int, list[int]] = defaultdict(list)  # followers of one group keep their order
        for position, change in enumerate(changes):
            lanes[hash(change.group) % WRITES].append(position)
        with ThreadPoolExecutor(WRITES) as threads:
            lots = threads.map(lambda lane: self._assign([changes[at] for at in lane]), lanes.values())
            written = dict(zip(chain.from_iterable(lanes.values()), chain.from_iterable(lots), strict=True))
        return [written[at] for at in range(len(changes))]

    def _assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Write followers batch by batch, in the given order."""
        updates = [(each.document, {"group": each.group, "lead": each.lead}) for each in changes]
        return [is_written for batch in in_slices(updates, WRITE) for is_written in self.update(batch)]

    def update(self, changes: Sequence[tuple[GroupedDocument, Mapping[str, object]]]) -> list[bool]:
        """Write fields of documents by partial updates; False for a document that changed since it was read."""
        with_long = [_place(each) for each, _ in changes if each.packed[1:2] and each.packed[1] & IS_LONG]
        long_signatures = self.cluster.hold(long_values(Target(self.index), with_long)) if with_long else {}
        signed = [(document.packed, long_signatures.get(_place(document), b"")) for document, _ in changes]
        actions: list[Action] = []
        for (document, values), value, keys in zip(changes, signed, stored_keys(signed), strict=True):
            name = document.name
            # Fields missing in `_source` are added, since the server builds on it.
            fields = signature_fields(name.id, *value, keys, self.layout.kind) | dict(values)
            body = orjson.dumps({"doc": {OURS: fields}})
            actions.append(Action("update", name.index, name.id, body, document.state, name.routing))
        return [not outcome.reason and outcome.status < 300 for outcome in run(self.cluster, actions)]

    def counts(self) -> stored_groups.GroupCounts:
        aggs: Clause = {"leads": {"filter": LEADS}, "unsigned": {"filter": UNSIGNED}}
        answer = self.cluster.search(self.index, {**COUNTED, "aggs": aggs})
        counts = [answer["aggregations"][name]["doc_count"] for name in aggs]
        return stored_groups.GroupCounts(total_of(answer), *counts)

    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        pages: Clause = {"size": size, "sources": [{"group": {"terms": {"field": GROUP}}}]}
        while True:
            body = {"size": 0, "query": FOLLOWERS, "aggs": {"groups": {"composite": pages}}}
            groups = self.cluster.search(self.index, body)["aggregations"]["groups"]
            if not groups["buckets"]:
                return
            yield {bucket["key"]["group"]: bucket["doc_count"] for bucket in groups["buckets"]}
            pages["after"] = groups["after_key"]

    def prepare_memberships(self) -> None:
        types = f"*.mappings.properties.{OURS}.properties.{FIELDS[0]}.type"
        answer = self.cluster.ask("GET", f"/{quote_index(self.index)}/_mapping", filter_path=types)
        own_types = layouts.template("full")["mappings"]["properties"][OURS]["properties"]
        fields = {"properties": {OURS: {"properties": {name: own_types[name] for name in FIELDS}}}}
        for index in self.layout.indices:
            if index not in answer:
                self.cluster.ask("PUT", f"/{quote_index(index)}/_mapping", fields)

    def has_threads(self) -> bool:
        query = {"exists": {"field": f"{OURS}.{FIELDS[0]}"}}
        body: Clause = {"query": query, "size": 0, "track_total_hits": 1, "terminate_after": 1}
        return bool(total_of(self.cluster.search(self.index, body)))

    def write_memberships(self, changes: Sequence[stored_groups.MembershipChange]) -> int:
        written = 0
        for batch in in_slices(changes, WRITE):
            by_name = {each.name: each for each in batch}
            pairs = [(each, by_name[_place(each)]) for each in self.read(list(by_name))]
            same = [
                (each, change.values)
                for each, change in pairs
                if stored_groups.hash_packed(each.packed) == change.text_hash
            ]
            written += sum(self.update(same))
        return written

    def _documents(self, target: Target, body: Clause) -> list[GroupedDocument]:
        return [_document(hit) for hit in hits_of(self.cluster.send(target.search(body)))]


def _read(conditions: Sequence[Clause], size: int) -> Clause:
    """Request documents with their groups, in the order of writing."""
    return {
        "query": all_of(*conditions),
        "sort": [{"_seq_no": "asc"}],
        "size": size,
        "docvalue_fields": [PACKED, GROUP, LEAD],
        **STATES,
    }


def _document(hit: Json) -> GroupedDocument:
    group, lead = str(dsl.first_value(hit, GROUP) or ""), dsl.first_value(hit, LEAD) is not False
    return GroupedDocument(layouts.name_of(hit), read_binary(hit, PACKED) or b"", group, lead, dsl.state_of(hit))


def _place(document: GroupedDocument) -> DocumentRef:
    return document.name.index, document.name.id


FACET_PRECISION = 3_000  # groups of a value up to which the server's estimate is close

_GROUPS: Clause = {
    "groups": {"cardinality": {"field": GROUP, "precision_threshold": FACET_PRECISION}},
    "ungrouped": {"missing": {"field": GROUP}},
}


def read_facets(cluster: ClusterClient, index: str, clause: Clause, limit: int) -> stored_groups.Facets:
    """Count matches and groups; in a foreign index only the date is known to have an aggregatable mapping."""
    fields = cluster.address.fields
    years = {"field": "ibidem.date", "calendar_interval": "year", "format": "yyyy", "min_doc_count": 1}
    aggs: Clause = {"years": {"date_histogram": {**years, "order": {"_key": "desc"}}, "aggs": _GROUPS}}
    for name in ("source", "language") if fields.are_own else ():
        aggs[f"{name}s"] = {"terms": {"field": getattr(fields, name), "size": limit}, "aggs": _GROUPS}
    body = {"query": clause, "size": 0, "track_total_hits": False, "aggs": aggs}
    counts = cluster.search(index, body)["aggregations"]
    return stored_groups.Facets(*(_counts(counts.get(name, {})) for name in ("sources", "languages", "years")))


def _counts(aggregation: Json) -> list[stored_groups.FacetCount]:
    counts: list[stored_groups.FacetCount] = []
    for each in aggregation.get("buckets", ()):
        documents, ungrouped = int(each["doc_count"]), int(each["ungrouped"]["doc_count"])
        groups = ungrouped + min(int(each["groups"]["value"]), documents - ungrouped)
        counts.append(stored_groups.FacetCount(str(each.get("key_as_string", each["key"])), documents, groups))
    return [each for each in counts if each.value]


def read_memberships(
    target: Target, names: Sequence[DocumentRef]
) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
    parts = {"_source": False, "docvalue_fields": [f"{OURS}.{name}" for name in FIELDS]}
    hits = yield from dsl.fetch_parts(target, names, parts)
    return {
        (hit["_index"], hit["_id"]): {name: dsl.first_value(hit, f"{OURS}.{name}") for name in FIELDS} for hit in hits
    }


LEASE = "groups/lease"
AS_ONE = "compare their documents anew, as one set: ibidem regroup --all"


@dataclass(frozen=True, slots=True)
class SettledNames:
    """Progress records next to the names of some indexes.

    A group set is the name next to which its progress is kept, and names next to which another record is removed; the
    first one of these becomes the record of a set that has none.
    """

    names: IndexNames
    entries: Mapping[str, Any]  # the record next to each of them that has one

    @property
    def wide(self) -> list[str]:
        """Aliases and data streams whose indexes are settled as one."""
        return sorted(source for source in self.entries if source not in self.names.indices)

    @property
    def own(self) -> list[str]:
        """Indexes that are settled separately, in order of creation."""
        return [index for index in self.names.indices if index in self.entries]

    def find(self) -> tuple[str, list[str]]:
        home = self._home()
        if home in self.names.indices:
            return home, []
        known = self._settled_indices(home)
        apart = [index for index in self.own if index not in known]
        if not apart or (len(self.names.indices) == 1 and home in self.entries):
            return home, self.own
        if home not in self.entries and apart == [self.names.indices[0]]:
            return home, apart
        raise UsageError(f"groups of {_listing(apart)} behind {home!r} are settled index by index", AS_ONE)

    def unite(self, indices: Sequence[str]) -> tuple[str, list[str]]:
        home = self.names.home
        if outside := [source for source in self.wide if source not in (home, *indices)]:
            raise self._overlap(home, outside)
        others = [source for source in self.entries if source != home]
        figures = [checkpoint_of(self.entries[source]).policy for source in others]
        if home not in self.entries and any(each != figures[0] for each in figures):
            raise UsageError(
                f"groups of {_listing(others)} are stored with different figures",
                "store them with the same figures first, with each name in turn in IBIDEM_INDEX: "
                "ibidem regroup --all --preset NAME",
            )
        return home, others

    def _home(self) -> str:
        """Return the name under which the set's records are stored."""
        home, indices = self.names.home, self.names.indices
        parts = [each for each in self.wide if not all(self.names.covers(each, index) for index in indices)]
        if parts:
            raise self._overlap(home, parts)
        if len(indices) == 1 and home in self.own and not set(indices) & self._settled_indices(*self.wide):
            return home
        if len(self.wide) > 1:
            raise UsageError(
                f"groups of {_listing(indices)} are settled by several names: {_listing(self.wide)}",
                "name one of them in IBIDEM_INDEX, and compare documents anew by it: ibidem regroup --all",
            )
        return self.wide[0] if self.wide else home

    def _settled_indices(self, *sources: str) -> set[str]:
        """Return the indexes whose settling progress is recorded next to some names."""
        done = [checkpoint_of(self.entries[source]).done for source in sources if source in self.entries]
        return {part.index for marks in done for part in stored_groups.parse_marks(marks)}

    def _overlap(self, home: str, sources: Sequence[str]) -> UsageError:
        return UsageError(
            f"groups of some indexes behind {home!r} are settled with those of {_listing(sources)}",
            f"name {sources[0]!r} in IBIDEM_INDEX",
        )


def find_set(cluster: ClusterClient, names: IndexNames, *, takes_over: bool = False) -> str:
    """Return the name of the group set of indexes, and move its progress record there."""
    store = LedgerStore(cluster, names)
    records = {each.source: each for each in store.stored("groups", [KEY])}
    settled = SettledNames(names, {source: each.entry for source, each in records.items()})
    indices = set(names.indices)
    if takes_over:
        others = [each for each in settled.wide if indices.issuperset(layouts.read(cluster, each).indices)]
        home, sources = settled.unite(others)
    else:
        home, sources = settled.find()
    superseded = [records[source] for source in sources]
    if home not in records and superseded and superseded[0].entry is not None:
        LedgerStore(cluster, replace(names, kept=home)).put("groups", {KEY: superseded[0].entry})
    store.delete_places("groups", {(each.source, each.key) for each in superseded})
    store.delete_places("runs", {(each.source, LEASE) for each in superseded})
    return home


def issues(cluster: ClusterClient, names: IndexNames) -> Iterator[HealthIssue]:
    """Yield the reasons why the groups of some indexes cannot be settled."""
    try:
        stored = LedgerStore(cluster, names).stored("groups", [KEY])
        SettledNames(names, {each.source: each.entry for each in stored}).find()
    except UsageError as error:
        yield HealthIssue("groups", error.what, error.remedy)


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
