"""`_msearch`: several searches in one request, a header line and a body line each."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibidem.gateway.dedupe_proxy import DedupeProxy, EngineRefusal, Json
from ibidem.gateway.errors import HttpError, http_error
from ibidem.gateway.grammar import UNKNOWN
from ibidem.gateway.index_access import (
    check_expansion,
    check_indexes,
    default_mode,
    has_all_indexes,
    has_all_paths,
    split_alias,
)
from ibidem.gateway.search_request import (
    NativeRequest,
    Values,
    as_object,
    build_request,
    check_parameters,
    check_type,
    decompress,
    dump_json,
    read_parameters,
)
from ibidem.grouped_search.dsl.filter_path import FILTER_PATH
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.msearch import INDEX, OF_EACH, join_names, join_responses
from ibidem.grouped_search.dsl.unsupported import refuse_parts
from ibidem_core.settings import Settings
from ibidem_dedupe.request import as_text, is_dedupe_name
from ibidem_engines.requests import quote_index
from ibidem_ingest.errors import IbidemError, UsageError

# Further names that a head may have.
HEAD = frozenset(
    (
        *("allow_no_indices", "allowNoIndices", "allow_partial_search_results", "ccs_minimize_roundtrips"),
        *("expand_wildcards", "expandWildcards", "ignore_throttled", "ignoreThrottled", "ignore_unavailable"),
        *("ignoreUnavailable", "preference", "request_cache", "requestCache", "routing", "search_pipeline"),
        *("search_type", "searchType", "cancel_after_time_interval"),
    )
)


@dataclass(frozen=True, slots=True)
class SearchLine:
    """One of several searches."""

    request: NativeRequest | UsageError | HttpError  # the parsed search, or its error
    content: bytes  # its header and body, serialized again, each with a line end

    @property
    def passes(self) -> bool:
        """Whether the engine's own response is requested."""
        return isinstance(self.request, NativeRequest) and self.request.passes


@dataclass(frozen=True, slots=True)
class MsearchRequest:
    """Several searches."""

    path: str  # where requests without groups are sent on to
    parameters: Mapping[str, str]  # of the query string, without ours
    lines: Sequence[SearchLine]  # the searches

    @property
    def dedupe(self) -> bool:
        """Whether any search uses the dedupe layer."""
        return any(not isinstance(line.request, NativeRequest) or line.request.dedupe for line in self.lines)


def read_lines(
    indexes: str, query_string: str, headers: Mapping[str, str], content: bytes, settings: Settings
) -> MsearchRequest:
    """Read several searches."""
    parameters = read_parameters(query_string)
    check_parameters(parameters, settings)
    if "source" in parameters:
        raise HttpError(400, "illegal_argument_exception", "'source' cannot hold several searches", "send a body")
    engine_parameters = {name: value for name, value in parameters.items() if not is_dedupe_name(name)}
    for_each = {name: value for name, value in parameters.items() if is_dedupe_name(name) or name in OF_EACH}
    text = decompress(content, headers, settings)
    check_type(headers.get("content-type", ""), ("json", "x-ndjson"))
    indexes, alias = split_alias(indexes)
    if indexes:
        check_indexes(indexes, settings)
    default = default_mode(alias, headers)
    lines = [
        read_one(indexes, for_each, as_object(head or b"{}"), as_object(body), settings, default)
        for head, body in pairs(text)
    ]
    if not all(line.passes for line in lines):
        refuse_parts({}, {name: value for name, value in engine_parameters.items() if name == "format"})
    return MsearchRequest(f"/{quote_index(indexes)}/_msearch" if indexes else "/_msearch", engine_parameters, lines)


