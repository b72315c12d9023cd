"""Elasticsearch 8 and 9 through the official client, `elasticsearch`.

Its media types name the major version of the API that a client uses (`compatible-with`). A server takes its own major
version and the one before it: version 9 of the client, which a plain install brings, is refused by Elasticsearch 8. A
refused request is sent again for version 8, and all later ones with it.
"""

import re
import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any

import elasticsearch as client_library
from elasticsearch import exceptions
from elasticsearch.exceptions import ConnectionError as NoConnection
from elasticsearch.serializer import OrjsonSerializer

from ibidem_core.address import Address
from ibidem_engines.cluster import client
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.requests import JSON, ApiRequest, JsonAnswer, run_sync

REFUSED = "media_type_header_exception"
MIN_VERSION = 8  # the oldest major version of a server that is understood

HEADERS = frozenset(("accept", "content-type"))
_MEDIA_TYPE = re.compile(r"application/(?:vnd\.elasticsearch\+)?([\w.-]+)(?:;\s*compatible-with=\d+)?", re.IGNORECASE)

Headers = Mapping[str, str] | None


class ApiVersion:
    """Major version of the API in requests to a cluster: the client's own (None), or the oldest that is understood."""

    def __init__(self) -> None:
        self.lowered: int | None = None

    def headers(self, headers: Headers) -> Headers:
        """Return a request's headers with the media types of the version.

        >>> api = ApiVersion()
        >>> api.lowered = 8
        >>> api.headers({"accept": "application/json"})
        {'accept': 'application/vnd.elasticsearch+json; compatible-with=8'}
        """
        if self.lowered is None or headers is None:
            return headers
        versioned = rf"application/vnd.elasticsearch+\1; compatible-with={self.lowered}"
        return {
            name: _MEDIA_TYPE.sub(versioned, value) if name.lower() in HEADERS else value
            for name, value in headers.items()
        }

    def lower(self, sent: int | None, error: exceptions.ApiError) -> bool:
        """Lower the version after a server refused it; returns whether the request may be retried."""
        if error.body is None:  # as of `HEAD`: it may have been refused for its version
            is_refusal = error.status_code == client.BAD_REQUEST
        else:
            cause = error.body.get("error") if isinstance(error.body, Mapping) else None
            is_refusal = isinstance(cause, Mapping) and cause.get("type") == REFUSED
        self.lowered = MIN_VERSION if is_refusal else self.lowered
        return is_refusal and sent is None


def in_server_version(
    api: ApiVersion, perform_request: Callable[..., Any], run: Callable[..., Any] = run_sync
) -> Callable[..., Any]:
    """Return a client's `perform_request` that uses a version its server accepts; `run` waits for an answer or not."""

    def attempts(headers: Headers) -> Generator[Headers, Any, Any]:
        while True:
            sent = api.lowered
            try:
                return (yield api.headers(headers))
            except exceptions.ApiError as error:
                if not api.lower(sent, error):
                    raise

    def perform(method: str, path: str, *, headers: Headers = None, **arguments: Any) -> Any:
        return run(attempts(headers), lambda each: perform_request(method, path, headers=each, **arguments))

    return perform


# A whole Elasticsearch deprecates names with a dot; those of records are hidden, and no user can change them.
warnings.filterwarnings("ignore", r".*\[\.ibidem-.*begins with a dot", client_library.ElasticsearchWarning)

DIALECT = client.Dialect(
    product="Elasticsearch",
    min_version=(8,),
    point_path="/_pit",
    open_whole={},
    point_id="id",
    offset_limit="max_analyzed_offset",
)

# The client's exceptions that tell more than a status, the narrower first.
EXCEPTIONS: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.UnsupportedProductError, client.OTHER_PRODUCT),
    (exceptions.SSLError, client.CERTIFICATE),
    (exceptions.ConnectionTimeout, client.TIMEOUT),
    (NoConnection, client.UNREACHABLE),
    (exceptions.SerializationError, client.UNREADABLE),
)


class ElasticsearchEngine(ClusterEngine):
    def __init__(self, address: Address, index: str) -> None:
        super().__init__(client.ClusterClient(address, DIALECT, ElasticsearchTransport), index)


class ElasticsearchTransport:
    """One client with its own retries disabled: `ClusterClient` decides which requests are retried."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.client = client_library.Elasticsearch(
            hosts=address.urls,
            serializers={JSON: WholeSerializer()},
            max_retries=0,
            request_timeout=address.timeout,
            connections_per_node=client.CONNECTIONS,
            **_options(address),
        )
        self._perform_request = in_server_version(ApiVersion(), self.client.perform_request)

    def send(self, request: ApiRequest) -> object:
        headers = {"accept": JSON, "content-type": request.content_type}
        try:
            answer = self._perform_request(
                request.method, request.path, params=request.params or None, headers=headers, body=request.payload
            )
        except (exceptions.ApiError, exceptions.TransportError) as error:
            secrets = self._address.secrets
            if isinstance(error, exceptions.ApiError) and not isinstance(error, exceptions.UnsupportedProductError):
                raise client.build_failure(error.status_code, error.body, secrets) from error
            raise client.unanswered(error, EXCEPTIONS, str(error), secrets) from error
        return answer.body

    def close(self) -> None:
        self.client.close()


class WholeSerializer(OrjsonSerializer):
    """JSON serializer by orjson that also keeps the parsed bytes."""

    def loads(self, data: bytes) -> Any:
        """Parse JSON; other content becomes text, so that the status of a proxy's error page is reported."""
        try:
            read = super().loads(data)
        except exceptions.SerializationError:
            return data.decode(errors="replace")
        return JsonAnswer(read, data) if isinstance(read, dict) else read


def _options(address: Address) -> dict[str, Any]:
    """Return credentials and certificate under the client's names."""
    options: dict[str, Any] = {"ca_certs": address.ca} if address.ca else {}
    if address.headers:
        options["headers"] = dict(address.headers)
    if address.api_key:
        options["api_key"] = address.api_key
    elif address.user:
        options["basic_auth"] = (address.user, address.password)
    return options
