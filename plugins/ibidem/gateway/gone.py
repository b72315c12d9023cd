"""Clients that go away: what was begun for them is ended, and so is the engine's search."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import Request

from ibidem.gateway.refusals import Answered

Answer = TypeVar("Answer")

CLOSED = 499
"""The status that servers note for it; nobody reads it."""


async def unless_gone(request: Request, work: Coroutine[None, None, Answer]) -> Answer:
    """Do something for a client, and stop when he goes away or the time is over.

    Args:
        request: His request, its body read.
        work: What is done for him.

    Raises:
        Answered: He went away.
    """
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left(request))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise Answered(CLOSED, "client_closed_request", "the client went away")
    finally:
        leaving.cancel()
        doing.cancel()


async def left(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