def pairs(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    r"""Yield header and body of each search.

    >>> list(pairs(b'{}\n{"query":{}}\n'))
    [(b'{}', b'{"query":{}}')]
    """
    if not content.endswith(b"\n"):
        raise HttpError(400, "illegal_argument_exception", "the body does not end with an end of line", "add one")
    lines = [line.rstrip(b"\r") for line in content[:-1].split(b"\n")]
    if len(lines) % 2:
        raise HttpError(
            400, "illegal_argument_exception", "the last header has no body", "write two lines for each search"
        )
    yield from zip(lines[::2], lines[1::2], strict=True)


def read_one(  # noqa: PLR0913, PLR0917 - a search, and what is said of all of them
    indexes: str,
    for_each: Mapping[str, str],
    head: Values,
    body: Values,
    settings: Settings,
    default: Mapping[str, str],
) -> SearchLine:
    """Read one of several searches; an invalid parameter or part makes only this search fail."""
    name, alias = split_alias(read_index(indexes, head, settings))
    default = {"dedupe": alias} if alias else default
    options = {name: value for name, value in head.items() if name not in INDEX}
    names = {"index": name.split(",")} if name else {}
    check_head(options, settings)
    for spelling in ("expand_wildcards", "expandWildcards"):
        check_expansion(options.get(spelling, ""), settings)
    content = b"".join(
        dump_json({name: value for name, value in part.items() if not is_dedupe_name(name)}) + b"\n"
        for part in ({**names, **options}, body)
    )
    try:
        parameters = {name: as_text(value) for name, value in options.items()}
        return SearchLine(build_request(name, {**parameters, **for_each}, body, settings, default), content)
    except UsageError as error:
        return SearchLine(error, content)
    except HttpError as error:
        if error.kind != UNKNOWN:
            raise
        return SearchLine(error, content)


def read_index(indexes: str, head: Values, settings: Settings) -> str:
    """Return the indexes named by a header, or those of the path."""
    try:
        targets = [join_names(head[name]) for name in INDEX if name in head] or [indexes]
    except UsageError as error:
        raise http_error(error) from error
    if len(targets) > 1 or not (targets[0] or has_all_paths(settings)):
        raise HttpError(400, "illegal_argument_exception", "a search has to name its index once", 'write {"index": …}')
    return targets[0]


def check_head(options: Values, settings: Settings) -> None:
    """Refuse header options that are not allowed while only some indexes are open."""
    for name in options:
        if not has_all_indexes(settings) and name not in HEAD and not is_dedupe_name(name):
            raise HttpError(400, "illegal_argument_exception", f"key [{name}] is not supported in the metadata section")


AT_ONCE = 4  # grouped searches of one request that run at the same time


async def answer_msearch(work: DedupeProxy, lines: MsearchRequest, metadata: IndexMetadataCache) -> Json:
    """Answer several searches in order, as `_msearch` does; a failed search does not affect the others."""
    turns = asyncio.Semaphore(AT_ONCE)
    searches = [answer_line(work, line, metadata, turns) for line in lines.lines if not line.passes]
    engine_answer, *answers = await asyncio.gather(send_ungrouped(work, lines), *searches)
    return join_responses([line.passes for line in lines.lines], engine_answer.get("responses", ()), answers)


async def send_ungrouped(work: DedupeProxy, lines: MsearchRequest) -> Json:
    """Send the searches without grouping in one request; the responses are filtered at the end."""
    contents = [line.content for line in lines.lines if line.passes]
    parameters = {name: value for name, value in lines.parameters.items() if name != FILTER_PATH}
    return await work.send_lines(lines.path, parameters, b"".join(contents)) if contents else {}


async def answer_line(
    work: DedupeProxy, line: SearchLine, metadata: IndexMetadataCache, turns: asyncio.Semaphore
) -> Json:
    """Answer one grouped search, or return its error."""
    async with turns:
        try:
            if isinstance(line.request, UsageError | HttpError):
                raise line.request
            return {**await work.search(line.request, metadata), "status": 200}
        except EngineRefusal as refusal:
            return {**refusal.reply.json(), "status": refusal.reply.status}
        except HttpError as failure:
            return failure.as_json()
        except IbidemError as error:
            return http_error(error).as_json()
