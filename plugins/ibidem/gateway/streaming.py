"""Streaming: request body and response are forwarded byte for byte as they arrive.

A client has to send, and to take, at least `MIN_RATE` bytes a second, and what it packs may not grow without bounds.
The engine may take its time: only it knows how long it was asked to wait (`timeout=30s`, `wait_for_completion`), and a
client that no longer waits goes away.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

import aiohttp
from starlette.requests import Request
from starlette.types import Message, Send

from ibidem.gateway.errors import HttpError
from ibidem.gateway.expansion import Expansion
from ibidem.gateway.index_access import own_path
from ibidem.gateway.patience import MAX_WAIT_S
from ibidem.gateway.search_routes import CLOSED
from ibidem.gateway.upstream import Upstream, forward_headers, response_headers
from ibidem_core.settings import Settings

# Bytes a second that a client has to send or to take, on average over `IBIDEM_GATEWAY_ARRIVAL` seconds.
MIN_RATE = 1_000

Answer = TypeVar("Answer")


class Pace:
    """Minimum transfer rate of a client: each byte adds waiting time, and waiting uses it up."""

    def __init__(self, limit: float) -> None:
        self._limit = self._remaining = limit

    async def wait(self, work: Awaitable[Answer]) -> Answer:
        """Wait for the client, at most for the time that is left."""
        clock = asyncio.get_running_loop().time
        began = clock()
        async with asyncio.timeout(self._remaining):
            answer = await work
        self._remaining -= clock() - began
        return answer

    def earn(self, count: int) -> None:
        """Add waiting time for `count` transferred bytes."""
        self._remaining = min(self._limit, self._remaining + count / MIN_RATE)


class StreamedResponse:
    """One streamed request to the engine, and its streamed response."""

    def __init__(self, request: Request, upstream: Upstream, settings: Settings, send: Send) -> None:
        self._request = request
        self._upstream = upstream
        self._settings = settings
        self._send = send
        self._clock = asyncio.timeout(MAX_WAIT_S)
        self._pace = Pace(settings.gateway_arrival)
        self._expansion = Expansion(request.headers.get("content-encoding", ""), settings.gateway_body)
        self._arrived = asyncio.Event()
        self._error: Exception | None = None

    async def run(self) -> None:
        """Forward the request and its response."""
        label, leaving = asyncio.ensure_future(self._exchange()), asyncio.ensure_future(self._wait_for_disconnect())
        try:
            await asyncio.wait((label, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not label.done():
                raise HttpError(CLOSED, "client_closed_request", "the client disconnected")
            label.result()
        except TimeoutError as error:
            raise HttpError(
                504, "timeout_exception", f"no data was transferred for {MAX_WAIT_S:.0f} seconds"
            ) from error
        finally:
            leaving.cancel()
            label.cancel()

    async def _exchange(self) -> None:
        scope, headers = self._request.scope, self._request.headers
        path = own_path(scope["raw_path"].decode("ascii"))
        if query := scope["query_string"].decode("ascii"):
            path = f"{path}?{query}"
        engine_headers = [
            *forward_headers(headers),
            *[(name, headers[name]) for name in ("content-length",) if name in headers],
        ]
        has_body = "content-length" in headers or "transfer-encoding" in headers
        if not has_body:
            self._arrived.set()
        async with self._clock:
            body = self._body() if has_body else None
            try:
                async with self._upstream.stream(self._request.method, path, engine_headers, body) as answer:
                    await self._answer(answer)
            except HttpError as error:
                raise self._error or error from error

    async def _answer(self, answer: aiohttp.ClientResponse) -> None:
        """Forward the response as it arrives."""
        headers = response_headers(answer.raw_headers)
        if "content-length" in answer.headers:
            headers.append(("content-length", answer.headers["content-length"]))
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": answer.status, "headers": raw})
        async for part in answer.content.iter_any():
            self._reset_timeout()
            await self._deliver(part)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _deliver(self, part: bytes) -> None:
        """Send a part of the response; a client that reads too slowly is disconnected."""
        try:
            await self._pace.wait(self._send({"type": "http.response.body", "body": part, "more_body": True}))
        except TimeoutError as error:
            raise self._too_slow("takes the answer") from error
        self._pace.earn(len(part))

    async def _body(self) -> AsyncIterator[bytes]:
        """Yield the request's body as it arrives."""
        has_more = True
        while has_more:
            message = await self._receive()
            self._reset_timeout()
            if part := message.get("body", b""):
                self._pace.earn(len(part))
                await self._count(part)
                yield part
            has_more = message.get("more_body", False)
        self._arrived.set()

    async def _count(self, part: bytes) -> None:
        """Count the uncompressed size of a part of the body."""
        try:
            await self._expansion.count(part)
        except HttpError as error:
            self._error = error  # the HTTP library says only that it could not send
            raise

    async def _receive(self) -> Message:
        """Wait for the next part of the body."""
        try:
            message = await self._pace.wait(self._request.receive())
        except TimeoutError as error:
            self._error = self._too_slow("sends the body")
            raise self._error from error
        if message["type"] == "http.disconnect":
            self._error = HttpError(CLOSED, "client_closed_request", "the client disconnected")
            raise self._error
        return message

    def _too_slow(self, what: str) -> HttpError:
        seconds = self._settings.gateway_arrival
        reason = f"the client {what} at less than {MIN_RATE:,} bytes a second, over {seconds} seconds"
        return HttpError(408, "request_timeout_exception", reason, "IBIDEM_GATEWAY_ARRIVAL allows longer pauses")

    def _reset_timeout(self) -> None:
        self._clock.reschedule(asyncio.get_running_loop().time() + MAX_WAIT_S)

    async def _wait_for_disconnect(self) -> None:
        """Return once the client has disconnected."""
        await self._arrived.wait()
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
