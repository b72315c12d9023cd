"""OpenSearch 2.19 and 3 through its official client, `opensearch-py`."""

from dataclasses import replace
from typing import Any

import opensearchpy
import orjson
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, SerializationError, SSLError, TransportError
from opensearchpy.serializer import JSONSerializer

from ibidem_core.address import Address
from ibidem_engines.cluster import client
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.requests import ApiRequest, JsonAnswer

DIALECT = client.Dialect(
    product="OpenSearch",
    min_version=(2, 19),
    point_path="/_search/point_in_time",
    open_whole={"allow_partial_pit_creation": "false"},
    point_id="pit_id",
    offset_limit="max_analyzer_offset",
)

# The client's exceptions for requests without an answer, the narrower first.
EXCEPTIONS: tuple[tuple[type[OpenSearchException], str], ...] = (
    (SSLError, client.CERTIFICATE),
    (ConnectionTimeout, client.TIMEOUT),
    (NoConnection, client.UNREACHABLE),
    (SerializationError, client.UNREADABLE),
)


class OpenSearchEngine(ClusterEngine):
    def __init__(self, address: Address, index: str) -> None:
        super().__init__(client.ClusterClient(address, DIALECT, OpenSearchTransport), index)


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

    def send(self, request: ApiRequest) -> object:
        request, headers = past_pipelines(request), {"content-type": request.content_type}
        try:
            answer: object = self.client.transport.perform_request(
                request.method, request.path, params=dict(request.params), body=request.payload, headers=headers
            )
        except OpenSearchException as error:
            secrets = self._address.secrets
            if isinstance(error, TransportError) and isinstance(error.status_code, int):
                raise client.build_failure(error.status_code, error.info, secrets) from error
            raise client.unanswered(error, EXCEPTIONS, str(getattr(error, "error", error)), secrets) from error
        return answer

    def close(self) -> None:
        self.client.close()


def past_pipelines(request: ApiRequest) -> ApiRequest:
    """Return a search that bypasses default search pipelines, which rewrite hits; in `_msearch` each second line."""
    part = {"search_pipeline": "_none"}
    if request.path.endswith("/_search"):
        return replace(request, body={**part, **(request.body or {})})
    if not request.path.endswith("/_msearch"):
        return request
    lines = enumerate(request.lines or ())
    return replace(request, lines=[{**part, **dict(line)} if at % 2 else line for at, line in lines])


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
