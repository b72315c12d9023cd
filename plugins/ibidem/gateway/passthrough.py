"""Every other path, where `IBIDEM_GATEWAY_PATHS` is `all`: it goes to the engine with the caller's own rights.

Where all indexes are open, requests and answers are streamed, byte for byte. Else documents alone can be read and
written, in the indexes that are open, and what is sent is written again from what was read.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from ibidem.gateway.dependencies import GatewayContext, cluster
from ibidem.gateway.document_paths import Sent, read_document_request
from ibidem.gateway.errors import HttpError
from ibidem.gateway.index_access import all_open
from ibidem.gateway.paths import own_path
from ibidem.gateway.search_routes import CLOSED, as_response, cancel_on_disconnect
from ibidem.gateway.signing.requests import Signing, chained
from ibidem.gateway.upstream import Upstream, forwarded, kept
from ibidem_workers.settings import Settings

NAMED = SimpleNamespace(path="/{path}")
"""What these requests are counted as."""


@dataclass(slots=True)
class Passthrough:
    """Answers what nothing else answers.

    Args:
        given: What every request may use.
    """

    given: GatewayContext

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request, settings = Request(scope, receive), self.given.settings
        scope["route"] = NAMED
        upstream = await cluster(request)
        if all_open(settings):
            await Streaming(request, upstream, settings, send, self.given.signing).run()
            return
        sent = read_document_request(request, await request.body(), settings)
        if self.given.signing is not None and sent.body is not None:
            sent = await signed(request.method, sent, sent.body, self.given.signing)
        answer = upstream.send(request.method, sent.target, sent.headers, sent.body)
        await as_response(await cancel_on_disconnect(request, answer))(scope, receive, send)


async def signed(method: str, sent: Sent, body: bytes, signing: Signing) -> Sent:
    """Sign the documents of a request that was read whole.

    Args:
        method: Its method.
        sent: The request.
        body: Its body.
        signing: Signs.
    """
    done = await signing.outgoing(method, sent.target, sent.headers, chained(body))
    return Sent(done.target, done.headers, b"".join([part async for part in done.body]))


class Streaming:
    """One request on its way to the engine, and the answer on its way back.

    Args:
        request: The request.
        upstream: The engine.
        settings: How long nothing may move.
        send: Sends to the client.
        signing: Signs the documents that it writes; None where they go on as they are.
    """

    def __init__(
        self, request: Request, upstream: Upstream, settings: Settings, send: Send, signing: Signing | None = None
    ) -> None:
        self._request = request
        self._upstream = upstream
        self._settings = settings
        self._send = send
        self._signing = signing
        self._clock = asyncio.timeout(settings.gateway_timeout)
        self._arrived = asyncio.Event()
        self._wrong: Exception | None = None

    async def run(self) -> None:
        """Send the request on, and its answer back."""
        doing, leaving = asyncio.ensure_future(self._exchange()), asyncio.ensure_future(self._left())
        try:
            await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise HttpError(CLOSED, "client_closed_request", "the client went away")
            doing.result()
        except TimeoutError as error:
            seconds = self._settings.gateway_timeout
            raise HttpError(
                504, "timeout_exception", f"nothing moved for {seconds} seconds", "IBIDEM_GATEWAY_TIMEOUT allows more"
            ) from error
        finally:
            leaving.cancel()
            doing.cancel()

    async def _exchange(self) -> None:
        scope, headers = self._request.scope, self._request.headers
        path = own_path(scope["raw_path"].decode("ascii"))
        if query := scope["query_string"].decode("ascii"):
            path = f"{path}?{query}"
        sent = [*forwarded(headers), *[(name, headers[name]) for name in ("content-length",) if name in headers]]
        has_body = "content-length" in headers or "transfer-encoding" in headers
        if not has_body:
            self._arrived.set()
        async with self._clock:
            body = self._body() if has_body else None
            if self._signing is not None and body is not None:
                signed = await self._signing.outgoing(self._request.method, path, sent, body)
                path, sent, body = signed.target, signed.headers, self._noted(signed.body)
            try:
                async with self._upstream.stream(self._request.method, path, sent, body) as answer:
                    if self._signing is not None:
                        self._signing.answered(self._request.method, path)
                    await self._answer(answer)
            except HttpError as error:
                raise self._wrong or error from error

    async def _answer(self, answer: aiohttp.ClientResponse) -> None:
        """Send the answer back as it comes."""
        headers = kept(answer.raw_headers)
        if "content-length" in answer.headers:
            headers.append(("content-length", answer.headers["content-length"]))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": raw})
        async for part in answer.content.iter_any():
            self._moved()
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _noted(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Give a body, and note what goes wrong with it: the HTTP library tells only that it could not send."""
        try:
            async for part in body:
                yield part
        except Exception as error:
            self._wrong = self._wrong or error
            raise

    async def _body(self) -> AsyncIterator[bytes]:
        """Give the request's body as it comes."""
        more = True
        while more:
            message = await self._next()
            self._moved()
            if part := message.get("body", b""):
                yield part
            more = message.get("more_body", False)
        self._arrived.set()

    async def _next(self) -> Message:
        """Wait for the next part of the body."""
        try:
            async with asyncio.timeout(self._settings.gateway_arrival):
                message = await self._request.receive()
        except TimeoutError as error:
            seconds = self._settings.gateway_arrival
            self._wrong = HttpError(408, "request_timeout_exception", f"no part of the body came for {seconds} seconds")
            raise self._wrong from error
        if message["type"] == "http.disconnect":
            self._wrong = HttpError(CLOSED, "client_closed_request", "the client went away")
            raise self._wrong
        return message

    def _moved(self) -> None:
        self._clock.reschedule(asyncio.get_running_loop().time() + self._settings.gateway_timeout)

    async def _left(self) -> None:
        """Return when the client has gone."""
        await self._arrived.wait()
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
