"""Stored groups in a cluster: two fields of each document, written by partial updates onto the state that was read.

The leads that some hundred documents may join are looked up in two kinds of search. One search asks for all values of
which one is enough. Values of which several are needed are asked for document by document, as many in a search as a
query may have clauses.

Facets count all that matches by source, language and year, with the groups of each.
"""

import base64
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from typing_extensions import override

from ibidem_engines.address import OURS, Fields
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.bulk import Action, newest, primaries, run, write_order
from ibidem_engines.cluster.client import ClusterClient, build_failure
from ibidem_engines.cluster.dsl import PACKED, Clause, packed_options
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.lookup import holders_query
from ibidem_engines.cluster.ranking import long_values, read_binary, read_hits
from ibidem_engines.cluster.source import stored_keys
from ibidem_engines.engine import Hit
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef
from ibidem_engines.requests import RequestFlow, Target, answer_to
from ibidem_engines.stored_groups import (
    Assignment,
    FacetCount,
    Facets,
    GroupCounts,
    Grouped,
    LeadKeys,
    Several,
    StoredGroups,
)
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys_batch
from ibidem_ingest.signatures.packed import LONG as IS_LONG

TOGETHER = 250
"""Documents whose values are asked for in one search."""

CLAUSES = 900
"""Clauses of a query; a server takes 1,024."""


