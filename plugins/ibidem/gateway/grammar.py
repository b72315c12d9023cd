"""Grammar of the query DSL (OpenSearch 3.8, Elasticsearch 9.5): parts of a search that may hold queries or index names.

What is not listed is refused, unless it is a text, number or truth, of which the engine makes an error in its own
words: a query that nobody has looked into could read an index that is not open to callers.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ibidem.gateway.errors import HttpError

Part = Callable[[Any], Iterator[str]]  # reads a part of a search, and yields the indexes that it names

UNKNOWN = "parsing_exception"  # the engines' own name for what they do not know

SHAPES = "shapes"  # the index in which the engines look for a shape when none is named

# Parts that may name indexes in a way that is not looked into.
HIDING: Mapping[str, str] = {
    "agentic": "a model generates it",
    "collate": "it is a template of a query",
    "ext": "plugins define what it contains",
    "pit": "its id names indexes",
    "search_pipeline": "its processors may contain queries",
    "template": "a search pipeline generates it",
    "wrapper": "it is a query in a string",
}


def skip(_: Any) -> Iterator[str]:
    """Skip a part that holds no queries; references by index and id are checked separately."""
    yield from ()


def object_reader(parts: Mapping[str, Part], default: Part | None = None, *, strict: bool = False) -> Part:
    """Return a reader of an object."""

    def read(value: Any) -> Iterator[str]:
        """Yield the indexes named by the parts of an object."""
        for name, part in value.items() if isinstance(value, dict) else ():
            reader = parts.get(name, default)
            if reader is not None:
                yield from reader(part)
            elif strict or isinstance(part, dict | list):
                refuse(name)

    return read


def list_reader(reader: Part) -> Part:
    """Return a reader of a value, or of a list of values."""

    def read(value: Any) -> Iterator[str]:
        """Yield the indexes named by one value, or by each value of a list."""
        for item in value if isinstance(value, list) else (value,):
            yield from list_reader(reader)(item) if isinstance(item, list) else reader(item)

    return read


def map_reader(reader: Part) -> Part:
    """Return a reader of an object with arbitrary names."""
    return list_reader(object_reader({}, reader))


def refuse(name: str) -> None:
    """Refuse a part whose content is not checked."""
    remedy = "leave it out; IBIDEM_GATEWAY_INDEXES=* allows all indexes"
    if name in HIDING:
        raise HttpError(403, "security_exception", f"{name!r} is not accepted here, since {HIDING[name]}", remedy)
    raise HttpError(400, UNKNOWN, f"{name!r} is not an allowed part of a search here", remedy)


def query(value: Any) -> Iterator[str]:
    """Read a query, or a list of them."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, list):
            yield from query(item)
        for name, content in item.items() if isinstance(item, dict) else ():
            if name not in QUERIES:
                refuse(name)
            yield from QUERIES[name](content)


def query_list(value: Any) -> Iterator[str]:
    """Read queries in a list, or in an object with arbitrary names."""
    yield from query(list(value.values()) if isinstance(value, dict) else value)


def named_index(value: Mapping[str, Any], name: str) -> str:
    """Return the index named by an object."""
    if not isinstance(value[name], str):
        raise HttpError(400, UNKNOWN, f"{name} is not a string: {value[name]!r}", "write the name of one index")
    index: str = value[name]
    return index


def document(value: Any) -> Iterator[str]:
    """Read a document that a query references or contains: its index determines the analyzer."""
    if isinstance(value, dict) and "_index" in value:
        yield named_index(value, "_index")


def terms_lookup(value: Any) -> Iterator[str]:
    """Read a `terms` query that looks its terms up in other documents."""
    if isinstance(value, dict):
        if "index" in value:
            yield named_index(value, "index")
        yield from query(value.get("query"))


def shape(value: Any) -> Iterator[str]:
    """Read a shape that is looked up in another document."""
    if isinstance(value, dict) and isinstance(value.get("indexed_shape"), dict):
        yield named_index({"index": SHAPES} | value["indexed_shape"], "index")


def boosts(value: Any) -> Iterator[str]:
    """Read `indices_boost`."""
    for item in value if isinstance(value, list) else (value,):
        yield from item if isinstance(item, dict) else ()


def hits(value: Any) -> Iterator[str]:
    """Read `inner_hits`, which may contain parts of a search."""
    yield from list_reader(INNER)(value)


