"""Counts of all matches, by a separate search; cached until a matching document is written.

Counts are cached under the number, maximum and sum of the matching sequence numbers of each index: any write,
regrouping or deletion changes that key. The three are asked for with the hits of each page, so only the first page of a
ranking has its groups counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ibidem_engines.cluster.client import build_failure
from ibidem_engines.cluster.dsl import ALL, Clause
from ibidem_engines.cluster.groups import FOLLOWERS, GROUP, LEADS, UNSIGNED
from ibidem_engines.cluster.index import Layout
from ibidem_engines.requests import WHOLE, ApiRequest, RequestFlow, Target
from ibidem_engines.stored_groups import MAX_GROUPS, Marks, MatchCounts, ShardRef
from ibidem_engines.ttl_cache import TtlCache

OWN = "ibidem_groups"  # name of the aggregation that counts all matches

# Groups of two or more up to which their names are read, so that other groups are not asked for their documents.
MAX_NAMED = 1_000

MAX_KEPT = 1_000  # the most searches of which counts are kept

WRITES: Clause = {"writes": {"stats": {"field": "_seq_no"}}}
# Each index numbers its own writes: one in place of another's with its number shows in neither sum.
WRITES_BY_INDEX: Clause = {**WRITES, "indices": {"terms": {"field": "_index", "size": 10_000}, "aggs": WRITES}}

_SIZES = "groups>_count"
_WITHOUT_BUCKETS = {"filter_path": f"-responses.aggregations.**{OWN}.groups.buckets"}


@dataclass(frozen=True, slots=True)
class Writes:
    """Summary of the writes of all matching documents."""

    number: int  # how many there are
    newest: int  # the highest of their numbers; -1 where nothing matches
    total: float  # the sum of their numbers
    indices: Mapping[str, "Writes"] = field(default_factory=dict)  # the same of each of several indexes, by its name

    @classmethod
    def read(cls, counts: Mapping[str, Any]) -> "Writes":
        """Read the summary from the aggregation of a response."""
        writes = counts["writes"]
        indices = {each["key"]: cls.read(each) for each in counts.get("indices", {}).get("buckets", ())}
        return cls(writes["count"], -1 if writes["max"] is None else int(writes["max"]), writes["sum"], indices)


@dataclass(frozen=True, slots=True)
class CountResult:
    """The counts of one search."""

    writes: Writes  # the writes that matched then
    counts: MatchCounts
    # Names of all groups with two or more matching documents; None if too many, or unknown.
    several: frozenset[str] | None = None


# The counts of a search over no index: a wildcard that matches none, of which servers give no aggregations.
NOTHING = CountResult(
    Writes(0, -1, 0.0),
    MatchCounts(documents=0, groups=0, exact=True, ungrouped=0, unsettled=0, unsigned=0, short_count=0, tables={}),
    frozenset(),
)


@dataclass(frozen=True, slots=True)
class CountCache:
    """Cache of the counts of one search."""

    cache: TtlCache[str, CountResult]  # the counts of all searches
    key: str  # the key of this search

    def get(self) -> CountResult | None:
        """Return the counts, unless they are outdated."""
        return self.cache.get(self.key)

    def put(self, count: CountResult) -> None:
        """Store the counts, for a bounded number of searches."""
        if len(self.cache) >= MAX_KEPT:
            self.cache.clear()
        self.cache.put(self.key, count)


@dataclass(frozen=True, slots=True)
class MatchCounter:
    """Counts all matches of a search."""

    target: Target  # the indexes, or a point in time
    body: Mapping[str, Any]  # the search
    layout: Layout  # layout of the indexes
    settled: Marks  # up to which write of each part groups are settled

    def writes(self) -> Clause:
        """Build the aggregation that shows whether the matching writes have changed."""
        return {OWN: filter_aggregations(self.body, self._writes)}

    @property
    def _writes(self) -> Clause:
        return WRITES_BY_INDEX if len(self.layout.indices) > 1 else WRITES

    def count(self, *searches: Mapping[str, Any]) -> RequestFlow[tuple[Sequence[Mapping[str, Any]], CountResult]]:
        """Count, and run other searches at the same time."""
        request = replace(self.target.searches([*searches, self._count_body()]), params=_WITHOUT_BUCKETS)
        *answers, count_answer = check_answers((yield request)["responses"])
        if "aggregations" not in count_answer:
            return answers, NOTHING
        counts = count_answer["aggregations"][OWN]
        match_counts = yield from self._read(counts)
        return answers, CountResult(
            Writes.read(counts), match_counts, groups_of_several(counts) if match_counts.exact else None
        )

    def _count_body(self) -> Clause:
        """Build the counting search."""
        aggs: Clause = {
            "groups": _groups_aggregation(single=self.layout.shards == 1),
            "sizes": {"stats_bucket": {"buckets_path": _SIZES}},
            "ungrouped": {"missing": {"field": GROUP}},
            "unsigned": {"filter": UNSIGNED},
            "short": {"filter": {"range": {"ibidem.length": {"gte": 1, "lt": 5}}}},
            "tables": {"terms": {"field": "ibidem.idf", "size": 100}},
            **self._writes,
        }
        if self.layout.shards == 1:
            aggs["several"] = {"terms": {"field": GROUP, "size": MAX_NAMED, "min_doc_count": 2}}
        if not self._has_shards:
            aggs["unsettled"] = {"filter": _unsettled_clause(self.layout, self.settled)}
        return self._body(aggs)

    @property
    def _has_shards(self) -> bool:
        """Whether an index has several shards, which number their writes separately."""
        return max(self.layout.shard_counts.values(), default=1) > 1

    def _body(self, aggs: Clause) -> Clause:
        parts = {name: part for name, part in self.body.items() if name not in ("sort", "track_scores", "post_filter")}
        return {**parts, "size": 0, "track_total_hits": False, "aggs": {OWN: filter_aggregations(self.body, aggs)}}

    def _read(self, counts: Mapping[str, Any]) -> RequestFlow[MatchCounts]:
        """Read the counts; if there are too many groups of two or more to count exactly, estimate them."""
        documents, ungrouped_count = int(counts["doc_count"]), int(counts["ungrouped"]["doc_count"])
        several, members = int(counts["sizes"]["count"]), int(counts["sizes"]["sum"] or 0)
        remainder = int(counts["groups"]["sum_other_doc_count"])
        exact = several < MAX_GROUPS and not (remainder and self.layout.shards > 1)
        groups = documents - ungrouped_count - (members - several)
        unsettled_count = (
            (yield from self._count_unsettled()) if self._has_shards else int(counts["unsettled"]["doc_count"])
        )
        if not exact:
            counted = (yield from self._count_by_leads(documents - ungrouped_count)) if self.layout.shards > 1 else None
            exact = counted is not None and not unsettled_count
            groups = min(documents - ungrouped_count, (yield from self._estimate())) if counted is None else counted
        return MatchCounts(
            documents=documents,
            groups=groups + ungrouped_count,
            exact=exact,
            ungrouped=ungrouped_count,
            unsettled=unsettled_count,
            unsigned=int(counts["unsigned"]["doc_count"]),
            short_count=int(counts["short"]["doc_count"]),
            tables={each["key"]: int(each["doc_count"]) for each in counts["tables"]["buckets"] if each["key"]},
        )

    def _count_by_leads(self, documents: int) -> RequestFlow[int | None]:
        """Count the groups of several shards: groups with a matching lead, and groups without one."""
        names = {"terms": {"field": GROUP, "size": MAX_GROUPS, "shard_size": MAX_GROUPS}}
        listing = self._body({"followers": {"filter": FOLLOWERS, "aggs": {"groups": names}}})
        (answer,) = check_answers((yield self.target.searches([listing]))["responses"])
        followers = answer["aggregations"][OWN]["followers"]
        if followers["groups"]["sum_other_doc_count"]:
            return None
        groups = [each["key"] for each in followers["groups"]["buckets"]]
        led = self._body({"led": {"filter": {"bool": {"filter": [LEADS, {"terms": {GROUP: groups}}]}}}})
        (answer,) = check_answers((yield self.target.searches([led]))["responses"])
        leads = documents - int(followers["doc_count"])
        return leads + len(groups) - int(answer["aggregations"][OWN]["led"]["doc_count"])

    def _estimate(self) -> RequestFlow[int]:
        """Request an estimate of the number of groups from the server."""
        body = self._body({"groups": {"cardinality": {"field": GROUP, "precision_threshold": MAX_GROUPS}}})
        (answer,) = check_answers((yield self.target.searches([body]))["responses"])
        return int(answer["aggregations"][OWN]["groups"]["value"])

    def _count_unsettled(self) -> RequestFlow[int]:
        """Count the leads of unsettled writes, shard by shard, since each shard numbers its writes separately."""
        lines: list[Mapping[str, Any]] = []
        for index, shards in self.layout.shard_counts.items():
            for shard in range(shards):
                newer: Clause = {"range": {"_seq_no": {"gte": self.settled.get(ShardRef(index, shard), 0)}}}
                body = add_filter(self._body({}), {"bool": {"filter": [LEADS, newer]}})
                lines += [{"index": index, "preference": f"_shards:{shard}", **WHOLE}, {**self.target.parts, **body}]
        answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
        return sum(int(each["aggregations"][OWN]["doc_count"]) for each in check_answers(answers))


def groups_of_several(counts: Mapping[str, Any]) -> frozenset[str] | None:
    """Read the names of the groups of two or more; None if there are too many, or none were requested."""
    names = frozenset(each["key"] for each in counts.get("several", {}).get("buckets", ()))
    return names if len(names) == counts["sizes"]["count"] else None


def filter_aggregations(body: Mapping[str, Any], aggs: Clause) -> Clause:
    """Apply the filter that excludes hits after ranking to the counts."""
    return {"filter": body.get("post_filter") or ALL, "aggs": aggs}


def split_writes(answer: Mapping[str, Any]) -> tuple[Writes, Mapping[str, Any]]:
    """Remove the summary of matching writes from the response of a search, and return it."""
    if "aggregations" not in answer:
        return NOTHING.writes, answer
    aggregations = {name: each for name, each in answer["aggregations"].items() if name != OWN}
    response = {name: part for name, part in answer.items() if name != "aggregations"}
    return Writes.read(answer["aggregations"][OWN]), response | ({"aggregations": aggregations} if aggregations else {})


def check_answers(answers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the responses of several searches; raise if one failed."""
    for answer in answers:
        if "error" in answer:
            raise build_failure(int(answer["status"]), answer)
    return list(answers)


