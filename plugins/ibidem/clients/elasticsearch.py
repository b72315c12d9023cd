"""Clients of Elasticsearch: `elasticsearch.Elasticsearch` and `elasticsearch.AsyncElasticsearch`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from elastic_transport import (
    ApiResponseMeta,
    HttpHeaders,
    JsonSerializer,
    NodeConfig,
    ObjectApiResponse,
    SerializerCollection,
)
from elasticsearch.exceptions import HTTP_EXCEPTIONS, ApiError
from typing_extensions import override

from ibidem.clients.wrap import (
    METADATA,
    AsyncSearchMixin,
    CapturedRequest,
    ClientAdapter,
    DedupeSearch,
    IgnoredStatus,
    SyncSearchMixin,
    capture_request,
    copy_client,
    format_parameter,
    metadata_cache,
    read_fast,
    request_json,
)
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.client import JSON, LINES, Failure
from ibidem_engines.requests import ApiRequest

OTHERS = ("api_key", "basic_auth", "bearer_auth", "headers")
"""Options with which another user may ask."""


class ElasticsearchAdapter(ClientAdapter):
    """Speaks through `perform_request`, as each method of the client does."""

    meta = ApiResponseMeta(0, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "", 0))

    @override
    def start(self, ask: ApiRequest) -> Any:
        client = self.client.options(ignore_status=ask.passed_over) if ask.passed_over else self.client
        if ask.packed:
            client = copy_client(client)
            client._transport = read_fast(client.transport, "serializers", reads_json_plainly)  # noqa: SLF001 - read-only
        headers = {**self.request.headers, "accept": JSON, "content-type": JSON if ask.lines is None else LINES}
        return client.perform_request(ask.method, ask.path, params=ask.params, headers=headers, body=request_json(ask))

    @override
    def read(self, ask: ApiRequest, answer: Any) -> Any:
        self.meta = answer.meta
        if self.meta.status < 300:
            return answer.body
        if self.meta.status in ask.passed_over:
            return {}
        raise IgnoredStatus(answer)

    @override
    def dump(self, body: Any) -> str | bytes:
        text: str | bytes = self.client.transport.serializers.dumps(body, JSON)
        return text

    @override
    def params(self) -> dict[str, str]:
        return {name: format_parameter(value) for name, value in self.request.params.items()}

    @override
    def exception(self, failure: Failure) -> Exception:
        body = {"error": {"type": failure.kind, "reason": failure.reason}, "status": failure.status}
        meta = replace(self.meta, status=failure.status)
        return HTTP_EXCEPTIONS.get(failure.status, ApiError)(message=failure.kind, meta=meta, body=body)

    @override
    def to_response(self, answer: Json) -> Any:
        return ObjectApiResponse(body=answer, meta=self.meta)


def reads_json_plainly(decoders: Any) -> bool:
    """Return whether a client reads JSON as the library does."""
    return type(decoders) is SerializerCollection and all(
        getattr(type(each), name, None) is getattr(JsonSerializer, name)
        for mimetype, each in decoders.serializers.items()
        for name in ("loads", "json_loads")
        if mimetype.endswith("json") and "ndjson" not in mimetype
    )


class ElasticsearchSearch(DedupeSearch):
    """Base of both clients of Elasticsearch."""

    _speaker = ElasticsearchAdapter

    def options(self, **arguments: Any) -> Any:
        """Give the same client with other options; what it knows of indexes goes along, but to no other user."""
        client = super().options(**arguments)  # type: ignore[misc] # the client's own, which follows
        if not any(name in arguments for name in OTHERS):
            client.__dict__[METADATA] = metadata_cache(self)
        return client


class DedupeElasticsearch(ElasticsearchSearch, SyncSearchMixin):
    """Stands before `Elasticsearch`."""

    def _would_send(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> CapturedRequest:
        twin = copy_client(self)
        twin.perform_request = _capture
        return capture_request(super(SyncSearchMixin, twin).search(*args, **options))  # type: ignore[misc] # the client's own


class AsyncDedupeElasticsearch(ElasticsearchSearch, AsyncSearchMixin):
    """Stands before `AsyncElasticsearch`."""

    def _would_send(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> CapturedRequest:
        twin = copy_client(self)
        twin.perform_request = _sent_waiting
        return capture_request(super(AsyncSearchMixin, twin).search(*args, **options))  # type: ignore[misc] # the client's own


def _capture(
    method: str,
    path: str,
    *,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    **_: Any,
) -> CapturedRequest:
    del method
    return CapturedRequest(path, params or {}, headers or {}, body)


async def _sent_waiting(method: str, path: str, **arguments: Any) -> CapturedRequest:
    return _capture(method, path, **arguments)
