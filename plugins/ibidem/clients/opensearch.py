"""Clients of OpenSearch: `opensearchpy.OpenSearch` and `opensearchpy.AsyncOpenSearch`."""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import HTTP_EXCEPTIONS, TransportError
from opensearchpy.serializer import Deserializer, JSONSerializer
from typing_extensions import override

from ibidem.clients.adapter import (
    CapturedRequest,
    ClientAdapter,
    IgnoredStatus,
    capture_request,
    format_parameter,
    request_json,
)
from ibidem.clients.fast_json import read_fast
from ibidem.clients.wrapper import AsyncClient, SyncClient
from ibidem.grouped_search.dsl.msearch import error_json
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.client import JSON, LINES, Failure
from ibidem_engines.requests import ApiRequest

CLIENT_S_OWN = ("request_timeout", "timeout", "ignore")  # parameters that the client takes for itself


class OpenSearchAdapter(ClientAdapter):
    """Sends requests through the transport, as each method of the client does."""

    @override
    @classmethod
    def capture(cls, client: Any, method: str, arguments: Mapping[str, Any]) -> CapturedRequest:
        twin = copy.copy(client)
        kind = _AsyncCapturingTransport if isinstance(client, AsyncOpenSearch) else _CapturingTransport
        twin.transport = kind(client.transport.serializer)
        return capture_request(getattr(twin, method)(**arguments))

    @override
    def start(self, request: ApiRequest) -> Any:
        client_options = {name: self.request.params[name] for name in CLIENT_S_OWN if name in self.request.params}
        headers = {**self.request.headers, "content-type": JSON if request.lines is None else LINES}
        statuses = client_options.get("ignore", ())
        client_options["ignore"] = (*([statuses] if isinstance(statuses, int) else statuses), *request.ok_statuses)
        body, transport = request_json(request), self.client.transport
        if request.packed:
            transport = read_fast(transport, "deserializer", reads_json_plainly)
        return transport.perform_request(
            request.method, request.path, params={**request.params, **client_options}, headers=headers, body=body
        )

    @override
    def read(self, request: ApiRequest, answer: Any) -> Any:
        if not isinstance(answer, Mapping) or "error" not in answer:
            return answer
        if answer.get("status") in request.ok_statuses:
            return {}
        raise IgnoredStatus(answer)

    @override
    def dump(self, body: Any) -> str | bytes:
        text: str | bytes = self.client.transport.serializer.dumps(body)
        return text

    @override
    def params(self) -> dict[str, str]:
        params = {name: value for name, value in self.request.params.items() if name not in CLIENT_S_OWN}
        return {name: format_parameter(value) for name, value in params.items()}

    @override
    def exception(self, failure: Failure) -> Exception:
        body = {"error": {"type": failure.kind, "reason": failure.reason}, "status": failure.status}
        return HTTP_EXCEPTIONS.get(failure.status, TransportError)(failure.status, failure.kind, body)

    @override
    def error_answer(self, error: Exception) -> Json | None:
        if not isinstance(error, TransportError) or not isinstance(error.status_code, int):
            return None
        if isinstance(error.info, Mapping):
            return {**error.info, "status": error.status_code}
        return error_json(error.status_code, "exception", str(error.error))

    @override
    def to_response(self, answer: Json) -> Any:
        return answer


def reads_json_plainly(decoders: Any) -> bool:
    """Return whether a client parses JSON with the default parser."""
    return type(decoders) is Deserializer and (
        getattr(type(decoders.serializers.get(JSON)), "loads", None) is JSONSerializer.loads
    )


class DedupeOpenSearch(SyncClient):
    """Wrapped `OpenSearch`."""

    adapter: ClassVar[type[ClientAdapter]] = OpenSearchAdapter


class AsyncDedupeOpenSearch(AsyncClient):
    """Wrapped `AsyncOpenSearch`."""

    adapter: ClassVar[type[ClientAdapter]] = OpenSearchAdapter


class _CapturingTransport:
    """Captures a request instead of sending it."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer

    def perform_request(
        self, method: str, url: str, params: Any = None, headers: Any = None, body: Any = None
    ) -> CapturedRequest:
        del method
        return CapturedRequest(url, params or {}, headers or {}, body)


class _AsyncCapturingTransport(_CapturingTransport):
    async def perform_request(self, *args: Any, **arguments: Any) -> CapturedRequest:  # type: ignore[override] # awaited
        return super().perform_request(*args, **arguments)
