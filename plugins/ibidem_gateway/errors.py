"""HTTP errors of the gateway: a status and an error in the engine's JSON shape; content negotiation."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ibidem_core.errors import EngineError, NoIndex, Unavailable
from ibidem_engines.cluster.client import TIMEOUT, Failure
from ibidem_ingest.errors import IbidemError, MissingDocument, TableError, UsageError

LOG = logging.getLogger(__name__)

JSON = "application/json"

# Status and type by the class of our error, the narrower first; the names are the engines' own.
STATUSES: Mapping[type[IbidemError], tuple[int, str]] = {
    MissingDocument: (404, "resource_not_found_exception"),
    UsageError: (400, "illegal_argument_exception"),
    NoIndex: (404, "index_not_found_exception"),
}


ROUTES = "GET / and /ibidem/… (see /openapi.json), and over a cluster every request of the engine"
EXTRA_FIELD = "extra_forbidden"


class HttpError(Exception):
    def __init__(self, status: int, kind: str, reason: str, remedy: str = "") -> None:
        super().__init__(status, kind, reason, remedy)
        self.status = status
        self.kind = kind
        self.reason = reason
        self.remedy = remedy

    def as_json(self) -> dict[str, Any]:
        """Return the error in the format of OpenSearch and Elasticsearch, with the remedy in the reason.

        >>> HttpError(404, "resource_not_found_exception", "no document 'a'").as_json()["status"]
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
        return HttpError(*classify(error), *public_message(error))
    if isinstance(error, RequestValidationError):
        return invalid(request, error)
    target = f"{request.method} {request.url.path}"
    if isinstance(error, HTTPException):
        reason = f"{target} is not supported here"
        return HttpError(error.status_code, "not_proxied_exception", reason, f"the gateway answers {ROUTES}")
    LOG.error(target, exc_info=error)
    return HttpError(500, "exception", f"internal error: {type(error).__name__}", "see the gateway's log")


def invalid(request: Request, error: RequestValidationError) -> HttpError:
    """Name the invalid parameter or field, and the valid values."""
    details = error.errors()[0]
    name = ".".join(str(part) for part in details["loc"][1:]) or "the body"
    if details["type"] != EXTRA_FIELD:
        return HttpError(400, "illegal_argument_exception", f"{name}: {details['msg']}")
    message = f"{request.url.path} takes no {name!r}"
    return HttpError(400, "illegal_argument_exception", message, "its parameters are in /openapi.json")


def public_message(error: IbidemError) -> tuple[str, str]:
    """Return the reason and remedy that a caller may see, without the engine's address or file name."""
    if isinstance(error, TableError):
        return "an idf table cannot be read", "see the gateway's log"
    if not isinstance(error, EngineError):
        return error.what, error.remedy
    cause = error.__cause__
    if isinstance(cause, Failure) and cause.status >= 400:
        return cause.reason or f"the engine answered with status {cause.status}", error.remedy
    if isinstance(error, NoIndex):
        return "there is no such index", error.remedy
    if isinstance(error, Unavailable):
        return "the engine does not answer", "try again later"
    return "the engine cannot be queried", "see the gateway's log"


def classify(error: IbidemError) -> tuple[int, str]:
    """Return status and type: those of the class, else the engine's own, or defaults if it sent none.

    >>> classify(UsageError("dedupe='maybe' is not valid", "allowed: off, collapse, indent"))
    (400, 'illegal_argument_exception')
    """
    for kind, answer in STATUSES.items():
        if isinstance(error, kind):
            return answer
    cause = error.__cause__
    failure = cause if isinstance(cause, Failure) else Failure(0, "", "")
    if failure.kind == TIMEOUT:
        return 504, "timeout_exception"
    if failure.status >= 400:
        return failure.status, failure.kind or "exception"
    if isinstance(error, Unavailable):
        return 503, "unavailable_exception"
    return (502, "bad_gateway_exception") if isinstance(error, EngineError) else (500, "exception")


# Headers that belong to a status: how to say who one is, and when to come again.
RETRY_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"www-authenticate": 'Basic realm="search engine", charset="UTF-8"'},
    429: {"retry-after": "1"},
    503: {"retry-after": "5"},
}


PAGE = "text/html"


def accepts_html(request: Request) -> bool:
    """Return whether a browser sent the request: only browsers accept HTML."""
    return PAGE in request.headers.get("accept", "")
