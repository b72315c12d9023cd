"""Answering a request that went wrong, whoever noticed it."""

import logging

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ibidem.gateway.given import given
from ibidem.gateway.page.errors import as_page
from ibidem.gateway.refusals import Answered, answered, as_response
from ibidem.gateway.wishes import wants_page
from ibidem_engines.errors import EngineError
from ibidem_ingest.errors import IbidemError

LOG = logging.getLogger(__name__)

ANSWERED = "GET or POST /{index}/_search, _msearch and _count, GET / and /ibidem/… (see /openapi.json)"
UNKNOWN = "extra_forbidden"


def refuse(request: Request, error: Exception) -> Response:
    """Answer a request that went wrong, and count it."""
    wrong = named(request, error)
    given(request).metrics.errors.labels(wrong.kind).inc()
    return as_page(wrong) if wants_page(request) else as_response(request, wrong)


def named(request: Request, error: Exception) -> Answered:
    """Say what went wrong.

    Args:
        request: The request.
        error: An error of ours, of the engine, or of the framework.
    """
    if isinstance(error, Answered):
        return error
    if isinstance(error, EngineError):
        LOG.warning("%s", error)
    if isinstance(error, IbidemError):
        return answered(error)
    if isinstance(error, RequestValidationError):
        return invalid(request, error)
    status = error.status_code if isinstance(error, HTTPException) else 500
    asked = f"{request.method} {request.url.path}"
    return Answered(status, "not_proxied_exception", f"{asked} is not answered here", f"the gateway answers {ANSWERED}")


def invalid(request: Request, error: RequestValidationError) -> Answered:
    """Name the parameter or field at fault, and what would be right."""
    wrong = error.errors()[0]
    name = ".".join(str(part) for part in wrong["loc"][1:]) or "the body"
    if wrong["type"] != UNKNOWN:
        return Answered(400, "illegal_argument_exception", f"{name}: {wrong['msg']}")
    what = f"{request.url.path} takes no {name!r}"
    return Answered(400, "illegal_argument_exception", what, "its parameters are in /openapi.json")
