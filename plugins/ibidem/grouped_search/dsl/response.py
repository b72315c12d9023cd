"""Response of a search in the query DSL: in the engine's own format, with groups counted in the buckets of `terms`.

Within the window the groups are known: the documents of a bucket that share one are counted once. Where the window
holds all that matches, this is exact. Beyond it only equal texts can be counted, by the number of distinct content
keys, which servers estimate (HyperLogLog++, Heule et al. 2013, doi:10.1145/2452376.2452456); the lean layout has no
such key, and documents beyond the window then count one by one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ibidem.grouped_search.response import Json
from ibidem.grouped_search.window import Window
from ibidem_engines.cluster.client import Failure, build_failure
from ibidem_engines.cluster.dsl import PACKED, documents, ids_query
from ibidem_engines.cluster.groups import GROUP, LEAD
from ibidem_ingest.errors import UsageError

BUCKET_AGGREGATIONS = ("terms", "multi_terms")
# Aggregations below which documents are not the hits, so that nothing is known of their groups.
OTHER_DOCUMENTS = ("nested", "children", "parent")

MEMBERS, CONTENTS, UNSIGNED = "_ibidem_members", "_ibidem_contents", "_ibidem_unsigned"
PRECISION = 3_000  # distinct keys up to which the server's estimate is close

# Members that OpenSearch adds to an aggregation in some searches and not in others.
NO_META: tuple[str, Json] = ("meta", {})

CONTENT = "ibidem.content"

OWN_AGGREGATION = "ibidem"  # name of the layer's own aggregation, which is taken out of the answer

OF_FIELDS = ("docvalue_fields", "fields")  # parts of a body that name fields, with wildcards or not

STATE = ("_seq_no", "_primary_term")

REQUIRED, IDS = "match on required clause", "_id:"  # how servers explain a filter, and that on ids


@dataclass(frozen=True, eq=False, slots=True)
class BucketGroups:
    window: Window  # the grouped hits
    is_whole: bool  # whether nothing else is aggregated

    @property
    def members(self) -> list[int]:
        """The rows whose group has other members."""
        lead = self.window.grouping.lead[: self.window.ranked]
        rows: list[int] = np.flatnonzero(np.bincount(lead, minlength=len(lead))[lead] > 1).tolist()
        return rows

    def request_counts(self, aggregations: Mapping[str, Any]) -> Json:
        """Build aggregations that also return which of the window's documents are in each bucket."""
        return {name: self._request_counts(each) for name, each in aggregations.items()}

    def _request_counts(self, aggregation: Any) -> Any:
        if not isinstance(aggregation, Mapping) or any(name in aggregation for name in OTHER_DOCUMENTS):
            return aggregation
        children = sub_aggregations(aggregation)
        member_aggregations = (
            self._member_aggregations() if any(name in aggregation for name in BUCKET_AGGREGATIONS) else {}
        )
        settings = {name: part for name, part in aggregation.items() if name not in ("aggs", "aggregations")}
        return settings | (
            {"aggs": self.request_counts(children) | member_aggregations} if children or member_aggregations else {}
        )

    def _member_aggregations(self) -> Json:
        """Build the aggregation of a bucket's members, and of its texts if the window is incomplete."""
        names = [self.window.name(row) for row in self.members]
        matches = documents(names)
        ids = {"terms": {"field": "ibidem.id", "size": max(1, len(names))}}
        members = {"terms": {"field": "_index", "size": max(1, len(matches))}, "aggs": {"ids": ids}}
        filters: Json = {
            MEMBERS: {"filter": {"bool": {"should": matches or [ids_query([])]}}, "aggs": {"indices": members}}
        }
        if not self.is_whole:
            filters[CONTENTS] = {"cardinality": {"field": CONTENT, "precision_threshold": PRECISION}}
            filters[UNSIGNED] = {"missing": {"field": CONTENT}}
        return filters

    def write_counts(self, answer: Mapping[str, Any]) -> Json:
        """Replace our own sub-aggregations in each bucket by `_dedupe`."""
        rows = {(self.window.hits[row].index, self.window.columns.ids[row]): row for row in self.members}
        response: Json = self._write_counts(answer, rows, exact=self.is_whole)
        return response

    def _write_counts(self, part: Any, rows: Mapping[tuple[str, str], int], *, exact: bool) -> Any:
        if isinstance(part, list):
            return [self._write_counts(each, rows, exact=exact) for each in part]
        if not isinstance(part, Mapping):
            return part
        exact = exact and not part.get("doc_count_error_upper_bound")
        own_aggregations = {name: part[name] for name in (MEMBERS, CONTENTS, UNSIGNED) if name in part}
        settings = {
            name: self._write_counts(each, rows, exact=exact)
            for name, each in part.items()
            if name not in own_aggregations and (name, each) != NO_META
        }
        return (
            settings | {"_dedupe": self._count_groups(part["doc_count"], own_aggregations, rows, exact=exact)}
            if own_aggregations
            else settings
        )

    def _count_groups(
        self, documents: int, own_aggregations: Mapping[str, Any], rows: Mapping[tuple[str, str], int], *, exact: bool
    ) -> Json:
        indices = own_aggregations[MEMBERS]["indices"]["buckets"]
        members = ((index["key"], each["key"]) for index in indices for each in index["ids"]["buckets"])
        member_rows = [rows[name] for name in members if name in rows]
        if CONTENTS not in own_aggregations:
            return {"groups": documents - self._count_joined(member_rows), "approximate": not exact}
        texts = own_aggregations[CONTENTS]["value"] + own_aggregations[UNSIGNED]["doc_count"]
        content, leads = self.window.columns.content, self.window.grouping.lead
        own_texts = {(int(leads[row]), *content[row].tolist()) for row in member_rows}
        joined = len(own_texts) - len({lead for lead, *_ in own_texts})  # texts that are not the first of their group
        return {"groups": max(1, min(documents, texts) - joined), "approximate": True}

    def _count_joined(self, rows: Sequence[int]) -> int:
        """Count the documents that are not the first of their group among some rows."""
        return len(rows) - len({int(self.window.grouping.lead[row]) for row in rows})


