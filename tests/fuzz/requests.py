"""Fuzz targets: queries, parameters, cursors, and bodies in the query DSL."""

import gzip
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import QueryParams

from fuzz.target import Target, as_any_text, as_sent, check_message, folder
from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.dsl.search import read_lines
from ibidem.grouped_search.dsl.syntax import read_search
from ibidem_dedupe.parameters import PARAMETERS, DedupeRequest, as_text, dedupe_request, is_dedupe_name, parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import Query, parse_filter, parse_query
from ibidem_gateway.middleware import check_host, check_site
from ibidem_gateway.page import state
from ibidem_gateway.proxy import decompress, read_json, split_alias, with_mode, without_dedupe
from ibidem_gateway.upstream import HttpError
from ibidem_ingest.errors import IbidemError, UsageError
from ibidem_lab.labels import parse_condition

BODY = orjson.dumps(
    {
        "query": {
            "bool": {
                "must": [{"match": {"text": "wheat"}}],
                "filter": [{"terms": {"id": {"index": "news", "id": "1"}}}],
            }
        },
        "from": 10,
        "size": 10,
        "sort": [{"date": "desc"}, "_score"],
        "aggs": {"by": {"terms": {"field": "source"}}},
        "highlight": {"fields": {"text": {}}},
        "dedupe": "indent",
        "dedupe_window": 100,
    }
)
LINES = b'{"index": "news"}\n{"query": {"match_all": {}}, "dedupe": "collapse"}\n{}\n{"size": 0}\n'
DEEP = b'{"query": ' + b'{"bool": {"must": [' * 200 + b"{}" + b"]}}" * 200 + b"}"
TYPED = (b'grain OR wheat "export duty" -rice', 'don\'t „x“ «y» OR OR -"a b" …'.encode(), b'a\0b "c', b'"' * 99 + b"a")
OPTIONS = (
    b"q=wheat&dedupe=indent&dedupe_level=partial&dedupe_keep=source:AP,%20Reuters&dedupe_window_days=none"
    b"&dedupe_window=500&dedupe_max_per_group=3&dedupe_explain=true"
)
NATIVE = (
    b"q=a&sort=date:desc,_score&_source_includes=a,b&stored_fields=title,date&routing=b&dedupe=indent"
    b"&track_total_hits=true"
)
REFUSALS = (IbidemError, HttpError)


@cache
def index() -> Engine:
    """Return an empty index to be searched."""
    engine = open_engine(f"sqlite:///{folder()}/fuzz.sqlite", "fuzz")
    engine.create()
    return engine


def query(data: bytes) -> None:
    """Read words and a filter as they are typed, and search an index for them."""
    typed, _, condition = as_any_text(data).partition("\n")
    try:
        query = parse_query(typed, [condition] if condition else [])
    except UsageError as refusal:
        check_message(refusal.remedy)
        return
    index().search(query, 10)


def parameters(data: bytes) -> None:
    """Read the parameters of the dedupe layer, out of a query string."""
    settings = dict(QueryParams(as_sent(data)))
    request = parse_request({name: value for name, value in settings.items() if name in PARAMETERS} or settings)
    request.digest()
    str(request.keep)


def page(data: bytes) -> None:
    """Read the address of a page and write it again."""
    page_state = state.read_query(QueryParams(as_sent(data))).state()
    page_state.request()
    page_state.query()
    page_state.address(page=2)


def native(data: bytes) -> None:
    """Read a search in an engine's own language: a query string in the first line, the body in the others."""
    query_string, _, body = data.partition(b"\n")
    parameters = dict(QueryParams(as_sent(query_string)))
    run_search(parameters, read_json(body))
    without_dedupe(as_sent(query_string))


def run_search(parameters: Mapping[str, str], body: Mapping[str, Any]) -> None:
    """Go on with a request as far as the engine."""
    request = dedupe_request(parameters, body)
    if request is not None and request.mode != "off":
        own, params = (
            {name: each for name, each in part.items() if not is_dedupe_name(name)} for part in (body, parameters)
        )
        search = read_search("news", own, params, request)
        orjson.dumps(dict(search.ranking))
        assert search.digest


def packed_body(data: bytes) -> None:
    read_json(decompress(data, "gzip"))


def several(data: bytes) -> None:
    query_string, _, body = data.partition(b"\n")
    parameters = dict(QueryParams(as_sent(query_string)))
    for line in read_lines([read_json(line) for line in body.split(b"\n")]):
        head, search = with_mode(line, "indent")
        try:
            run_search({**parameters, **{name: as_text(each) for name, each in head.items()}}, search)
        except UsageError:
            continue


def cursors(data: bytes) -> None:
    """Read a cursor as it is, and one that somebody wrote."""
    for text in (as_any_text(data), urlsafe_b64encode(data).decode()):
        try:
            search_index(index(), Query("a"), DedupeRequest(cursor=text))
        except UsageError:
            continue


def names(data: bytes) -> None:
    text = as_sent(data)
    for read in (
        lambda: split_alias(text),
        lambda: check_host(text, ("localhost",)),
        lambda: check_site("POST", {"host": "localhost", "origin": text}),
    ):
        try:
            read()
        except HttpError as answer:
            answer.as_json()


def condition(data: bytes) -> None:
    for read in (parse_condition, parse_filter):
        try:
            read(as_any_text(data))
        except UsageError:
            continue


TARGETS: Mapping[str, Target] = {
    "query": Target(
        query,
        (*TYPED, TYPED[0] + b"\ndate=1987-03..1987-06", b"a\nmeta.court=9th"),
        (*b"\" ' - * ^ : ( ) { } + \\ /".split(), b" OR ", b" NOT ", b"NEAR(", b"title:", b"\nid=", b"\nmeta."),
    ),
    "parameters": Target(
        parameters, (OPTIONS,), (b"&dedupe=", b"%00", b"\xd9\xa3", b"999999999999999999999"), REFUSALS
    ),
    "page": Target(
        page,
        (b"q=a&level=near&keep=source:A&source=A&source=B&date=1987..&sort=newest&page=2&size=25",),
        (b"&",),
        ends=(IbidemError, RequestValidationError),
    ),
    "native": Target(
        native, (b"\n" + BODY, NATIVE + b"\n" + BODY, b"dedupe=collapse\n" + DEEP), (b'{"a":', b"[" * 99), REFUSALS
    ),
    "packed_body": Target(
        packed_body, (gzip.compress(BODY, mtime=0), gzip.compress(b"0" * 100_000, mtime=0)), (), REFUSALS
    ),
    "several": Target(
        several, (b"\n" + LINES, b"dedupe=indent\n" + LINES), (b'{"index":[1,"a"]}', b"\n{}\n"), REFUSALS
    ),
    "cursor": Target(cursors, (b'["c2","","0","0",1,"",null]', b'["c1","","0","0"]', b"1", b"null")),
    "names": Target(
        names, (b"news-2026-*,law", b"[::1]:80", b"https://example.org:80/a", b"http://[::1"), (b"..", b"[", b"%")
    ),
    "condition": Target(condition, (b"jac5>=0.5 and words_a > 50", b"date=1787..1790"), (b" and ", b">=", b"date=")),
}
