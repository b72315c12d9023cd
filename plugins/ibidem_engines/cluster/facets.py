"""Facets in a cluster: all that matches, counted by source, language and year, with the groups of each."""

from collections.abc import Mapping
from typing import Any

from ibidem_engines.cluster.dsl import Clause
from ibidem_engines.cluster.groups import GROUP
from ibidem_engines.collapse import FacetCount, Facets
from ibidem_engines.fields import Fields

PRECISION = 3_000
"""Groups of a value up to which the server's estimate is close."""

_GROUPS: Clause = {
    "groups": {"cardinality": {"field": GROUP, "precision_threshold": PRECISION}},
    "ungrouped": {"missing": {"field": GROUP}},
}


def asked(clause: Clause, fields: Fields, most: int) -> Clause:
    """Ask for the counts; an index of others has no fields of which we know how they are mapped, but the date."""
    years = {"field": "ibidem.date", "calendar_interval": "year", "format": "yyyy", "min_doc_count": 1}
    aggs: Clause = {"years": {"date_histogram": {**years, "order": {"_key": "desc"}}, "aggs": _GROUPS}}
    for name in ("source", "language") if fields.own else ():
        aggs[f"{name}s"] = {"terms": {"field": getattr(fields, name), "size": most}, "aggs": _GROUPS}
    return {"query": clause, "size": 0, "track_total_hits": False, "aggs": aggs}


def told(answer: Mapping[str, Any]) -> Facets:
    """Read the counts."""
    counted = answer["aggregations"]
    return Facets(*(_counts(counted.get(name, {})) for name in ("sources", "languages", "years")))


def _counts(aggregation: Mapping[str, Any]) -> list[FacetCount]:
    return [
        FacetCount(str(each.get("key_as_string", each["key"])), int(each["doc_count"]), _groups(each))
        for each in aggregation.get("buckets", ())
        if each["key"] != ""
    ]


def _groups(bucket: Mapping[str, Any]) -> int:
    alone = int(bucket["ungrouped"]["doc_count"])
    return alone + min(int(bucket["groups"]["value"]), int(bucket["doc_count"]) - alone)