def add_filter(body: Mapping[str, Any], clause: Clause) -> Clause:
    """Add a filter; kNN searches are filtered after ranking."""
    query = body.get("query", ALL)
    if "knn" in body:
        filters = [clause, body["post_filter"]] if "post_filter" in body else [clause]
        return {**body, "post_filter": {"bool": {"filter": filters}}}
    return {**body, "query": {"bool": {"must": [query], "filter": [clause]}}}


def _groups_aggregation(*, single: bool) -> Clause:
    """Request all groups of two or more; with several shards, each shard also returns its single documents."""
    min_counts = {"min_doc_count": 2, "shard_min_doc_count": 2 if single else 1}
    return {"terms": {"field": GROUP, "size": MAX_GROUPS, "shard_size": MAX_GROUPS, **min_counts}}


def _unsettled_clause(layout: Layout, settled_marks: Marks) -> Clause:
    """Build the clause for leads of unsettled writes, for indexes with one shard."""
    marks = {index: settled_marks.get(ShardRef(index), 0) for index in layout.shard_counts}
    clauses: list[Clause] = [
        {"bool": {"filter": [{"term": {"_index": index}}, {"range": {"_seq_no": {"gte": mark}}}]}}
        for index, mark in marks.items()
    ]
    return {"bool": {"filter": [LEADS, {"bool": {"should": clauses, "minimum_should_match": 1}}]}}