class LeadLookUp:
    """Look-ups among leads.

    Args:
        target: Where they are sent.
        layout: What the index was made for.
        among: The leads to be looked among.
    """

    def __init__(self, target: Target, layout: Layout, among: Sequence[Clause]) -> None:
        self._target = target
        self._kinds, self._most = layout.kinds, layout.most_hits
        self._among = list(among)

    def carriers(self, keys: Sequence[LeadKeys]) -> RequestFlow[list[Hit]]:
        """Read the leads that have one of the values, each once."""
        carriers: dict[tuple[str, str], Hit] = {}
        parts = [keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER)]
        while parts:
            bodies = [(part, body) for part in parts for body in self._bodies(part)]
            if not bodies:
                break
            retries: list[Sequence[LeadKeys]] = []
            for answer, (part, _) in zip((yield from self._send([body for _, body in bodies])), bodies, strict=True):
                hits, total = read_hits(answer), int(answer["hits"]["total"]["value"])
                if total > len(hits) and len(part) > 1:
                    retries += [part[: len(part) // 2], part[len(part) // 2 :]]
                carriers |= {(hit.index, hit.id): hit for hit in hits if hit.id}
            parts = list({id(part[0]): part for part in retries}.values())
        return list(carriers.values())

    def _send(self, bodies: Sequence[Clause]) -> RequestFlow[list[Mapping[str, Any]]]:
        answers = (yield self._target.searches(bodies))["responses"]
        for answer in answers:
            if "error" in answer:
                raise build_failure(int(answer["status"]), answer)
        return list(answers)

    def _bodies(self, keys: Sequence[LeadKeys]) -> list[Clause]:
        value_clauses = [holders_query(self._kinds, clue, values) for clue, values in by_class(keys).items()]
        bodies = [self._body(value_clauses)] if value_clauses else []
        several = [
            (clue, values)
            for each in keys
            for clue, values in each.several.items()
            if len(values.values) >= values.least
        ]
        size = max(1, CLAUSES // (2 + max((len(values.values) for _, values in several), default=0)))
        clauses = [self._share_several(clue, values) for clue, values in several]
        return bodies + [self._body(clauses[start : start + size]) for start in range(0, len(clauses), size)]

    def _share_several(self, clue: LookupField, keys: Several) -> Clause:
        """Ask for enough of a document's values of a class, at a length within bounds."""
        lengths = {"range": {"ibidem.length": {"gte": keys.shortest, "lte": keys.longest}}}
        return {"bool": {"filter": [holders_query(self._kinds, clue, keys.values, keys.least), lengths]}}

    def _body(self, clauses: Sequence[Clause]) -> Clause:
        """Write one search, its hits in the order of writing."""
        clause: Clause = {"bool": {"should": list(clauses), "minimum_should_match": 1}}
        return {
            "query": {"bool": {"filter": [*self._among, clause]}},
            "size": self._most,
            "track_total_hits": True,
            "sort": ["_seq_no"],
            **packed_options(),
        }


def by_class(keys: Sequence[LeadKeys]) -> dict[LookupField, list[str]]:
    """Gather the values of which one is enough, each once."""
    values: defaultdict[LookupField, dict[str, None]] = defaultdict(dict)
    for each in keys:
        for clue, some in each.values.items():
            values[clue].update(dict.fromkeys(some))
    return {clue: list(some) for clue, some in values.items()}


GROUP, LEAD = "ibidem.group", "ibidem.lead"
SLICE = 1_000
PRECISION = 40_000
"""Groups up to which a cluster counts them exactly; it takes no more."""

UNSIGNED: Clause = {
    "bool": {
        "should": [{"bool": {"must_not": {"exists": {"field": "ibidem.schema"}}}}, {"term": {"ibidem.length": 0}}],
        "minimum_should_match": 1,
    }
}
LEADS: Clause = {"term": {LEAD: True}}
FOLLOWERS: Clause = {"term": {LEAD: False}}


class ClusterGroups(StoredGroups):
    """The groups of an index, or of the indexes behind an alias; see `StoredGroups`.

    Args:
        cluster: The cluster.
        index: The name.
        known: What the index was made for.
    """

    def __init__(self, cluster: ClusterClient, index: str, layout: Layout) -> None:
        self.index = index
        self._cluster = cluster
        self._layout = layout
        self._parts = [ShardRef(each, shard) for each, shards in layout.shards_of.items() for shard in range(shards)]

    @override
    def parts(self) -> list[ShardRef]:
        return self._parts

    @override
    def newest(self, since: Marks | None = None) -> dict[ShardRef, int]:
        return newest(self._cluster, self._parts, since)

    @override
    def deletions(self) -> int:
        return sum(int(each["indexing"]["delete_total"]) for each in primaries(self._cluster, self._parts).values())

    @override
    def leads(self, stretch: SeqNoRange, size: int) -> list[Grouped]:
        numbers = {"range": {"_seq_no": {"gte": stretch.after, "lt": stretch.upto}}}
        body = _read([LEADS, numbers], size)
        target = Target(stretch.part.index, params={"preference": f"_shards:{stretch.part.shard}"})
        return self._documents(target, body)

    @override
    def carriers(self, keys: Sequence[LeadKeys], upto: Marks) -> list[Hit]:
        hits: list[Hit] = []
        for part, number in upto.items():
            among: list[Clause] = [LEADS, {"range": {"_seq_no": {"lt": number}}}]
            if number:
                hits += self._cluster.hold(LeadLookUp(self._shard(part), self._layout, among).carriers(keys))
        return hits

    def _shard(self, part: ShardRef) -> Target:
        """Return a part as a target: each shard numbers its writes separately."""
        is_single = len(self._parts) == 1
        return Target(part.index, params={} if is_single else {"preference": f"_shards:{part.shard}"})

    @override
    def members(
        self, groups: Sequence[str], without: Sequence[str] = (), *, lead: bool | None = None
    ) -> Iterator[list[Grouped]]:
        conditions: list[Clause] = [{"terms": {GROUP: list(groups)}}]
        if lead is not None:
            conditions.append(LEADS if lead else FOLLOWERS)
        body = _read(conditions, SLICE)
        body["sort"] = [{"_seq_no": "asc"}, {"_index": "asc"}, {"ibidem.id": "asc"}]
        if without:
            body["query"]["bool"]["must_not"] = [dsl.ids_query(without)]
        while True:
            hits = self._search(Target(self.index), body)["hits"]["hits"]
            if not hits:
                return
            yield [_document(hit) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    @override
    def read(self, ids: Sequence[tuple[str, str]], upto: Marks | None = None) -> list[Grouped]:
        places: list[tuple[Target, list[Clause]]] = [(Target(self.index), [])]
        if upto is not None:  # each shard numbers its writes separately
            places = [(self._shard(part), [{"range": {"_seq_no": {"lt": upto[part]}}}]) for part in upto]
        members: list[Grouped] = []
        for start in range(0, len(ids), SLICE):
            batch = list(ids[start : start + SLICE])
            for target, among in places:
                members += self._documents(target, _read([dsl.fetch_by_name(batch)["query"], *among], len(batch)))
        return members

    @override
    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        with_long = [_place(each) for each in changes if _is_long(each.document.packed)]
        long = self._cluster.hold(long_values(Target(self.index), with_long)) if with_long else {}
        keys = lookup_keys_batch([each.document.packed for each in changes])
        actions = [
            self._action(each, long.get(_place(each), b""), own_keys)
            for each, own_keys in zip(changes, keys, strict=True)
        ]
        return [not outcome.reason and outcome.status < 300 for outcome in run(self._cluster, actions)]

    @override
    def counts(self) -> GroupCounts:
        aggs: Clause = {"leads": {"filter": LEADS}, "unsigned": {"filter": UNSIGNED}}
        answer = self._search(Target(self.index), {"size": 0, "track_total_hits": True, "aggs": aggs})
        counts = answer["aggregations"]
        total = int(answer["hits"]["total"]["value"])
        return GroupCounts(total, counts["leads"]["doc_count"], counts["unsigned"]["doc_count"])

    @override
    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        pages: Clause = {"size": size, "sources": [{"group": {"terms": {"field": GROUP}}}]}
        while True:
            body = {"size": 0, "query": FOLLOWERS, "aggs": {"groups": {"composite": pages}}}
            groups = self._search(Target(self.index), body)["aggregations"]["groups"]
            if not groups["buckets"]:
                return
            yield {bucket["key"]["group"]: bucket["doc_count"] for bucket in groups["buckets"]}
            pages["after"] = groups["after_key"]

    def _action(self, change: Assignment, long: bytes, keys: dict[LookupField, list[str]]) -> Action:
        """Write a partial update; it builds the document from its `_source`, so what is not kept there goes along."""
        document, kind = change.document, "full" if "full" in self._layout.kinds else "lean"
        own_fields: dict[str, object] = {"group": change.group, "lead": change.lead}
        if document.packed:
            own_fields["packed"] = base64.b64encode(document.packed).decode()
            own_fields |= stored_keys(keys | long_clues(LongSignatures.decode(long)) if keys else {}, kind)
        if long:
            own_fields["long"] = base64.b64encode(long).decode()
        body = orjson.dumps({"doc": {OURS: own_fields}})
        name = document.name
        return Action("update", name.index, name.id, body, document.state, name.routing)

    def _documents(self, target: Target, body: Clause) -> list[Grouped]:
        return [_document(hit) for hit in self._search(target, body)["hits"]["hits"]]

    def _search(self, target: Target, body: Clause) -> Any:
        return self._cluster.hold(answer_to(target.search(body)))


def _read(conditions: Sequence[Clause], size: int) -> Clause:
    """Ask for documents with their groups, in the order of writing."""
    return {
        "query": {"bool": {"filter": list(conditions)}},
        "sort": [{"_seq_no": "asc"}],
        "size": size,
        "_source": False,
        "docvalue_fields": [PACKED, GROUP, LEAD],
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }


def _document(hit: Mapping[str, Any]) -> Grouped:
    fields = hit.get("fields", {})
    name = Name(hit["_index"], hit["_id"], write_order(hit["_seq_no"]), hit.get("_routing", ""))
    return Grouped(
        name,
        read_binary(hit, PACKED) or b"",
        str(fields.get(GROUP, [""])[0]),
        bool(fields.get(LEAD, [True])[0]),
        (hit["_seq_no"], hit["_primary_term"]),
    )


def _place(change: Assignment) -> tuple[str, str]:
    return change.document.name.index, change.document.name.id


def _is_long(packed: bytes) -> bool:
    """Return whether a document has long signatures, by the flags of its packed value."""
    return len(packed) > 1 and bool(packed[1] & IS_LONG)


FACET_PRECISION = 3_000
"""Groups of a value up to which the server's estimate is close."""

_GROUPS: Clause = {
    "groups": {"cardinality": {"field": GROUP, "precision_threshold": FACET_PRECISION}},
    "ungrouped": {"missing": {"field": GROUP}},
}


def facet_request(clause: Clause, fields: Fields, limit: int) -> Clause:
    """Ask for the counts; an index of others has no fields of which we know how they are mapped, but the date."""
    years = {"field": "ibidem.date", "calendar_interval": "year", "format": "yyyy", "min_doc_count": 1}
    aggs: Clause = {"years": {"date_histogram": {**years, "order": {"_key": "desc"}}, "aggs": _GROUPS}}
    for name in ("source", "language") if fields.are_own else ():
        aggs[f"{name}s"] = {"terms": {"field": getattr(fields, name), "size": limit}, "aggs": _GROUPS}
    return {"query": clause, "size": 0, "track_total_hits": False, "aggs": aggs}


def read_facets(answer: Mapping[str, Any]) -> Facets:
    """Read the counts."""
    counts = answer["aggregations"]
    return Facets(*(_counts(counts.get(name, {})) for name in ("sources", "languages", "years")))


def _counts(aggregation: Mapping[str, Any]) -> list[FacetCount]:
    return [
        FacetCount(str(each.get("key_as_string", each["key"])), int(each["doc_count"]), _groups(each))
        for each in aggregation.get("buckets", ())
        if each["key"] != ""
    ]


def _groups(bucket: Mapping[str, Any]) -> int:
    ungrouped = int(bucket["ungrouped"]["doc_count"])
    return ungrouped + min(int(bucket["groups"]["value"]), int(bucket["doc_count"]) - ungrouped)
