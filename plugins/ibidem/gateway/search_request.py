"""Search request of the engine's API: path, query string and body, validated before the engine is asked.

Bodies are unpacked, read so strictly that there is one way to read them, and written again. The engine is sent what was
read here, never the caller's own bytes: two readers of one text may differ, a writer and a reader of plain JSON do not.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import orjson

from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import (
    check_expansion,
    check_indexes,
    check_references,
    default_mode,
    has_all_indexes,
    has_all_paths,
    split_alias,
)
from ibidem_core.settings import Settings
from ibidem_dedupe.request import DedupeRequest, dedupe_request, is_dedupe_name

GZIP = 31  # zlib's way to say: gzip, with the largest window

Values = Mapping[str, Any]


def read_body(content: bytes, headers: Mapping[str, str], settings: Settings) -> Values | None:
    """Read a JSON object body; None without a body."""
    text = decompress(content, headers, settings)
    if not text:
        return None
    check_type(headers.get("content-type", ""), ("json",))
    return as_object(text)


def check_type(content_type: str, endings: Iterable[str]) -> None:
    """Refuse a body in a format that cannot be checked."""
    kind = content_type.partition(";")[0].strip().lower()
    if not any(kind == f"application/{ending}" or kind.endswith(f"+{ending}") for ending in endings):
        raise HttpError(
            406,
            "media_type_header_exception",
            f"content type {content_type!r} is not accepted here",
            "send application/json",
        )


def decompress(content: bytes, headers: Mapping[str, str], settings: Settings) -> bytes:
    """Decompress a body, up to the maximum length."""
    way = headers.get("content-encoding", "identity").strip().lower()
    if way == "identity" or not content:
        return content
    if way != "gzip":
        raise HttpError(
            415, "media_type_header_exception", f"content encoding {way!r} is not accepted here", "send gzip"
        )
    reader = zlib.decompressobj(GZIP)
    try:
        text = reader.decompress(content, settings.gateway_body)
    except zlib.error as error:
        raise HttpError(400, "parse_exception", f"the body is not gzip: {error}") from error
    if reader.unconsumed_tail or not reader.eof:
        raise HttpError(
            413,
            "content_too_long_exception",
            f"the body, decompressed, is truncated or longer than {settings.gateway_body:,} bytes",
            "send less; IBIDEM_GATEWAY_BODY allows more",
        )
    if reader.unused_data:
        raise HttpError(
            400, "parse_exception", "data follows the compressed body", "compress all of it as one gzip member"
        )
    return text


def as_object(content: bytes) -> Values:
    """Read a JSON object whose names are unique.

    >>> as_object(b'{"size": 1}')
    {'size': 1}
    """
    try:
        orjson.loads(content)  # stricter: only UTF-8, no lone surrogates, no NaN, no data after the end
        read = json.loads(content, object_pairs_hook=unique_members)
    except (ValueError, RecursionError) as error:
        raise HttpError(400, "parse_exception", f"the body is not JSON: {error}") from error
    if not isinstance(read, dict):
        raise HttpError(400, "parse_exception", "the body is not a JSON object", 'write {"query": {…}}')
    return read


def unique_members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its pairs; duplicate names are refused."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return members


def dump_json(value: object) -> bytes:
    """Serialize a value as JSON, on one line.

    >>> dump_json({"size": 10**20})
    b'{"size": 100000000000000000000}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer over 64 bits, which the engines take
        try:
            return json.dumps(value, allow_nan=False).encode()
        except ValueError as error:
            raise HttpError(400, "parse_exception", f"the body is not JSON: {error}") from error


# Those that name no index, hold no body or are looked into, and leave nothing behind.
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

REFUSED: Mapping[str, str] = {
    "scroll": "a scroll cannot be continued or closed here",
    "index": "the path names the index",
    "project_routing": "it names other projects",
}


def check_parameters(parameters: Mapping[str, str], settings: Settings) -> None:
    """Refuse unknown parameters unless all indexes are open, and scrolls unless all paths are."""
    if has_all_paths(settings):
        return
    check_expansion(parameters.get("expand_wildcards", ""), settings)
    for name in parameters:
        if name in REFUSED:
            raise HttpError(
                400, "illegal_argument_exception", f"{name!r} is not accepted: {REFUSED[name]}", "leave it out"
            )
        if not has_all_indexes(settings) and name not in KNOWN and not name.startswith("dedupe"):
            raise HttpError(400, "illegal_argument_exception", f"unrecognized parameter: [{name}]", "leave it out")


SOURCE, SOURCE_TYPE = "source", "source_content_type"  # parameters of the query string in which the engines take a body


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """One search, with the dedupe parameters removed."""

    indexes: str  # the indexes in the path, checked
    parameters: Mapping[str, str]  # of the query string, without ours
    body: Values  # in the engine's own language, without ours
    dedupe: DedupeRequest | None  # the dedupe request; None without dedupe parameters

    @property
    def passes(self) -> bool:
        """Whether the engine's own response is requested."""
        return self.dedupe is None or self.dedupe.mode == "off"


def read_request(
    indexes: str, query_string: str, headers: Mapping[str, str], content: bytes, settings: Settings
) -> NativeRequest:
    """Read a search."""
    parameters = read_parameters(query_string)
    check_parameters(parameters, settings)
    body = read_body(content, headers, settings)
    indexes, alias = split_alias(indexes)
    default = default_mode(alias, headers)
    if SOURCE not in parameters:
        return build_request(indexes, parameters, body or {}, settings, default)
    if body is not None:
        raise HttpError(
            400,
            "illegal_argument_exception",
            "the search is given twice, as the body and as 'source'",
            "send one of them",
        )
    remaining = {name: value for name, value in parameters.items() if name not in (SOURCE, SOURCE_TYPE)}
    return build_request(indexes, remaining, read_source(parameters), settings, default)


def read_source(parameters: Mapping[str, str]) -> Values:
    """Read the body from the query string parameter `source`.

    >>> read_source({"source": '{"size": 1}', "source_content_type": "application/json"})
    {'size': 1}
    """
    check_type(parameters.get(SOURCE_TYPE, "application/json"), ("json",))
    return as_object(parameters[SOURCE].encode())


def build_request(
    indexes: str, parameters: Mapping[str, str], body: Values, settings: Settings, default: Mapping[str, str]
) -> NativeRequest:
    """Separate the dedupe parameters from the engine's own."""
    check_indexes(indexes, settings)
    engine_body = {name: value for name, value in body.items() if not is_dedupe_name(name)}
    check_references(engine_body, settings)
    return NativeRequest(
        indexes,
        {name: value for name, value in parameters.items() if not is_dedupe_name(name)},
        engine_body,
        dedupe_request(parameters, body, default),
    )


def read_parameters(query_string: str) -> dict[str, str]:
    """Read a query string."""
    try:
        pairs = parse_qsl(query_string, keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError as error:
        raise HttpError(400, "illegal_argument_exception", f"the query string is not valid: {error}") from error
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise HttpError(400, "illegal_argument_exception", f"parameter {name!r} is given twice", "give it once")
        parameters[name] = value
    return parameters
