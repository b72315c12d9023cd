"""Read the whole body of a request before it takes a place from others."""

import asyncio

from starlette.types import Message, Receive

from ibidem.gateway.errors import HttpError
from ibidem.gateway.search_routes import CLOSED
from ibidem_workers.settings import Settings


async def arrived(receive: Receive, settings: Settings) -> Receive:
    """Read a body, and return what gives it at once, and then whatever the client does next.

    Args:
        receive: Gives what comes from the client.
        settings: How long a body may be, and may take.

    Raises:
        Answered: It is too long, came too slowly, or the client went away.
    """
    try:
        async with asyncio.timeout(settings.gateway_arrival):
            body = await whole(receive, settings)
    except TimeoutError as error:
        raise HttpError(
            408,
            "request_timeout_exception",
            f"the request's body did not arrive within {settings.gateway_arrival} seconds",
            "send it faster; IBIDEM_GATEWAY_ARRIVAL allows more",
        ) from error
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await receive()

    return replayed


async def whole(receive: Receive, settings: Settings) -> bytes:
    """Read a body to its end."""
    parts, read, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(CLOSED, "client_closed_request", "the client went away")
        parts.append(message.get("body", b""))
        read += len(parts[-1])
        if read > settings.gateway_body:
            raise too_long(settings)
        more = message.get("more_body", False)
    return b"".join(parts)


def too_long(settings: Settings) -> HttpError:
    """Say that a body is longer than it may be."""
    return HttpError(
        413,
        "content_too_long_exception",
        f"the request's body is longer than {settings.gateway_body:,} bytes",
        "send less; IBIDEM_GATEWAY_BODY allows more",
    )
