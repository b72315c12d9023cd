"""Grouped search in the query DSL, answered in the engine's own response format.

Nothing is sent from here: requests are yielded, so that clients, waiting or not, and the gateway run the same code.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from ibidem.grouped_search.dsl.backend import NO_LAYOUT, DslBackend, IndexMetadataCache, layout_names
from ibidem.grouped_search.dsl.request import DslSearch, read_search, refuse
from ibidem.grouped_search.dsl.response import (
    BucketGroups,
    check_complete,
    drop_own_aggregation,
    iter_aggregations,
    request_counts,
    write_counts,
)
from ibidem.grouped_search.page import GroupedPage, grouped_page, stored_page
from ibidem.grouped_search.response import Json
from ibidem_dedupe.parameters import (
    PRESETS,
    DedupeRequest,
    asks_for_stored_preset,
    dedupe_request,
    is_dedupe_name,
    parse_request,
)
from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.search import iterate_hits
from ibidem_engines.requests import ApiRequest, RequestFlow
from ibidem_ingest.errors import UsageError

# Parts of a search that decide on what is aggregated.
AGGREGATION_PARTS = frozenset(("query", "knn", "min_score"))

REMEDY = "sign them with: ibidem backfill"


def grouped_search(search: DslSearch, metadata: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of groups, or with the engine's own answer and a note."""
    start_time = perf_counter()
    if search.note:
        answer: Json = yield replace(search.target.search(search.ranking), params=search.target.params)
        return answer | {"dedupe": {"mode": "off", "note": search.note}}
    source = DslBackend((yield from with_stored_preset(search, metadata)), metadata)
    yield from source.read_metadata()
    if (plugin_answer := (yield from source.through_plugin())) is not None:
        return plugin_answer
    if source.search.request.takes_all:
        page = yield from stored_page(source, source.page, source.state)
        answer = response(source, page, source.counted_aggregations(), start_time, source.write_cursor(page.next_page))
        answer["hits"]["max_score"] = page.best
        return answer
    page = yield from grouped_page(source, source.page)
    if source.renamed:  # some ids in packed values are false: the same ranking is read again, with the engine's own
        source.ids, source.renamed, source.first = True, False, {}
        page = yield from grouped_page(source, source.page)
    aggregations = yield from aggregate(source, page)
    return response(source, page, aggregations, start_time, source.cursor)


def aggregate(source: DslBackend, page: GroupedPage) -> RequestFlow[Json]:
    """Request aggregations after the groups in their buckets are known; no request if already done."""
    if not source.needs_aggregation():
        return {}
    search, aggs = source.search, source.search.aggregations
    leaves_query = any("global" in each for each in iter_aggregations(aggs))
    all_read = page.window.ranked == page.total and not search.ranking.keys() & {"post_filter", "min_score"}
    bucket_groups = BucketGroups(page.window, is_whole=all_read and not leaves_query)
    parts = {name: part for name, part in search.ranking.items() if name in AGGREGATION_PARTS}
    if "query" in parts:
        parts["query"] = search.display["query"]
    counted = request_counts(aggs, bucket_groups.own) if source.counts_buckets() else aggs
    body = source.up_to_now(parts) | {"size": 0, "track_total_hits": False, "aggs": counted}
    answer = yield search.target.search(body, request_cache="false")
    check_complete(answer)
    if "aggregations" not in answer:  # no index matched
        return {}
    return {"aggregations": write_counts(answer["aggregations"], bucket_groups.own, bucket_groups.count)}


def response(source: DslBackend, page: GroupedPage, aggregations: Json, start_time: float, cursor: str) -> Json:
    search, answer = source.search, dict(source.first)
    took = round((perf_counter() - start_time) * 1000)
    account = page.account | {"cursor": cursor, "took_ms": took, "grouper": "client"} | source.way.account()
    if account["unsigned"] and page.window.lacks_signatures:
        account["remedy"] = REMEDY
    account |= search.notes(page.total)
    if source.scores:
        for hit in iterate_hits(page.hits):
            hit["_score"] = source.scores.get((hit["_index"], hit["_id"]))
    total = {"value": page.total, "relation": "eq"}
    hits = {"total": total, "max_score": answer["hits"].get("max_score"), "hits": page.hits}
    answer |= {"took": took, "hits": hits, "dedupe": account}
    drop_own_aggregation(answer)
    return answer | aggregations


def with_stored_preset(search: DslSearch, metadata: IndexMetadataCache) -> RequestFlow[DslSearch]:
    """Read the preset of a search, if it is not built in."""
    if not asks_for_stored_preset(search.request):
        return search
    target = search.target
    layout = (yield from metadata.layout(target.index, target.params)) if target.point is None else NO_LAYOUT
    presets = yield from metadata.presets(layout_names(target.index, layout))
    policy = parse_request(dict(search.request.figures), presets={**PRESETS, **presets}).policy
    return replace(search, request=replace(search.request, policy=policy))