def sort(value: Any) -> Iterator[str]:
    """Read a sort order."""
    yield from map_reader(object_reader({"nested": nested_sort, "nested_filter": query}, skip))(value)


def nested_sort(value: Any) -> Iterator[str]:
    """Read a sort order by nested objects."""
    yield from object_reader({"filter": query, "nested": nested_sort})(value)


def nearest(value: Any) -> Iterator[str]:
    """Read a kNN search, whose parts are direct members or nested under a field name."""
    yield from NEAREST(value)
    yield from map_reader(object_reader({"filter": query}, skip))(value)


def aggregations(value: Any) -> Iterator[str]:
    """Read aggregations by their names."""
    for item in value.values() if isinstance(value, dict) else ():
        for name, content in item.items() if isinstance(item, dict) else ():
            if name not in AGGREGATIONS:
                refuse(name)
            yield from AGGREGATIONS[name](content)


def retriever(value: Any) -> Iterator[str]:
    """Read a retriever, with or without a weight."""
    for name, content in value.items() if isinstance(value, dict) else ():
        if name in RETRIEVERS:
            yield from object_reader(RETRIEVER)(content)
        elif name == "retriever":
            yield from retriever(content)
        elif isinstance(content, dict | list):
            refuse(name)


def search(value: Any) -> Iterator[str]:
    """Read a search, and yield every index that it references.

    >>> list(search({"query": {"terms": {"id": {"index": "lists", "id": "1", "path": "ids"}}}}))
    ['lists']
    """
    yield from SEARCH(value)


def table(*names: str, part: Part = skip) -> dict[str, Part]:
    """Create a table that assigns one reader to several parts."""
    return dict.fromkeys(names, part)


HITS = table("inner_hits", part=hits)
NEAREST = object_reader({"filter": query, **HITS}, skip)
OPTIONS = table("pre_tags", "post_tags", "options", "matched_fields")
HIGHLIGHT_FIELD: Mapping[str, Part] = {"highlight_query": query, **OPTIONS}
HIGHLIGHT: Mapping[str, Part] = {**HIGHLIGHT_FIELD, "fields": map_reader(object_reader(HIGHLIGHT_FIELD))}
DECAY = table("exp", "gauss", "linear", "field_value_factor", "random_score", "script_score")
FUNCTION: Mapping[str, Part] = {"filter": query, **DECAY}

# The types of queries. Those that name indexes: `geo_shape`, `more_like_this`, `percolate`, `pinned`, `terms`.
QUERIES: Mapping[str, Part] = {
    **table("combined_fields", "common", "distance_feature", "exists", "fuzzy", "geo_bounding_box", "geo_distance"),
    **table("geo_grid", "geo_polygon", "ids", "intervals", "kql", "match", "match_all", "match_bool_prefix"),
    **table("match_none", "match_phrase", "match_phrase_prefix", "multi_match", "neural_sparse", "parent_id"),
    **table("percolate", "prefix", "query_string", "range", "rank_feature", "regexp", "script", "semantic"),
    **table("simple_query_string", "span_gap", "span_term", "sparse_vector", "term", "terms_set", "text_expansion"),
    **table("type", "weighted_tokens", "wildcard"),
    **table("geo_shape", "shape", "xy_shape", part=map_reader(shape)),
    **table("has_child", "has_parent", "nested", part=object_reader({"query": query, **HITS})),
    **table("knn", "neural", part=nearest),
    **table("rule", "rule_query", part=object_reader({"organic": query, **table("match_criteria", "ruleset_ids")})),
    **table("span_containing", "span_within", part=object_reader(table("big", "little", part=query))),
    **table("span_field_masking", "field_masking_span", part=object_reader({"query": query})),
    **table("span_first", "span_multi", part=object_reader({"match": query})),
    **table("span_near", "span_or", part=object_reader({"clauses": query})),
    "bool": object_reader(table("must", "must_not", "should", "filter", part=query)),
    "boosting": object_reader(table("positive", "negative", part=query)),
    "constant_score": object_reader({"filter": query}),
    "dis_max": object_reader({"queries": query}),
    "function_score": object_reader({"query": query, "functions": list_reader(object_reader(FUNCTION)), **DECAY}),
    "hybrid": object_reader(table("queries", "filter", part=query)),
    "more_like_this": object_reader(
        {
            **table("like", "unlike", "docs", part=list_reader(document)),
            **table("fields", "ids", "stop_words", "like_text"),
        }
    ),
    "pinned": object_reader({"organic": query, "docs": list_reader(document), "ids": skip}),
    "script_score": object_reader({"query": query, "script": skip}),
    "span_not": object_reader(table("include", "exclude", part=query)),
    "terms": map_reader(terms_lookup),
}

