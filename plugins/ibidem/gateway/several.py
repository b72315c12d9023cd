"""Several searches in one request: those that are grouped run side by side, the others go on together as they came."""

import asyncio

from ibidem.gateway.grouped import EngineRefused, Grouped, Json
from ibidem.gateway.native_lines import Line, Several
from ibidem.gateway.refusals import Answered, answered
from ibidem.native.surroundings import Surroundings
from ibidem_ingest.errors import IbidemError, UsageError

AT_ONCE = 4
"""Grouped searches of one request that run at the same time."""


async def all_of(work: Grouped, asked: Several, around: Surroundings) -> Json:
    """Answer several searches in their order, as `_msearch` does: one that fails harms no other.

    Args:
        work: Where they are sent.
        asked: The searches.
        around: What is remembered of the indexes.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    grouped = [one_of(work, line, around, turns) for line in asked.lines if not line.passes]
    passed, *own = await asyncio.gather(passed_on(work, asked), *grouped)
    left, made = iter(passed.get("responses", ())), iter(own)
    responses = [next(left if line.passes else made) for line in asked.lines]
    return {"took": max((each.get("took", 0) for each in responses), default=0), "responses": responses}


async def passed_on(work: Grouped, asked: Several) -> Json:
    """Send the searches that ask for no groups on together."""
    plain = [line.content for line in asked.lines if line.passes]
    return await work.send_lines(asked.path, asked.parameters, b"".join(plain)) if plain else {}


async def one_of(work: Grouped, line: Line, around: Surroundings, turns: asyncio.Semaphore) -> Json:
    """Answer one grouped search, or say what was wrong with it."""
    async with turns:
        try:
            if isinstance(line.request, UsageError | Answered):
                raise line.request
            return {**await work.search(line.request, around), "status": 200}
        except EngineRefused as refused:
            return {**refused.reply.json(), "status": refused.reply.status}
        except Answered as wrong:
            return wrong.as_json()
        except IbidemError as error:
            return answered(error).as_json()