INDEX = ("index", "indices", "indice")  # names under which the engines look for the indexes in a head


SearchLine = tuple[Mapping[str, Any], Mapping[str, Any]]  # a header, which names the indexes, and a body


def names_dedupe(line: SearchLine) -> bool:
    return any(is_dedupe_name(name) for part in line for name in part)


def multi_search(  # noqa: PLR0913, PLR0917 - what is asked, and by whose cache and errors it is answered
    asked: ApiRequest,  # without its lines; only searches without groups may have further parameters
    index: str,  # the indexes in the path, for headers that name none
    options: Mapping[str, object],  # dedupe parameters that hold for each search
    lines: Sequence[SearchLine],
    metadata: IndexMetadataCache,
    error_answer: Callable[[Exception], Json | None],  # returns the response inside an error; None to raise it
) -> RequestFlow[Json]:
    """Answer several searches in order; searches without grouping are sent in one request."""
    requests = [line_request(line, options) for line in lines]
    plain = [without_dedupe(part) for line, each in zip(lines, requests, strict=True) if each is None for part in line]
    if not any(requests):
        answer: Json = yield replace(asked, lines=plain)
        return answer
    for name in asked.params:
        refuse(name)
    engine_answer = (yield replace(asked, params={}, lines=plain)) if plain else {}
    passed, responses = iter(engine_answer.get("responses", ())), list[Json]()
    for line, each in zip(lines, requests, strict=True):
        if each is None:
            responses.append(next(passed))
        elif isinstance(each, UsageError):
            responses.append(usage_json(each))
        else:
            responses.append((yield from answer_line(line, each, index, metadata, error_answer)))
    return {"took": max((each.get("took", 0) for each in responses), default=0), "responses": responses}


def line_request(line: SearchLine, options: Mapping[str, object]) -> DedupeRequest | UsageError | None:
    """Return the dedupe options of a search, or its error; None if the engine's own response is requested."""
    try:
        request = dedupe_request({**options, **line[0]}, line[1])
    except UsageError as error:
        return error
    return None if request is None or request.mode == "off" else request


def answer_line(
    line: SearchLine,
    request: DedupeRequest,
    index: str,
    metadata: IndexMetadataCache,
    error_answer: Callable[[Exception], Json | None],
) -> RequestFlow[Json]:
    """Answer one of several searches, also with its error."""
    try:
        head, body = map(without_dedupe, line)
        params = {name: value for name, value in head.items() if name not in INDEX}
        index = next((join_names(head[name]) for name in INDEX if name in head), "") or index
        return {**(yield from grouped_search(read_search(index, body, params, request), metadata)), "status": 200}
    except UsageError as error:
        return usage_json(error)
    except Failure as failure:
        return error_json(failure.status or 502, failure.kind or "exception", failure.reason)
    except Exception as error:
        if (answer := error_answer(error)) is None:
            raise
        return answer


def read_lines(parts: Iterable[Any]) -> list[SearchLine]:
    """Parse searches: a header, which may be empty, and a body, each a JSON object.

    >>> read_lines([{"index": "news"}, {"size": 1}])
    [({'index': 'news'}, {'size': 1})]
    """
    lines = list(parts)
    if len(lines) % 2:
        raise UsageError("the last header of the searches has no body", "give a header and a body for each search")
    for number, line in enumerate(lines):
        if not isinstance(line, Mapping):
            raise UsageError(f"part {number + 1} of the searches is not a JSON object", "write {'query': …}")
    return list(zip(lines[::2], lines[1::2], strict=True))


def without_dedupe(part: Mapping[str, Any]) -> Json:
    return {name: value for name, value in part.items() if not is_dedupe_name(name)}


def join_names(value: object) -> str:
    """Join the indexes of a header for a path.

    >>> join_names(["news", "law"])
    'news,law'
    """
    values = value if isinstance(value, list | tuple) else [value]
    names = [name for name in values if isinstance(name, str)]
    if len(names) < len(values):
        raise UsageError("an index name has to be a string", 'write {"index": "NAME"}')
    return ",".join(names)


def error_json(status: int, kind: str, reason: str) -> Json:
    """Return an error in the format of OpenSearch and Elasticsearch."""
    cause = {"type": kind, "reason": reason}
    return {"error": {"root_cause": [cause], **cause}, "status": status}


def usage_json(error: UsageError) -> Json:
    """Return a usage error in the format of the engines."""
    return error_json(400, "illegal_argument_exception", str(error))