# The types of aggregations, and the parts next to them.
AGGREGATIONS: Mapping[str, Part] = {
    **table("auto_date_histogram", "avg", "avg_bucket", "boxplot", "bucket_correlation", "bucket_count_ks_test"),
    **table("bucket_script", "bucket_selector", "bucket_sort", "cardinality", "cartesian_bounds"),
    **table("cartesian_centroid", "categorize_text", "change_point", "children", "composite", "counted_terms"),
    **table("cumulative_cardinality", "cumulative_sum", "date_histogram", "date_range", "derivative"),
    **table("diversified_sampler", "extended_stats", "extended_stats_bucket", "geo_bounds", "geo_centroid"),
    **table("geo_distance", "geo_line", "geohash_grid", "geohex_grid", "geotile_grid", "global", "histogram"),
    **table("inference", "ip_prefix", "ip_range", "matrix_stats", "max", "max_bucket", "median_absolute_deviation"),
    **table("meta", "min", "min_bucket", "missing", "moving_avg", "moving_fn", "moving_percentiles", "multi_terms"),
    **table("nested", "normalize", "parent", "percentile_ranks", "percentiles", "percentiles_bucket"),
    **table("random_sampler", "range", "rare_terms", "rate", "reverse_nested", "sampler", "scripted_metric"),
    **table("serial_diff", "stats", "stats_bucket", "string_stats", "sum", "sum_bucket", "terms", "time_series"),
    **table("top_metrics", "value_count", "variable_width_histogram", "weighted_avg"),
    **table("aggs", "aggregations", part=aggregations),
    **table("filters", "adjacency_matrix", part=object_reader({"filters": query_list})),
    **table("significant_terms", "significant_text", part=object_reader({"background_filter": query}, skip)),
    "filter": query,
    "frequent_item_sets": object_reader({"filter": query, "fields": skip}),
    "t_test": object_reader(table("a", "b", part=object_reader({"filter": query, "script": skip}))),
    "top_hits": hits,
}

RETRIEVERS = frozenset(
    (
        *("diversify", "knn", "linear", "pinned", "random_reranker", "rescorer", "rrf", "rule", "standard"),
        "text_similarity_reranker",
    )
)
RETRIEVER: Mapping[str, Part] = {
    **table("query", "filter", part=query),
    **table("retriever", "retrievers", part=list_reader(retriever)),
    **table("collapse", part=object_reader(HITS)),
    **table("fields", "ids", "match_criteria", "query_vector", "query_vector_builder", "rescore_vector"),
    **table("ruleset_ids", "search_after", "chunk_rescorer"),
    "docs": list_reader(document),
    "rescore": list_reader(object_reader({"query": object_reader({"rescore_query": query})}, skip)),
    "sort": sort,
}

SUGGESTION: Mapping[str, Part] = {
    **table("completion", "term"),
    "phrase": object_reader(table("direct_generator", "highlight", "smoothing")),
}

# The parts of a search.
PARTS: Mapping[str, Part] = {
    **table("_source", "derived", "docvalue_fields", "fields", "rank", "runtime_mappings", "script_fields"),
    **table("search_after", "slice", "stats", "stored_fields"),
    **table("explain", "from", "include_named_queries_score", "min_score", "profile", "seq_no_primary_term"),
    **table("size", "terminate_after", "timeout", "track_scores", "track_total_hits", "verbose_pipeline", "version"),
    **table("aggs", "aggregations", part=aggregations),
    **table("query", "post_filter", part=query),
    "collapse": object_reader({**HITS, "collapse": object_reader(HITS)}),
    "highlight": object_reader(HIGHLIGHT),
    "indices_boost": boosts,
    "knn": list_reader(NEAREST),
    "rescore": list_reader(object_reader({"query": object_reader({"rescore_query": query})}, skip)),
    "retriever": retriever,
    "sort": sort,
    "sub_searches": list_reader(object_reader({"query": query})),
    "suggest": map_reader(object_reader(SUGGESTION)),
}

SEARCH = object_reader(PARTS, strict=True)
INNER = object_reader(PARTS)
