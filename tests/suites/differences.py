"""Tests of the engines' own suites that pass directly and not through the gateway, each with the reason."""

from collections.abc import Mapping

TWICE = "the runner sends each search twice, and the second one is answered from the cache that the test counts"
CACHED: Mapping[str, str] = {
    "search.aggregation/50_filter.yml: Filter aggs with terms lookup and ensure it's cached": TWICE,
    "search.aggregation/50_filter.yml: Filter aggs no lookup and ensure it's cached": TWICE,
}

DIFFERENCES: Mapping[str, Mapping[str, str]] = {"opensearch": CACHED, "elasticsearch": CACHED}
