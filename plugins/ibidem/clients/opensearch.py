"""Clients of OpenSearch: `opensearchpy.OpenSearch` and `opensearchpy.AsyncOpenSearch`."""

from collections.abc import Mapping
from typing import Any

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import HTTP_EXCEPTIONS, TransportError
from opensearchpy.serializer import Deserializer, JSONSerializer

from ibidem.clients.search import ClientAdapter, IgnoredStatus, failure_body, read_fast
from ibidem.grouped_search.dsl.search import error_json
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.client import Failure
from ibidem_engines.requests import JSON, ApiRequest


class OpenSearchAdapter(ClientAdapter):
    """Sends requests through the transport, as each method of the client does."""

    async_class = AsyncOpenSearch

    def start(self, request: ApiRequest) -> Any:
        params: dict[str, Any] = {**request.params, "ignore": request.ok_statuses, **self.timeout}
        headers = {"content-type": request.content_type}
        transport, body = self.client.transport, request.payload
        if request.packed:
            transport = read_fast(transport, "deserializer", reads_json_plainly)
        return transport.perform_request(request.method, request.path, params=params, headers=headers, body=body)

    def read(self, request: ApiRequest, answer: Any) -> Any:
        if not isinstance(answer, Mapping) or "error" not in answer:
            return answer
        if answer.get("status") in request.ok_statuses:
            return {}
        raise IgnoredStatus(answer)

    def dump(self, body: Any) -> str | bytes:
        text: str | bytes = self.client.transport.serializer.dumps(body)
        return text

    def exception(self, failure: Failure) -> Exception:
        class_ = HTTP_EXCEPTIONS.get(failure.status, TransportError)
        return class_(failure.status, failure.kind, failure_body(failure))

    def error_answer(self, error: Exception) -> Json | None:
        if not isinstance(error, TransportError) or not isinstance(error.status_code, int):
            return None
        if isinstance(error.info, Mapping):
            return {**error.info, "status": error.status_code}
        return error_json(error.status_code, "exception", str(error.error))


def reads_json_plainly(decoders: Any) -> bool:
    """Return whether a client parses JSON with the default parser."""
    return type(decoders) is Deserializer and (
        getattr(type(decoders.serializers.get(JSON)), "loads", None) is JSONSerializer.loads
    )
