"""Stored groups counted in the buckets of a `terms` aggregation, over all that matches.

The server estimates how many there are (HyperLogLog++): a hundred are counted, some thousands are off by one or two.
"""

from collections.abc import Mapping
from typing import Any

from ibidem.grouped_search.dsl.bucket_groups import (
    COUNTED,
    NO_META,
    OTHER_DOCUMENTS,
    PRECISION,
    part_of,
    sub_aggregations,
    untyped_name,
)
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.groups import GROUP

GROUPS, UNGROUPED = "_ibidem_groups", "_ibidem_ungrouped"
CERTAIN = 100
"""Groups up to which two are not taken for one, but once in ten thousand buckets."""

_COUNTS: Json = {
    GROUPS: {"cardinality": {"field": GROUP, "precision_threshold": PRECISION}},
    UNGROUPED: {"missing": {"field": GROUP}},
}


def asked(aggregations: Mapping[str, Any]) -> Json:
    """Write aggregations that also count the groups in each bucket."""
    return {name: _asked(each) for name, each in aggregations.items()}


def _asked(aggregation: Any) -> Any:
    if not isinstance(aggregation, Mapping) or any(name in aggregation for name in OTHER_DOCUMENTS):
        return aggregation
    below = sub_aggregations(aggregation)
    more = _COUNTS if any(name in aggregation for name in COUNTED) else {}
    rest = {name: part for name, part in aggregation.items() if name not in ("aggs", "aggregations")}
    return rest | ({"aggs": asked(below) | more} if below or more else {})


def told(answer: Any) -> Any:
    """Put `_dedupe` into each bucket in the place of what was asked for it."""
    if isinstance(answer, list):
        return [told(each) for each in answer]
    if not isinstance(answer, Mapping):
        return answer
    names = {untyped_name(name) for name in answer}
    rest = {
        name: told(each)
        for name, each in answer.items()
        if untyped_name(name) not in (GROUPS, UNGROUPED) and (name, each) != NO_META
    }
    return rest | {"_dedupe": _counted(answer)} if {GROUPS, UNGROUPED} <= names else rest


def _counted(bucket: Mapping[str, Any]) -> Json:
    """Count the groups of one bucket; documents without one stand alone."""
    groups = int(part_of(bucket, GROUPS)["value"])
    alone = int(part_of(bucket, UNGROUPED)["doc_count"])
    several = min(groups, int(bucket["doc_count"]) - alone)
    return {"groups": several + alone, "approximate": several > CERTAIN}
