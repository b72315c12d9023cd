"""Error handlers: JSON errors for clients, a page for browsers."""

import re
from collections.abc import Mapping

import orjson
from fastapi import Request, Response

from ibidem_gateway.dependencies import gateway_context
from ibidem_gateway.errors import JSON, RETRY_HEADERS, HttpError, accepts_html, to_http_error
from ibidem_gateway.page.rendering import html
from ibidem_gateway.page.state import LABELS, read_leniently

TITLES: Mapping[int, str] = {
    400: "Invalid request",
    401: "Sign in",
    403: "Not allowed",
    404: "Not found",
    413: "Request too long",
    429: "Too many requests",
    503: "The search engine does not answer",
    504: "Timeout",
}
OTHER = "Something went wrong"


def as_page(request: Request, error: HttpError) -> Response:
    """Create an error page for people; form input is kept."""
    title = TITLES.get(error.status, OTHER)
    answer = html(
        "page_error.html",
        error.status,
        title=title,
        reason=hide_address(error.reason, gateway_context(request).settings.engine),
        remedy=hide_address(error.remedy, gateway_context(request).settings.engine),
        state=read_leniently(request.query_params),
        labels=LABELS,
    )
    answer.headers.update(RETRY_HEADERS.get(error.status, {}))
    return answer


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
    """Respond to a failed request, and count it."""
    http_error = to_http_error(request, error)
    gateway_context(request).metrics.errors.labels(http_error.kind).inc()
    if accepts_html(request):
        return as_page(request, http_error)
    headers = RETRY_HEADERS.get(http_error.status)
    return Response(orjson.dumps(http_error.as_json()), http_error.status, headers=headers, media_type=JSON)
