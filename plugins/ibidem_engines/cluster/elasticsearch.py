"""Elasticsearch 8 and 9 through the official client, `elasticsearch`."""

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import elasticsearch as client_library
from elasticsearch.exceptions import (
    ApiError,
    ConnectionTimeout,
    SerializationError,
    SSLError,
    TransportError,
    UnsupportedProductError,
)
from elasticsearch.exceptions import ConnectionError as NoConnection
from elasticsearch.serializer import OrjsonSerializer

from ibidem_core.address import Address, parse_address
from ibidem_core.redaction import redact_text
from ibidem_engines.cluster.client import (
    CERTIFICATE,
    CONNECTIONS,
    JSON,
    OTHER_PRODUCT,
    TIMEOUT,
    UNREACHABLE,
    UNREADABLE,
    ClusterClient,
    Dialect,
    Failure,
    build_failure,
)
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.cluster.media_type import ApiVersion, in_server_version
from ibidem_engines.requests import JsonAnswer

# A whole Elasticsearch deprecates names with a dot; those of records are hidden, and no user can change them.
warnings.filterwarnings("ignore", r".*\[\.ibidem-.*begins with a dot", client_library.ElasticsearchWarning)

DIALECT = Dialect(
    name="elasticsearch",
    product="Elasticsearch",
    min_version=(8,),
    shard_doc_version=(8,),
    open_point="/{index}/_pit",
    open_whole={},
    opened_as="id",
    close_point="/_pit",
    closed_as="id",
    offset_limit="max_analyzed_offset",
)

# The client's exceptions that tell more than a status, the narrower first.
EXCEPTIONS: tuple[tuple[type[Exception], str], ...] = (
    (UnsupportedProductError, OTHER_PRODUCT),
    (SSLError, CERTIFICATE),
    (ConnectionTimeout, TIMEOUT),
    (NoConnection, UNREACHABLE),
    (SerializationError, UNREADABLE),
)


class ElasticsearchEngine(ClusterEngine):
    """An index in Elasticsearch."""

    def __init__(self, address: Address | str, index: str) -> None:
        if isinstance(address, str):
            address = parse_address(address)
        super().__init__(ClusterClient(address.label, lambda: ElasticsearchTransport(address)), DIALECT, address, index)


class ElasticsearchTransport:
    """One client with its own retries disabled: `ClusterClient` decides which requests are retried."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.client = client_library.Elasticsearch(
            hosts=address.urls,
            serializers={JSON: WholeSerializer()},
            max_retries=0,
            request_timeout=address.timeout,
            connections_per_node=CONNECTIONS,
            **_options(address),
        )
        self._perform_request = in_server_version(ApiVersion(), self.client.perform_request)

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        """Send one request; see `Transport.send`."""
        headers = {"accept": JSON, "content-type": content_type}
        try:
            answer = self._perform_request(method, path, params=params or None, headers=headers, body=body)
        except (ApiError, TransportError) as error:
            raise _failure(error, self._address.secrets) from error
        return answer.body

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class WholeSerializer(OrjsonSerializer):
    """JSON serializer by orjson that also keeps the parsed bytes."""

    def loads(self, data: bytes) -> Any:
        """Parse JSON; other content becomes text, so that the status of a proxy's error page is reported."""
        try:
            read = super().loads(data)
        except SerializationError:
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


def _failure(error: ApiError | TransportError, secret_values: Collection[str]) -> Failure:
    """Convert a client's exception by the table above, or by the server's status and type."""
    for kind, name in EXCEPTIONS:
        if isinstance(error, kind):
            return Failure(0, name, redact_text(str(error), secret_values))
    if isinstance(error, ApiError):
        return build_failure(error.status_code, error.body, secret_values)
    return Failure(0, "", redact_text(str(error), secret_values))
