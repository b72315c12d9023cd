"""Clients of Elasticsearch: `elasticsearch.Elasticsearch` and `elasticsearch.AsyncElasticsearch`."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from types import MethodType
from typing import Any

import elastic_transport
from elasticsearch import AsyncElasticsearch
from elasticsearch.exceptions import HTTP_EXCEPTIONS, ApiError

from ibidem.clients.search import ClientAdapter, IgnoredStatus, failure_body, read_fast
from ibidem.grouped_search.dsl.search import error_json
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.client import Failure
from ibidem_engines.cluster.elasticsearch import ApiVersion, in_server_version
from ibidem_engines.requests import JSON, ApiRequest, run_async, run_sync


class ElasticsearchAdapter(ClientAdapter):
    """Sends requests through `perform_request`, as each method of the client does."""

    async_class = AsyncElasticsearch
    meta = elastic_transport.ApiResponseMeta(
        0, "1.1", elastic_transport.HttpHeaders(), 0.0, elastic_transport.NodeConfig("http", "", 0)
    )

    @classmethod
    def prepare(cls, client: Any, like: Any) -> Any:
        """Return a copy of a client whose methods send requests in an API version that its server accepts."""
        copied = copy_in_version(client, version_of(like))
        for name, part in vars(client).items():
            if getattr(part, "_client", None) is client:  # `indices` and similar parts keep a reference to their client
                setattr(copied, name, type(part)(copied))
        return copied

    def start(self, request: ApiRequest) -> Any:
        statuses = {"ignore_status": request.ok_statuses} if request.ok_statuses else {}
        options: dict[str, Any] = {**statuses, **self.timeout}
        client = self.client.options(**options) if options else self.client
        if options or request.packed:
            client = copy_in_version(client, version_of(self.client))
        if request.packed:
            client._transport = read_fast(client.transport, "serializers", reads_json_plainly)  # noqa: SLF001 - of our copy
        headers = {"accept": JSON, "content-type": request.content_type}
        return client.perform_request(
            request.method, request.path, params=request.params, headers=headers, body=request.payload
        )

    def read(self, request: ApiRequest, answer: Any) -> Any:
        self.meta = answer.meta
        if self.meta.status < 300:
            return answer.body
        if self.meta.status in request.ok_statuses:
            return {}
        raise IgnoredStatus(answer)

    def dump(self, body: Any) -> str | bytes:
        text: str | bytes = self.client.transport.serializers.dumps(body, JSON)
        return text

    def exception(self, failure: Failure) -> Exception:
        meta = replace(self.meta, status=failure.status)
        class_ = HTTP_EXCEPTIONS.get(failure.status, ApiError)
        return class_(message=failure.kind, meta=meta, body=failure_body(failure))

    def error_answer(self, error: Exception) -> Json | None:
        if not isinstance(error, ApiError):
            return None
        if isinstance(error.body, Mapping):
            return {**error.body, "status": error.status_code}
        return error_json(error.status_code, "exception", str(error.body))

    def to_response(self, answer: Json) -> Any:
        return elastic_transport.ObjectApiResponse(body=answer, meta=self.meta)


def reads_json_plainly(decoders: Any) -> bool:
    """Return whether a client parses JSON with the default parser."""
    return type(decoders) is elastic_transport.SerializerCollection and all(
        getattr(type(each), name, None) is getattr(elastic_transport.JsonSerializer, name)
        for mimetype, each in decoders.serializers.items()
        for name in ("loads", "json_loads")
        if mimetype.endswith("json") and "ndjson" not in mimetype
    )


VERSION = "ibidem_version"  # attribute of our copy of a client that holds the version of the API which its server takes


def version_of(client: Any) -> ApiVersion:
    """Return the API version that a client's server accepts, if known."""
    version: ApiVersion = vars(client).get(VERSION) or ApiVersion()
    return version


def copy_in_version(client: Any, version: ApiVersion) -> Any:
    """Return a copy of a client that sends its own requests in an API version that its server accepts."""
    copied = copy.copy(client)
    run = run_async if isinstance(client, AsyncElasticsearch) else run_sync
    vars(copied)[VERSION] = version
    copied.perform_request = in_server_version(version, MethodType(type(client).perform_request, copied), run)
    return copied
