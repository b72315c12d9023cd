"""Upstream: the engine behind the gateway, engines opened with a caller's own credentials, and errors as responses."""

import base64
import binascii
import itertools
import logging
import re
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from fastapi.exceptions import RequestValidationError
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.exceptions import HTTPException
from starlette.requests import Request
from yarl import URL

from ibidem.grouped_search.api import SearchResult
from ibidem_core.address import Address
from ibidem_core.errors import EngineError, NoIndex, Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.cluster.client import TIMEOUT, Failure
from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import IbidemError, MissingDocument, TableError, UsageError

LOG = logging.getLogger(__name__)

JSON = "application/json"

OTHER, INVALID = "Something went wrong", "The request is not valid; the reason says what is allowed."

# What is said of an error by its status: its type, as the engines name it, its title on a page, and what it means.
STATUSES: Mapping[int, tuple[str, str, str]] = {
    400: ("illegal_argument_exception", "Invalid request", INVALID),
    401: ("security_exception", "Sign in", "The caller is not authenticated."),
    403: ("security_exception", "Not allowed", "The engine or the settings do not permit it."),
    404: ("resource_not_found_exception", "Not found", "No such index or document."),
    413: ("content_too_long_exception", "Request too long", "The body is too long."),
    415: ("media_type_header_exception", OTHER, "The content encoding is not supported."),
    421: ("misdirected_request_exception", OTHER, "The gateway does not answer for this host name."),
    429: ("rejected_execution_exception", "Too many requests", "Too many requests at once; try again."),
    500: ("exception", OTHER, "A fault."),
    501: ("not_implemented_exception", OTHER, "An SQLite index has no such query language."),
    502: ("bad_gateway_exception", OTHER, "The engine's answer cannot be read."),
    503: ("unavailable_exception", "The search engine does not answer", "The engine does not answer."),
    504: ("timeout_exception", "Timeout", "The engine did not answer in time."),
}
AGAIN, SEE_LOG = "try again later", "see the gateway's log"

ROUTES = "GET / and /ibidem/… (see /openapi.json), and over a cluster every request of the engine"


class HttpError(Exception):
    def __init__(self, status: int, reason: str, remedy: str = "", kind: str = "") -> None:
        super().__init__(status, reason, remedy)
        self.status, self.reason, self.remedy = status, reason, remedy
        self.kind = kind or STATUSES[status][0]

    def as_json(self) -> dict[str, Any]:
        """Return the error in the format of OpenSearch and Elasticsearch, with the remedy in the reason.

        >>> HttpError(404, "no document 'a'").as_json()["status"]
        404
        """
        reason = f"{self.reason}; {self.remedy}" if self.remedy else self.reason
        cause = {"type": self.kind, "reason": reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


def to_http_error(request: Request, error: Exception) -> HttpError:
    if isinstance(error, HttpError):
        return error
    if isinstance(error, IbidemError):
        if isinstance(error, EngineError | TableError):
            LOG.warning("%s", error)
        return as_response(error)
    if isinstance(error, RequestValidationError):
        return invalid(request, error)
    target = f"{request.method} {request.url.path}"
    if isinstance(error, HTTPException):
        if (cause := error.__cause__) is not None:  # of a body that could not be read
            unread = HttpError(400, f"the body of {target} cannot be read", "send JSON in UTF-8, not compressed")
            return cause if isinstance(cause, HttpError) else unread
        reason = f"{target} is not supported here"
        return HttpError(error.status_code, reason, f"the gateway answers {ROUTES}", "not_proxied_exception")
    LOG.error(target, exc_info=error)
    return HttpError(500, f"internal error: {type(error).__name__}", SEE_LOG)


def invalid(request: Request, error: RequestValidationError) -> HttpError:
    """Name the invalid parameter or field, and the valid values."""
    details = error.errors()[0]
    name = ".".join(str(part) for part in details["loc"][1:]) or "the body"
    if details["type"] != "extra_forbidden":
        return HttpError(400, f"{name}: {details['msg']}")
    message = f"{request.url.path} takes no {name!r}"
    return HttpError(400, message, "its parameters are in /openapi.json")


def as_response(error: IbidemError) -> HttpError:
    """Return what a caller may see of an error: ours, else the engine's own, without its address or a file's name."""
    if isinstance(error, TableError):
        return HttpError(500, "an idf table cannot be read", SEE_LOG)
    if not isinstance(error, EngineError):
        status = 404 if isinstance(error, MissingDocument) else 400 if isinstance(error, UsageError) else 500
        return HttpError(status, error.what, error.remedy)
    status, kind, reason, remedy = 502, "", "the engine cannot be queried", SEE_LOG
    if isinstance(error, NoIndex):
        reason, remedy = "there is no such index", error.remedy
    elif isinstance(error, Unavailable):
        status, reason, remedy = 503, "the engine does not answer", AGAIN
    cause = error.__cause__
    if isinstance(cause, Failure) and cause.status >= 400:
        status, kind, remedy = cause.status, cause.kind or "exception", error.remedy
        reason = cause.reason or f"the engine answered with status {cause.status}"
    if isinstance(error, NoIndex):
        status, kind = 404, "index_not_found_exception"
    elif isinstance(cause, Failure) and cause.kind == TIMEOUT:
        status, kind = 504, ""
    return HttpError(status, reason, remedy, kind)


# Headers that belong to a status: how to say who one is, and when to come again.
RETRY_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"www-authenticate": 'Basic realm="search engine", charset="UTF-8"'},
    429: {"retry-after": "1"},
    503: {"retry-after": "5"},
}


