"""Middleware: allowed hosts and sites, and limits of concurrency, body size and time.

Written for the server's own interface (ASGI), since every layer between costs time.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ibidem.gateway.connections import caller_network
from ibidem.gateway.error_handlers import refuse
from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import HEADER, streams
from ibidem.gateway.metrics import STAGES, Metrics
from ibidem.gateway.patience import KEY, Patience, extend, query_parameters
from ibidem.gateway.places import Places
from ibidem.gateway.search_routes import CLOSED
from ibidem.gateway.upstream import RIGHTS
from ibidem_core.settings import Settings


async def buffer_body(receive: Receive, settings: Settings) -> Receive:
    """Read a body, and return a `receive` function that replays it before the client's further messages."""
    try:
        async with asyncio.timeout(settings.gateway_arrival):
            body = await receive_body(receive, settings)
    except TimeoutError as error:
        raise HttpError(
            408,
            "request_timeout_exception",
            f"the request's body did not arrive within {settings.gateway_arrival} seconds",
            "send it faster; IBIDEM_GATEWAY_ARRIVAL allows more",
        ) from error
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        """Return the buffered messages, then those of the client."""
        return messages.pop() if messages else await receive()

    return replay


async def receive_body(receive: Receive, settings: Settings) -> bytes:
    """Read a body to its end."""
    parts, read, has_more = [], 0, True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(CLOSED, "client_closed_request", "the client disconnected")
        parts.append(message.get("body", b""))
        read += len(parts[-1])
        if read > settings.gateway_body:
            raise body_too_long(settings)
        has_more = message.get("more_body", False)
    return b"".join(parts)


def body_too_long(settings: Settings) -> HttpError:
    """Return the error of a body over the maximum length."""
    return HttpError(
        413,
        "content_too_long_exception",
        f"the request's body is longer than {settings.gateway_body:,} bytes",
        "send less; IBIDEM_GATEWAY_BODY allows more",
    )


SAFE = ("GET", "HEAD", "OPTIONS")
# Paths that take a processor for seconds: no link of another site leads there.
COSTLY = ("/ibidem/groups", "/ibidem/page/export")

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?")


def check_host(host: str, hosts: tuple[str, ...]) -> None:
    """Refuse a host name that does not belong to the gateway."""
    match = _HOST.fullmatch(host)
    if "*" in hosts or (match and match["name"].lower() in hosts):
        return
    raise HttpError(
        421,
        "misdirected_request_exception",
        f"this gateway does not answer for the host {host!r}",
        f"it is called {', '.join(hosts)}; IBIDEM_GATEWAY_HOSTS names others",
    )


def check_site(method: str, headers: Mapping[str, str], path: str = "/") -> None:
    """Refuse a request from a page of another site, except for links that the user follows."""
    if same_site(headers):
        return
    followed = headers.get("sec-fetch-mode", "navigate") == "navigate" and not path.startswith(COSTLY)
    if method in SAFE and followed:
        return
    raise HttpError(
        403,
        "security_exception",
        "this request comes from a page of another site",
        "open the gateway's own page, or send the request with a program",
    )


def same_site(headers: Mapping[str, str]) -> bool:
    """Return whether a request comes from the gateway's own page, from the address bar or from a program.

    >>> same_site({"host": "ibidem.example", "origin": "https://elsewhere.example"})
    False
    """
    if site := headers.get("sec-fetch-site"):
        return site in ("same-origin", "none")
    try:
        origins = [urlsplit(headers[name]).netloc for name in ("origin", "referer") if name in headers]
    except ValueError:
        return False
    return all(netloc == headers.get("host") for netloc in origins)


# Headers of every answer: a browser loads nothing from elsewhere, runs no script of a page, guesses no type.
POLICY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

# Headers that a request may have once.
ONCE = frozenset(name.encode() for name in (*RIGHTS, "content-encoding", "content-type", "host", HEADER))

LOG = logging.getLogger(__name__)

# Paths that tell nothing of the index; they are asked by addresses that nobody knows before.
PROBES = ("/healthz", "/readyz")

ALWAYS = (*PROBES, "/metrics")  # paths that answer however busy the gateway is


