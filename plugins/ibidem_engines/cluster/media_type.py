"""Media types of Elasticsearch, whose `compatible-with` names the major version of the API that a client uses.

A server takes its own major version and the one before it: version 9 of the client, which a plain install brings, is
refused by Elasticsearch 8. A refused request is sent again for the version before, and all later ones with it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

from elasticsearch.exceptions import ApiError

REFUSED = "media_type_header_exception"
BAD_REQUEST = 400
OLDEST = 8  # the oldest major version of a server that is understood

HEADERS = frozenset(("accept", "content-type"))
_MEDIA_TYPE = re.compile(r"application/(?:vnd\.elasticsearch\+)?([\w.-]+)(?:;\s*compatible-with=\d+)?", re.IGNORECASE)

Headers = Mapping[str, str] | None


class ApiVersion:
    """Major version of the API in requests to a cluster; None means the client's version."""

    def __init__(self, newest: int = int(version("elasticsearch").partition(".")[0])) -> None:
        self.newest = newest
        self.lowered: int | None = None

    def headers(self, headers: Headers) -> Headers:
        """Return a request's headers with the media types of the version.

        >>> version = ApiVersion(9)
        >>> version.lowered = 8
        >>> version.headers({"accept": "application/json"})
        {'accept': 'application/vnd.elasticsearch+json; compatible-with=8'}
        """
        if self.lowered is None or headers is None:
            return headers
        versioned = rf"application/vnd.elasticsearch+\1; compatible-with={self.lowered}"
        return {
            name: _MEDIA_TYPE.sub(versioned, value) if name.lower() in HEADERS else value
            for name, value in headers.items()
        }

    def lower(self, sent: int | None, error: ApiError) -> bool:
        """Lower the version after a server refused it; returns whether the request may be retried."""
        if not is_refusal(error):
            return False
        if self.lowered == sent:
            before = (sent or self.newest) - 1
            self.lowered = before if before >= OLDEST else None
        return self.lowered is not None


def is_refusal(error: ApiError) -> bool:
    """Return whether a server refused the API version, or may have: responses to `HEAD` have no body."""
    if error.body is None:
        return error.status_code == BAD_REQUEST
    cause = error.body.get("error") if isinstance(error.body, Mapping) else None
    return isinstance(cause, Mapping) and cause.get("type") == REFUSED


def in_server_version(api: ApiVersion, perform_request: Callable[..., Any]) -> Callable[..., Any]:
    """Return a client's `perform_request` that uses a version its server accepts."""

    def perform(method: str, path: str, *, headers: Headers = None, **arguments: Any) -> Any:
        while True:
            sent = api.lowered
            try:
                return perform_request(method, path, headers=api.headers(headers), **arguments)
            except ApiError as error:
                if not api.lower(sent, error):
                    raise

    return perform


def in_server_version_async(
    api: ApiVersion, perform_request: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    """Async version of `in_server_version`."""

    async def perform(method: str, path: str, *, headers: Headers = None, **arguments: Any) -> Any:
        while True:
            sent = api.lowered
            try:
                return await perform_request(method, path, headers=api.headers(headers), **arguments)
            except ApiError as error:
                if not api.lower(sent, error):
                    raise

    return perform