def iter_aggregations(aggregations: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Iterate over the aggregations whose documents are the hits."""
    for each in aggregations.values():
        if isinstance(each, Mapping) and not any(name in each for name in OTHER_DOCUMENTS):
            yield each
            yield from iter_aggregations(sub_aggregations(each))


def sub_aggregations(aggregation: Mapping[str, Any]) -> Mapping[str, Any]:
    aggregations = aggregation.get("aggs") or aggregation.get("aggregations") or {}
    return aggregations if isinstance(aggregations, Mapping) else {}


def by_name(hits: Iterable[Json]) -> dict[tuple[str, str], Json]:
    """Return hits by index and id.

    >>> by_name([{"_index": "news"}])
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: a hit of the index 'news' has no _id; do not let a search pipeline remove it, or \
use search_pipeline=_none
    """
    named: dict[tuple[str, str], Json] = {}
    for hit in hits:
        if "_id" not in hit:
            raise UsageError(
                f"a hit of the index {hit['_index']!r} has no _id",
                "do not let a search pipeline remove it, or use search_pipeline=_none",
            )
        named[hit["_index"], hit["_id"]] = hit
    return named


def drop_own_aggregation(answer: Json) -> None:
    """Remove the layer's own aggregation from a response."""
    aggregations = {name: each for name, each in answer.get("aggregations", {}).items() if name != OWN_AGGREGATION}
    answer.pop("aggregations", None)
    if aggregations:
        answer["aggregations"] = aggregations


def check_complete(answer: Mapping[str, Any]) -> None:
    """Refuse a response without all shards of the index."""
    shards = answer.get("_shards", {})
    failures = shards.get("failures", ())
    if failures:
        raise build_failure(int(failures[0].get("status", 503)), {"error": failures[0].get("reason")})
    if shards.get("successful", 0) < shards.get("total", 0):  # OpenSearch counts no failure for a shard without a node
        raise Failure(503, "no_shard_available_action_exception", f"{shards['successful']} of {shards['total']} shards")


def clean_explanation(hit: Json) -> Json:
    """Remove our own clauses from a hit's explanation: the ids, and the filter against nested documents."""
    explanation = hit.get("_explanation")
    while explanation and explanation["description"] == "sum of:":
        details = [part for part in explanation["details"] if not part["description"].startswith(REQUIRED)]
        query_parts = [part for part in explanation["details"] if part["description"].startswith(REQUIRED)]
        if len(details) != 1 or not query_parts:
            break
        hit["_explanation"] = explanation = details[0]
        if any(IDS in each["description"] for part in query_parts for each in part["details"]):
            break
    return hit


def with_state(display: Mapping[str, Any]) -> Json:
    """Request the packed value and the sequence number of a hit, which identify it in a window.

    >>> with_state({"_source": False})
    {'_source': False, 'seq_no_primary_term': True, 'docvalue_fields': ['ibidem.packed']}
    """
    fields = display.get("docvalue_fields") or []
    if not isinstance(fields, list | tuple):  # the server reports the error
        return dict(display)
    return {**display, "seq_no_primary_term": True, "docvalue_fields": [*fields, PACKED]}


def as_shown(hit: Mapping[str, Any], display: Mapping[str, Any]) -> Json:
    """Return a hit without the layer's own fields.

    >>> as_shown({"_id": "a", "_seq_no": 4, "sort": [1], "fields": {"ibidem.packed": ["AA"]}}, {})
    {'_id': 'a'}
    """
    patterns = list(requested_fields(display))
    fields = {
        name: values
        for name, values in hit.get("fields", {}).items()
        if name not in (PACKED, GROUP, LEAD, CONTENT) or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    asks_for_state = str(display.get("seq_no_primary_term", "")).lower() == "true"
    unshown = {"sort", "fields", *(() if asks_for_state else STATE)}
    shown = {name: part for name, part in hit.items() if name not in unshown}
    return shown | ({"fields": fields} if fields else {})


def requested_fields(display: Mapping[str, Any]) -> Iterator[str]:
    for part in OF_FIELDS:
        for each in display.get(part) or ():
            name = each.get("field") if isinstance(each, Mapping) else each
            if isinstance(name, str):
                yield name
