"""Upstream: the engine behind the gateway; forwards requests and returns responses unchanged.

A caller is known by the headers that carry its rights, and engines are opened with them.
"""

import base64
import binascii
import itertools
import logging
import re
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from yarl import URL

from ibidem.gateway.errors import HttpError
from ibidem_core.address import Address
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine

# Headers by which an engine grants or narrows rights. What a proxy before an engine vouches for is not among them.
RIGHTS = ("authorization", "es-security-runas-user", "es-secondary-authorization", "securitytenant")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller, identified by the authorization headers that the engine checks."""

    # The received headers among `RIGHTS`, with their values.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

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


MAX_CALLERS = 100  # callers whose connections are kept


class Engines:
    """Engines by index and caller; the most recently used ones stay open."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engines: OrderedDict[tuple[str, Caller], Engine] = OrderedDict()
        self._lock = Lock()

    def get(self, caller: Caller, index: str) -> Engine:
        """Return the engine with only the caller's credentials; those in the address are not used."""
        if self._settings.engine.startswith("sqlite:"):
            caller = Caller()
        with self._lock:
            engine = self._engines.pop((index, caller), None)
            if engine is None:
                seconds = float(self._settings.gateway_timeout)
                engine = open_for_caller(self._settings.address, index, caller.headers, seconds)
            self._engines[index, caller] = engine
            if len(self._engines) > MAX_CALLERS:
                # Another thread may still use it: its connections are closed with the last reference.
                self._engines.popitem(last=False)
        return engine

    def close(self) -> None:
        """Close all engines."""
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].close()


# Headers that go on to the engine; what a proxy would vouch for (`x-forwarded-for`, `x-proxy-user`) never does.
FORWARDED = (
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

# Headers of an answer that belong to one connection, not to what is said over it.
OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "date", "keep-alive", "server", "te", "trailer", "transfer-encoding", "upgrade")
)

# Headers that the HTTP library would send by itself.
OURS = frozenset(name.title() for name in ("accept", "accept-encoding", "content-type", "user-agent"))

CONNECT_S = 5.0

LOG = logging.getLogger(__name__)

_COMPATIBLE = re.compile(r"compatible-with\s*=\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Reply:
    """The engine's response."""

    status: int  # HTTP status
    headers: Sequence[tuple[str, str]]  # name and value of each header that belongs to the answer
    body: bytes  # its bytes, encoded as the headers say

    def json(self) -> Any:
        """Read the body."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise HttpError(502, "bad_gateway_exception", "the engine's answer is not JSON") from error


class Upstream:
    """The engine's nodes, with pooled connections that are closed at the end."""

    def __init__(self, address: Address, limit: int) -> None:
        self._nodes = address.urls
        self._turns = itertools.count()
        self._ca = address.ca
        self._limit = limit
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes | None = None
    ) -> Reply:
        """Send a request to a node, or to the next one if it does not respond."""
        first = next(self._turns)
        nodes = [self._nodes[(first + turn) % len(self._nodes)] for turn in range(len(self._nodes))]
        for node in nodes:
            try:
                return await self._request(method, URL(f"{node}{target}", encoded=True), headers, body)
            except aiohttp.ClientConnectorError as error:
                unreachable = error
            except (aiohttp.ClientError, OSError) as error:
                LOG.warning("the engine's answer was cut off: %s", error)
                raise HttpError(502, "bad_gateway_exception", "the engine's answer was cut off") from error
        LOG.warning("the engine does not answer: %s", unreachable.os_error)
        raise HttpError(503, "unavailable_exception", "the engine does not answer", "try again later") from unreachable

    @asynccontextmanager
    async def stream(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: AsyncIterator[bytes] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request with a streamed body, and return the response before its body is read."""
        node = self._nodes[next(self._turns) % len(self._nodes)]
        try:
            async with self._connect().request(
                method,
                URL(f"{node}{target}", encoded=True),
                headers=list(headers),
                data=body,
                skip_auto_headers=OURS,
                allow_redirects=False,
            ) as answer:
                yield answer
        except aiohttp.ClientConnectorError as error:
            LOG.warning("the engine does not answer: %s", error.os_error)
            raise HttpError(503, "unavailable_exception", "the engine does not answer", "try again later") from error
        except (aiohttp.ClientError, OSError) as error:
            LOG.warning("the engine's answer was cut off: %s", error)
            raise HttpError(502, "bad_gateway_exception", "the engine's answer was cut off") from error

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def _request(self, method: str, url: URL, headers: Iterable[tuple[str, str]], body: bytes | None) -> Reply:
        async with self._connect().request(
            method, url, headers=list(headers), data=body, skip_auto_headers=OURS, allow_redirects=False
        ) as answer:
            return Reply(answer.status, response_headers(answer.raw_headers), await answer.read())

    def _connect(self) -> aiohttp.ClientSession:
        """Return the connection pool, created with the first request, since it belongs to the running event loop."""
        if self._session is None:
            context = ssl.create_default_context(cafile=self._ca or None)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=2 * self._limit, ssl=context),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session


def response_headers(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return the end-to-end headers of a response."""
    read = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw)
    return [(name, value) for name, value in read if name not in OF_THE_CONNECTION]


def forward_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the request headers that are forwarded to the engine."""
    return [(name, headers[name]) for name in FORWARDED if name in headers]


def rewrite_headers(headers: Mapping[str, str], form: str | None) -> list[tuple[str, str]]:
    """Return the headers of a request with a newly serialized body, in the client's API version.

    >>> rewrite_headers({"accept": "application/vnd.elasticsearch+json; compatible-with=8"}, "json")[1]
    ('content-type', 'application/vnd.elasticsearch+json; compatible-with=8')
    """
    remaining = [
        (name, value) for name, value in forward_headers(headers) if name not in ("content-encoding", "content-type")
    ]
    return remaining if form is None else [*remaining, ("content-type", media_type(headers, form))]


def media_type(headers: Mapping[str, str], form: str) -> str:
    """Return the media type of JSON in the API version of a client."""
    match = _COMPATIBLE.search(headers.get("accept", "") + headers.get("content-type", ""))
    base, version = ("vnd.elasticsearch+", f"; compatible-with={match[1]}") if match else ("", "")
    return f"application/{base}{form}{version}"


def target(path: str, parameters: Mapping[str, str]) -> str:
    """Build path and query string; the query string is normalized so that it has only one interpretation.

    >>> target("/news/_search", {"q": "a;source={}"})
    '/news/_search?q=a%3Bsource%3D%7B%7D'
    """
    return f"{path}?{urlencode(parameters, quote_via=quote)}" if parameters else path
