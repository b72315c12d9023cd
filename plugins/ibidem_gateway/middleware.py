"""Middleware: allowed hosts and sites, common headers, metrics, errors and the log.

Written for the server's own interface (ASGI), since every layer between costs time.
"""

import logging
import re
from collections.abc import Mapping
from time import perf_counter
from urllib.parse import urlsplit

import orjson
from fastapi import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ibidem_gateway import upstream
from ibidem_gateway.dependencies import gateway_context
from ibidem_gateway.page.state import LABELS, html, read_leniently
from ibidem_gateway.proxy import CLOSED, MAX_BODY

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
COSTLY_PATHS = ("/ibidem/groups",)
"""Paths that take a processor for seconds: no link of another site leads there."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?")


def check_host(host: str, hosts: tuple[str, ...]) -> None:
    """Refuse a host name that does not belong to the gateway; `hosts` are names without ports, or `*` for any."""
    match = _HOST.fullmatch(host)
    if "*" in hosts or (match and match["name"].lower() in hosts):
        return
    remedy = f"it is called {', '.join(hosts)}; IBIDEM_GATEWAY_HOSTS names others"
    raise upstream.HttpError(421, f"this gateway does not answer for the host {host!r}", remedy)


def check_site(method: str, headers: Mapping[str, str], path: str = "/") -> None:
    """Refuse a request from a page of another site, except for links that the user follows; names in small letters."""
    if same_site(headers):
        return
    followed = headers.get("sec-fetch-mode", "navigate") == "navigate" and not path.startswith(COSTLY_PATHS)
    if method in SAFE_METHODS and followed:
        return
    remedy = "open the gateway's own page, or send the request with a program"
    raise upstream.HttpError(403, "this request comes from a page of another site", remedy)


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


POLICY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer: a browser loads nothing from elsewhere, runs no script of a page, guesses no type."""

SINGLE_HEADERS = frozenset(name.encode() for name in (*upstream.RIGHTS, "content-encoding", "content-type", "host"))
"""Headers that a request may have once: the caller whose answer is cached is the caller that the engine sees."""

_BUFFERED = re.compile(r"/ibidem/(?!_)|(?:/.+)?/_m?search$", re.DOTALL)  # an index may be <a-{now/d}>
"""Paths whose bodies are read as a whole."""

LOG = logging.getLogger(__name__)

PROBES = ("/healthz", "/readyz")
"""Paths that tell nothing of the index; they may be requested under any host name."""

QUIET_PATHS = (*PROBES, "/metrics")
"""Paths that are logged at level `debug`."""


class GatewayMiddleware:
    """The outermost layer of the gateway."""

    def __init__(
        self, app: ASGIApp, *, metrics: upstream.Metrics, hosts: tuple[str, ...], product: Mapping[str, str]
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._hosts = hosts  # host names of the gateway
        self._headers = POLICY | dict(product)  # of every response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answered = perf_counter(), 0  # the status once it was sent

        async def answer(message: Message) -> None:
            """Send a part of the response, with headers that are added unless it has them."""
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        upstream.STAGES.set({})
        try:
            check_headers(scope)
            headers = Headers(scope=scope)
            if scope["path"] not in PROBES:
                check_host(headers.get("host", ""), self._hosts)
            check_site(scope["method"], headers, scope["path"])
            await self._app(scope, bounded(receive) if _BUFFERED.match(scope["path"]) else receive, answer)
        except ClientDisconnect:
            answered = answered or CLOSED
        except Exception as error:
            if answered:
                raise
            await refuse(Request(scope), error)(scope, receive, answer)
        finally:
            took = perf_counter() - began
            route = getattr(scope.get("route"), "path", "")
            self._metrics.requests.labels(route, str(answered)).inc()
            self._metrics.seconds.labels(route).observe(took)
            log_response(scope, answered, took)


def bounded(receive: Receive) -> Receive:
    """Return a `receive` function that refuses a body over the maximum length."""
    length = 0

    async def receive_bounded() -> Message:
        nonlocal length
        message = await receive()
        length += len(message.get("body", b""))
        if length > MAX_BODY:
            reason = f"the request's body is longer than {MAX_BODY:,} bytes"
            raise upstream.HttpError(413, reason, "send it in several requests")
        return message

    return receive_bounded


def check_headers(scope: Scope) -> None:
    """Refuse duplicate authorization, host or content-type headers, since two parsers may choose different ones."""
    names = [name for name, _ in scope["headers"] if name in SINGLE_HEADERS]
    for name in set(names):
        if names.count(name) > 1:
            header = name.decode("latin-1")
            raise upstream.HttpError(400, f"header {header!r} is sent twice", "send it once")


def log_response(scope: Scope, status: int, seconds: float) -> None:
    """Log a response, without its query string and body."""
    level = logging.DEBUG if scope["path"] in QUIET_PATHS else logging.INFO
    if LOG.isEnabledFor(level):
        event = {"method": scope["method"], "path": scope["path"], "status": status, "all_ms": round(1e3 * seconds, 1)}
        times = {f"{stage}_ms": round(1e3 * took, 1) for stage, took in upstream.STAGES.get().items()}
        if times:
            times["other_ms"] = round(max(0.0, event["all_ms"] - sum(times.values())), 1)
        LOG.log(level, "answered", extra=event | times)


def hide_address(text: str, engine: str) -> str:
    """Remove the engine's address from an error, since some servers include it.

    >>> hide_address("no route to http://10.0.0.7:9200", "opensearch+http://10.0.0.7:9200")
    'no route to the search engine'
    """
    for host in re.split("[/@,?]", engine.partition("://")[2]):
        if host.rpartition(":")[2].isdigit():
            prefix = r"(\w{1,20}(\+\w{1,20})?://)?([^\s/@]{0,200}@)?"
            text = re.sub(prefix + re.escape(host), "the search engine", text)
    return text


def refuse(request: Request, error: Exception) -> Response:
    """Respond to a failed request, for people with a page that keeps the input of its form, and count it."""
    http_error, context = upstream.to_http_error(request, error), gateway_context(request)
    context.metrics.errors.labels(http_error.kind).inc()
    status, headers = http_error.status, upstream.RETRY_HEADERS.get(http_error.status, {})
    if not upstream.accepts_html(request):
        return Response(orjson.dumps(http_error.as_json()), status, headers=headers, media_type=upstream.JSON)
    answer = html(
        "page_error.html",
        status,
        title=upstream.STATUSES.get(status, upstream.STATUSES[500])[1],
        reason=hide_address(http_error.reason, context.settings.engine),
        remedy=hide_address(http_error.remedy, context.settings.engine),
        state=read_leniently(request.query_params),
        labels=LABELS,
    )
    answer.headers.update(headers)
    return answer
