"""The parameters of a query string that the engines take with a search, for OpenSearch 3.8 and Elasticsearch 9.5."""

from collections.abc import Mapping

from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import all_open
from ibidem.gateway.paths import everything
from ibidem_workers.settings import Settings

KNOWN = frozenset(
    (
        *("_source", "_source_exclude_vectors", "_source_excludes", "_source_includes", "allow_no_indices"),
        *("allow_partial_search_results", "analyze_wildcard", "analyzer", "batched_reduce_size"),
        *("cancel_after_time_interval", "ccs_minimize_roundtrips", "default_operator", "df", "docvalue_fields"),
        *("error_trace", "expand_wildcards", "explain", "filter_path", "force_synthetic_source", "format", "from"),
        *("human", "ignore_throttled", "ignore_unavailable", "include_named_queries_score", "lenient"),
        *("max_concurrent_searches", "max_concurrent_shard_requests", "min_score", "phase_took"),
        *("pre_filter_shard_size", "preference", "pretty", "q", "request_cache", "rest_total_hits_as_int", "routing"),
        *("search_pipeline", "search_type", "seq_no_primary_term", "size", "sort", "source", "source_content_type"),
        *("stats", "stored_fields", "suggest_field", "suggest_mode", "suggest_size", "suggest_text"),
        *("terminate_after", "timeout", "track_scores", "track_total_hits", "typed_keys", "verbose_pipeline"),
        "version",
    )
)
"""Those that name no index, hold no body or are looked into, and leave nothing behind."""

REFUSED: Mapping[str, str] = {
    "scroll": "what it keeps in the engine cannot be read on or closed here",
    "index": "the path names the index",
    "project_routing": "it names other projects",
}


def check_parameters(parameters: Mapping[str, str], settings: Settings) -> None:
    """Refuse parameters that nobody knows, while not all indexes are open, and scrolls where not all paths are.

    Args:
        parameters: Of the query string.
        settings: The settings in force.

    Raises:
        Answered: Naming the parameter.
    """
    if everything(settings):
        return
    for name in parameters:
        if name in REFUSED:
            raise HttpError(
                400, "illegal_argument_exception", f"{name!r} is not taken: {REFUSED[name]}", "leave it out"
            )
        if not all_open(settings) and name not in KNOWN and not name.startswith("dedupe"):
            raise HttpError(400, "illegal_argument_exception", f"unrecognized parameter: [{name}]", "leave it out")
