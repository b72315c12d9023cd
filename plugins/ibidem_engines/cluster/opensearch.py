"""OpenSearch 2.19 and 3 through its official client, `opensearch-py`."""

from collections.abc import Collection, Mapping
from typing import Any

import opensearchpy
import orjson
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, SerializationError, SSLError, TransportError
from opensearchpy.serializer import JSONSerializer

from ibidem_core.address import Address, redact_text
from ibidem_engines.cluster import client
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.requests import JsonAnswer

DIALECT = client.Dialect(
    name="opensearch",
    product="OpenSearch",
    min_version=(2, 19),
    shard_doc_version=(3, 3),
    open_point="/{index}/_search/point_in_time",
    open_whole={"allow_partial_pit_creation": "false"},
    opened_as="pit_id",
    close_point="/_search/point_in_time",
    closed_as="pit_id",
    offset_limit="max_analyzer_offset",
)

# Bypass default search pipelines, which rewrite hits.
NO_PIPELINE = {"search_pipeline": "_none"}

# The client's exceptions for requests without an answer, the narrower first.
EXCEPTIONS: tuple[tuple[type[OpenSearchException], str], ...] = (
    (SSLError, client.CERTIFICATE),
    (ConnectionTimeout, client.TIMEOUT),
    (NoConnection, client.UNREACHABLE),
    (SerializationError, client.UNREADABLE),
)


class OpenSearchEngine(ClusterEngine):
    def __init__(self, address: Address, index: str) -> None:
        cluster = client.ClusterClient(address.label, lambda: OpenSearchTransport(address), search_parts=NO_PIPELINE)
        super().__init__(cluster, DIALECT, address, index)


class OpenSearchTransport:
    """One client with its own retries disabled: `ClusterClient` decides which requests are retried."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.client = opensearchpy.OpenSearch(
            hosts=[{"host": name.strip("[]"), "port": port} for name, port in address.hosts],
            serializer=OrjsonSerializer(),
            max_retries=0,
            timeout=address.timeout,
            pool_maxsize=client.CONNECTIONS,
            **_options(address),
        )

    def send(self, method: str, path: str, params: Mapping[str, str], content_type: str, body: bytes | None) -> object:
        headers = {"content-type": content_type}
        try:
            answer: object = self.client.transport.perform_request(
                method, path, params=dict(params), body=body, headers=headers
            )
        except OpenSearchException as error:
            raise _failure(error, self._address.secrets) from error
        return answer

    def close(self) -> None:
        self.client.close()


class OrjsonSerializer(JSONSerializer):
    """JSON by orjson; bytes are sent unchanged, and a response keeps its text next to its JSON."""

    def dumps(self, data: Any) -> Any:
        return data if isinstance(data, bytes | str) else orjson.dumps(data, default=self.default)

    def loads(self, s: str) -> Any:
        try:
            read = orjson.loads(s) if s else None
        except orjson.JSONDecodeError as error:
            raise SerializationError(s[:200], error) from error
        return JsonAnswer(read, s) if isinstance(read, dict) else read


def _options(address: Address) -> dict[str, Any]:
    """Return credentials and certificate under the client's names."""
    headers = dict(address.headers)
    if address.api_key:
        headers["authorization"] = f"ApiKey {address.api_key}"
    options: dict[str, Any] = {"headers": headers} if headers else {}
    if address.user:
        options["http_auth"] = (address.user, address.password)
    if address.scheme == "https":
        options |= {"use_ssl": True, "ca_certs": address.ca or None}
    return options


def _failure(error: OpenSearchException, secret_values: Collection[str]) -> client.Failure:
    """Convert a client's exception by the table above, or by the server's status and type."""
    for kind, name in EXCEPTIONS:
        if isinstance(error, kind):
            return client.Failure(0, name, redact_text(str(getattr(error, "error", error)), secret_values))
    if isinstance(error, TransportError) and isinstance(error.status_code, int):
        return client.build_failure(error.status_code, error.info, secret_values)
    return client.Failure(0, "", redact_text(str(error), secret_values))