def accepts_html(request: Request) -> bool:
    """Return whether a browser sent the request: only browsers accept HTML."""
    return "text/html" in request.headers.get("accept", "")


RIGHTS = ("authorization", "es-security-runas-user", "es-secondary-authorization", "securitytenant")
"""Headers by which an engine grants or narrows rights. What a proxy before an engine vouches for is not among them."""

MAX_CALLERS = 100  # callers whose connections are kept
ENGINE_TIMEOUT_S = 30.0  # of the page's requests and those of `/ibidem/…`
CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller, identified by the authorization headers that the engine checks."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # the received headers among `RIGHTS`

    @classmethod
    def read(cls, headers: Mapping[str, str]) -> "Caller":
        """Parse the headers of a request; header names are case-insensitive.

        >>> Caller.read({"Authorization": "Basic YWRhOnB3", "cookie": "a=1"}).name
        'ada'
        """
        values = {name.lower(): value for name, value in headers.items()}
        return cls(tuple((name, values[name]) for name in RIGHTS if name in values))

    @property
    def name(self) -> str:
        """Name of the user with basic authentication; else empty."""
        scheme, _, value = dict(self.headers).get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return ""
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[0]
        except (binascii.Error, UnicodeDecodeError):
            return ""


class Engines:
    """Engines by caller; the most recently used ones stay open."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engines: OrderedDict[Caller, Engine] = OrderedDict()
        self._lock = Lock()

    def get(self, caller: Caller) -> Engine:
        """Return the engine with only the caller's credentials; those in the address are not used."""
        if self._settings.engine.startswith("sqlite:"):
            caller = Caller()
        with self._lock:
            engine = self._engines.pop(caller, None)
            if engine is None:
                engine = open_for_caller(self._settings.address, self._settings.index, caller.headers, ENGINE_TIMEOUT_S)
            self._engines[caller] = engine
            if len(self._engines) > MAX_CALLERS:
                # Another thread may still use it: its connections are closed with the last reference.
                self._engines.popitem(last=False)
        return engine

    def close(self) -> None:
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].close()


FORWARDED_HEADERS = (
    *RIGHTS,
    "accept",
    "accept-encoding",
    "content-encoding",
    "content-type",
    "traceparent",
    "tracestate",
    "user-agent",
    "x-elastic-client-meta",
    "x-opaque-id",
)
"""Headers that are forwarded; what a proxy would vouch for (`x-forwarded-for`, `x-proxy-user`) never is."""

