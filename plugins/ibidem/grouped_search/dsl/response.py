"""Response of a search in the query DSL: in the engine's own format, with groups counted in the buckets of `terms`.

Within the window the groups are known: the documents of a bucket that share one are counted once. Where the window
holds all that matches, this is exact. Beyond it only equal texts can be counted, by the number of distinct content
keys, which servers estimate (HyperLogLog++, Heule et al. 2013, doi:10.1145/2452376.2452456); the lean layout has no
such key, and documents beyond the window then count one by one.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ibidem.grouped_search.response import Json, Window
from ibidem_engines.cluster.client import Failure, build_failure
from ibidem_engines.cluster.dsl import PACKED, documents, ids_query
from ibidem_engines.cluster.groups import GROUP, LEAD
from ibidem_ingest.errors import UsageError

BUCKET_AGGREGATIONS = ("terms", "multi_terms")
# Aggregations below which documents are not the hits, so that nothing is known of their groups.
OTHER_DOCUMENTS = ("nested", "children", "parent")

MEMBERS, CONTENTS, UNSIGNED = "_ibidem_members", "_ibidem_contents", "_ibidem_unsigned"
GROUPS, UNGROUPED = "_ibidem_groups", "_ibidem_ungrouped"
EXACT_GROUPS = 100  # groups up to which two are not taken for one, but once in ten thousand buckets
PRECISION = 3_000  # distinct keys up to which the server's estimate is close

# Members that OpenSearch adds to an aggregation in some searches and not in others.
NO_META: tuple[str, Json] = ("meta", {})

CONTENT = "ibidem.content"

OF_FIELDS = ("docvalue_fields", "fields")  # parts of a body that name fields, with wildcards or not

STATE = ("_seq_no", "_primary_term")

REQUIRED, IDS = "match on required clause", "_id:"  # how servers explain a filter, and that on ids


def request_counts(aggregations: Mapping[str, Any], own: Json) -> Json:
    """Build aggregations that also return our own of the documents in each bucket."""
    found = dict(aggregations)
    for name, each in aggregations.items():
        if isinstance(each, Mapping) and not any(kind in each for kind in OTHER_DOCUMENTS):
            children = request_counts(sub_aggregations(each), own)
            children |= own if any(kind in each for kind in BUCKET_AGGREGATIONS) else {}
            settings = {part: value for part, value in each.items() if part not in ("aggs", "aggregations")}
            found[name] = settings | ({"aggs": children} if children else {})
    return found


def write_counts(
    part: Any, own: Collection[str], count: Callable[[Mapping[str, Any], int], Json], error: int = 0
) -> Any:
    """Replace our own sub-aggregations in each bucket by `_dedupe`; `error` is the server's in the documents."""
    if isinstance(part, list):
        return [write_counts(each, own, count, error) for each in part]
    if not isinstance(part, Mapping):
        return part
    error = error or part.get("doc_count_error_upper_bound", 0)
    settings = {
        name: write_counts(each, own, count, error)
        for name, each in part.items()
        if name not in own and (name, each) != NO_META
    }
    return settings | ({"_dedupe": count(part, error)} if any(name in part for name in own) else {})


# Counts of stored groups in a bucket.
STORED_COUNTS: Json = {
    GROUPS: {"cardinality": {"field": GROUP, "precision_threshold": PRECISION}},
    UNGROUPED: {"missing": {"field": GROUP}},
}


def count_stored_groups(bucket: Mapping[str, Any], _: int) -> Json:
    """Count the groups of one bucket; each document without a group counts as one."""
    groups, ungrouped = int(bucket[GROUPS]["value"]), int(bucket[UNGROUPED]["doc_count"])
    group_count = min(groups, int(bucket["doc_count"]) - ungrouped)
    return {"groups": group_count + ungrouped, "approximate": group_count > EXACT_GROUPS}


class BucketGroups:
    """The groups of a window in buckets; it is whole if nothing else is aggregated."""

    def __init__(self, window: Window, *, is_whole: bool) -> None:
        lead = window.grouping.lead[: window.ranked]
        members = np.flatnonzero(np.bincount(lead, minlength=len(lead))[lead] > 1).tolist()  # of groups of several
        self.window = window
        self.rows = {(window.hits[row].index, window.columns.ids[row]): row for row in members}
        names = [window.name(row) for row in members]
        matches = documents(names)
        ids = {"terms": {"field": "ibidem.id", "size": max(1, len(names))}}
        indices = {"terms": {"field": "_index", "size": max(1, len(matches))}, "aggs": {"ids": ids}}
        own_filter = {"bool": {"should": matches or [ids_query([])]}}
        self.own: Json = {MEMBERS: {"filter": own_filter, "aggs": {"indices": indices}}}
        if not is_whole:
            self.own[CONTENTS] = {"cardinality": {"field": CONTENT, "precision_threshold": PRECISION}}
            self.own[UNSIGNED] = {"missing": {"field": CONTENT}}

    def count(self, bucket: Mapping[str, Any], error: int) -> Json:
        """Count the groups of one bucket."""
        leads, count = self.window.grouping.lead, bucket["doc_count"]
        indices = bucket[MEMBERS]["indices"]["buckets"]
        members = ((index["key"], each["key"]) for index in indices for each in index["ids"]["buckets"])
        rows = [self.rows[name] for name in members if name in self.rows]
        if CONTENTS not in self.own:
            joined = len(rows) - len({int(leads[row]) for row in rows})  # those that are not the first of their group
            return {"groups": count - joined, "approximate": bool(error)}
        texts = bucket[CONTENTS]["value"] + bucket[UNSIGNED]["doc_count"]
        own_texts = {(int(leads[row]), *self.window.columns.content[row].tolist()) for row in rows}
        joined = len(own_texts) - len({lead for lead, *_ in own_texts})  # texts that are not the first of their group
        return {"groups": max(1, min(count, texts) - joined), "approximate": True}


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
            remedy = "do not let a search pipeline remove it, or use search_pipeline=_none"
            raise UsageError(f"a hit of the index {hit['_index']!r} has no _id", remedy)
        named[hit["_index"], hit["_id"]] = hit
    return named


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
    named = [each for part in OF_FIELDS for each in display.get(part) or ()]
    names = [each.get("field") if isinstance(each, Mapping) else each for each in named]
    patterns = [each for each in names if isinstance(each, str)]
    fields = {
        name: values
        for name, values in hit.get("fields", {}).items()
        if name not in (PACKED, GROUP, LEAD, CONTENT) or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    asks_for_state = str(display.get("seq_no_primary_term", "")).lower() == "true"
    unshown = {"sort", "fields", *(() if asks_for_state else STATE)}
    shown = {name: part for name, part in hit.items() if name not in unshown}
    return shown | ({"fields": fields} if fields else {})