class LimitsMiddleware:
    """The outermost layer of the gateway."""

    def __init__(
        self, app: ASGIApp, *, settings: Settings, metrics: Metrics, hosts: Iterable[str], product: Mapping[str, str]
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._hosts = tuple(hosts)
        self._always = POLICY | dict(product)
        self._places, self._streams = Places(settings.gateway_clients), Places(settings.gateway_clients)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = Outgoing(send, self._always)
        began = perf_counter()
        STAGES.set({})
        try:
            self._check(scope)
            if streams(scope, self._settings):
                await self._stream(scope, receive, answer)
            else:
                await self._answer_in_time(scope, await buffer_body(receive, self._settings), answer)
        except Exception as error:
            if answer.status:
                raise
            await refuse(Request(scope), error)(scope, receive, answer)
        finally:
            took = perf_counter() - began
            self._metrics.count_request(getattr(scope.get("route"), "path", ""), answer.status, took)
            tell(scope, answer.status, took)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        check_headers(scope)
        if scope["path"] not in PROBES:
            check_host(headers.get("host", ""), self._hosts)
        check_site(scope["method"], headers, scope["path"])
        length = headers.get("content-length", "0")
        if not streams(scope, self._settings) and length.isdecimal() and int(length) > self._settings.gateway_body:
            raise body_too_long(self._settings)

    async def _stream(self, scope: Scope, receive: Receive, answer: "Outgoing") -> None:
        """Forward a streamed request; it counts against the limit of its kind."""
        address = caller_address(scope)
        self._streams.take(address)
        try:
            await self._app(scope, receive, answer)
        finally:
            self._streams.release(address)

    async def _answer_in_time(self, scope: Scope, receive: Receive, answer: "Outgoing") -> None:
        """Handle a request within the limits of time and concurrency."""
        patience = scope[KEY] = Patience(self._settings.gateway_timeout)
        extend(scope, query_parameters(scope))
        release = self._take_place(scope)
        waited_for = True

        async def send(message: Message) -> None:
            """Send a message to the client, unless the request has timed out."""
            if waited_for:
                await answer(message)

        work = asyncio.ensure_future(self._app(scope, receive, send))
        work.add_done_callback(partial(collect, release))
        try:
            while not work.done() and patience.remaining:
                await asyncio.wait((work,), timeout=patience.remaining)
        finally:
            waited_for = work.done()
            work.cancel()
        if not waited_for:
            raise self._timeout(patience)
        work.result()

    def _take_place(self, scope: Scope) -> Callable[[], None]:
        """Acquire a place for a request, if its path needs one; returns a function to release it."""
        if scope["path"] in ALWAYS:
            return lambda: None
        address = caller_address(scope)
        self._places.take(address)
        return partial(self._places.release, address)

    @staticmethod
    def _timeout(patience: Patience) -> HttpError:
        return HttpError(
            504,
            "timeout_exception",
            f"no answer within {patience.seconds:g} seconds",
            "ask for less; IBIDEM_GATEWAY_TIMEOUT, or `timeout` in the request, allows more",
        )


def caller_address(scope: Scope) -> str:
    """Return the address that identifies the caller of a request."""
    client = scope.get("client")
    return caller_network(client[0]) if client else ""


def collect(release: Callable[[], None], work: asyncio.Future[None]) -> None:
    """Release the place of a request once its thread has ended, possibly after the client disconnected."""
    release()
    if not work.cancelled():
        work.exception()


def check_headers(scope: Scope) -> None:
    """Refuse duplicate authorization, host or content-type headers, since two parsers may choose different ones."""
    names = [name for name, _ in scope["headers"] if name in ONCE]
    for name in set(names):
        if names.count(name) > 1:
            header = name.decode("latin-1")
            raise HttpError(400, "illegal_argument_exception", f"header {header!r} is sent twice", "send it once")


def tell(scope: Scope, status: int, seconds: float) -> None:
    """Log a response, without its query string and body."""
    level = logging.DEBUG if scope["path"] in ALWAYS else logging.INFO
    if LOG.isEnabledFor(level):
        event = {"method": scope["method"], "path": scope["path"], "status": status, "all_ms": round(1e3 * seconds, 1)}
        LOG.log(level, "answered", extra=event | stage_times(STAGES.get(), event["all_ms"]))


def stage_times(stages: Mapping[str, float], all_ms: float) -> dict[str, float]:
    """Return the milliseconds of each stage; the remaining time is `other`.

    >>> stage_times({"window": 0.002, "fetch": 0.001}, 4.5)
    {'window_ms': 2.0, 'fetch_ms': 1.0, 'other_ms': 1.5}
    """
    times = {f"{stage}_ms": round(1e3 * took, 1) for stage, took in stages.items()}
    return times | ({"other_ms": round(max(0.0, all_ms - sum(times.values())), 1)} if times else {})


class Outgoing:
    """The response to the client, with the headers common to all responses."""

    def __init__(self, send: Send, always: dict[str, str]) -> None:
        self._send = send
        self._always = always
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._always.items():
                headers.setdefault(name, value)
        await self._send(message)