HOP_BY_HOP = frozenset(
    (b"connection", b"date", b"keep-alive", b"server", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
"""Headers of a response that belong to one connection."""

AUTO_HEADERS = frozenset(name.title() for name in ("accept", "accept-encoding", "content-type", "user-agent"))
"""Headers that the HTTP library would add."""


_COMPATIBLE = re.compile(r"compatible-with\s*=\s*(\d+)")

RawHeaders = Sequence[tuple[bytes, bytes]]


class Reply(NamedTuple):
    """The engine's response."""

    status: int
    headers: RawHeaders  # end-to-end headers, names in lower case
    body: bytes  # encoded as the headers say

    def json(self) -> Any:
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise HttpError(502, "the engine's answer is not JSON") from error


class Upstream:
    """The engine's nodes, with pooled connections; credentials in their address are not used."""

    def __init__(self, address: Address) -> None:
        self._nodes = address.urls
        self._turns = itertools.count()
        self._ca = address.ca
        self._session: aiohttp.ClientSession | None = None

    async def open(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | AsyncIterator[bytes] | None = None,
    ) -> aiohttp.ClientResponse:
        """Send a request to a node, or to the next one if it cannot be reached; the response's body is not read yet."""
        first, unreachable = next(self._turns), None
        for turn in range(len(self._nodes)):
            url = URL(f"{self._nodes[(first + turn) % len(self._nodes)]}{target}", encoded=True)
            try:
                return await self._connect().request(
                    method, url, headers=list(headers), data=body, skip_auto_headers=AUTO_HEADERS, allow_redirects=False
                )
            except aiohttp.ClientConnectorError as error:
                unreachable = error
            except (aiohttp.ClientError, OSError) as error:
                raise cut_off(error) from error
        LOG.warning("the engine does not answer: %s", unreachable)
        raise HttpError(503, "the engine does not answer", AGAIN) from unreachable

    async def send(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes | None = None
    ) -> Reply:
        """Send a request, and read the response."""
        async with await self.open(method, target, headers, body) as answer:
            try:
                return Reply(answer.status, end_to_end(answer.raw_headers), await answer.read())
            except (aiohttp.ClientError, OSError) as error:
                raise cut_off(error) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _connect(self) -> aiohttp.ClientSession:
        """Return the connection pool, created with the first request, since it belongs to the running event loop."""
        if self._session is None:
            context = ssl.create_default_context(cafile=self._ca or None)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=context),  # no slow request keeps another waiting
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session


def cut_off(error: Exception) -> HttpError:
    """Return the error of a response that broke off."""
    LOG.warning("the engine's answer was cut off: %s", error)
    return HttpError(502, "the engine's answer was cut off")


def end_to_end(raw: RawHeaders, *, with_length: bool = False) -> list[tuple[bytes, bytes]]:
    """Return the end-to-end headers of a response, with its length if the body is forwarded unchanged."""
    read = ((name.lower(), value) for name, value in raw)
    return [
        (name, value) for name, value in read if name not in HOP_BY_HOP and (with_length or name != b"content-length")
    ]


def forward_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the request headers that are forwarded to the engine; received names are in lower case."""
    return [(name, headers[name]) for name in FORWARDED_HEADERS if name in headers]


def rewrite_headers(headers: Mapping[str, str], form: str) -> list[tuple[str, str]]:
    """Return the headers of a request with a new body, `json` or `x-ndjson`, in the client's API version.

    >>> rewrite_headers({"accept": "application/vnd.elasticsearch+json; compatible-with=8"}, "json")[1]
    ('content-type', 'application/vnd.elasticsearch+json; compatible-with=8')
    """
    kept = [each for each in forward_headers(headers) if each[0] not in ("content-encoding", "content-type")]
    return [*kept, ("content-type", media_type(headers, form))]


def media_type(headers: Mapping[str, str], form: str) -> str:
    """Return the media type of JSON in the API version of a client."""
    match = _COMPATIBLE.search(headers.get("accept", "") + headers.get("content-type", ""))
    base, version = ("vnd.elasticsearch+", f"; compatible-with={match[1]}") if match else ("", "")
    return f"application/{base}{form}{version}"


def target(path: str, parameters: Mapping[str, str]) -> str:
    """Build path and query string.

    >>> target("/news/_search", {"q": "a;source={}"})
    '/news/_search?q=a%3Bsource%3D%7B%7D'
    """
    return f"{path}?{urlencode(parameters, quote_via=quote)}" if parameters else path


Stage = Literal["window", "grouping", "fetch", "facets", "differences", "rendering"]

# Seconds of each stage of the request that is being answered.
STAGES: ContextVar[dict[str, float]] = ContextVar("stages")

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """Counters of one gateway; they contain no document content and no user."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        seconds = partial(Histogram, registry=registry, buckets=SECONDS)
        self.requests = Counter("ibidem_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = seconds("ibidem_request_seconds", "Seconds until an answer.", ["route"])
        self.stages = seconds("ibidem_stage_seconds", "Seconds of a grouped search, by stage.", ["stage"])
        self.errors = Counter("ibidem_errors", "Requests that went wrong, by type.", ["type"], registry=registry)
        self.documents = Counter("ibidem_window_documents", "Documents in windows.", registry=registry)
        self.groups = Counter("ibidem_window_groups", "Groups found in windows.", registry=registry)
        unsigned = "Documents in windows without signatures."
        self.unsigned = Counter("ibidem_window_unsigned", unsigned, registry=registry)

    def took(self, stage: Stage, seconds: float) -> None:
        """Record the time of a stage of a grouped search."""
        self.stages.labels(stage).observe(seconds)
        if (stages := STAGES.get(None)) is not None:
            stages[stage] = stages.get(stage, 0.0) + seconds

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.took(stage, perf_counter() - began)

    def count_search(self, account: Mapping[str, Any]) -> None:
        """Count the documents and groups of a grouped search."""
        self.documents.inc(account["documents"]["in_window"])
        self.groups.inc(account["groups"]["in_window"] or 0)  # stored groups are not always counted
        self.unsigned.inc(account["unsigned"])

    def time_search(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Search, and record the time of each stage, the documents and the groups."""
        began = perf_counter()
        result = search()
        took = perf_counter() - began
        for stage in ("window", "fetch"):
            self.took(stage, result.seconds.get(stage, 0.0))
        self.took("grouping", took - sum(result.seconds.values()))
        self.count_search(result.response["dedupe"])
        return result
