"""Actions of `_bulk`: read line by line, signed some at a time, and sent on in their order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ibidem.gateway.signing.lines import Line, lines
from ibidem.gateway.signing.writer import DocumentWriter, Outcome, Write

BATCH = 400_000
"""Bytes of documents that are signed at once."""

AHEAD = 2
"""Batches of a request that are signed while the ones before them are sent."""

OPERATIONS = ("create", "delete", "index", "update")


@dataclass(frozen=True, slots=True)
class Action:
    """An action with its document, or lines that go on as they are.

    Args:
        head: The first line.
        operation: What it does; empty for lines that are not looked into.
        meta: What it says of the document.
        body: The second line; empty where there is none.
    """

    head: bytes
    operation: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    body: bytes = b""


class ActionReader:
    """Puts lines together into actions.

    What the engine would not understand goes on as it came, and so does all behind it: the engine refuses the whole.
    """

    def __init__(self) -> None:
        self._open: Action | None = None
        self._through = False
        self._piece = False

    def take(self, line: Line) -> Iterator[Action]:
        """Take a line, and give what is complete."""
        if self._open is not None:
            begun, self._open = self._open, None
            self._piece = not line.whole and not line.content.endswith(b"\n")
            yield Action(begun.head, begun.operation, begun.meta, line.content) if line.whole else begun
            if not line.whole:
                yield Action(line.content)
        elif self._piece:
            self._piece = not line.content.endswith(b"\n")
            yield Action(line.content)
        elif self._through or not line.content.strip():
            yield Action(line.content)
        else:
            yield from self._begun(line)

    def _begun(self, line: Line) -> Iterator[Action]:
        action = read_action(line.content) if line.whole else None
        if action is None:
            self._through = True
            yield Action(line.content)
        elif action.operation == "delete":
            yield action
        else:
            self._open = action

    def rest(self) -> Iterator[Action]:
        """Give what is left when no line comes any more."""
        if self._open is not None:
            yield Action(self._open.head)


def read_action(line: bytes) -> Action | None:
    """Read the first line of an action; None for what the engine does not understand.

    >>> read_action(b'{"index": {"_id": "a"}}').operation
    'index'
    """
    try:
        read = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(read, dict) or len(read) != 1:
        return None
    ((operation, meta),) = read.items()
    return Action(line, operation, meta) if operation in OPERATIONS and isinstance(meta, dict) else None


async def signed_bulk(
    parts: AsyncIterator[bytes], default: Mapping[str, Any], writer: DocumentWriter
) -> AsyncIterator[bytes]:
    """Sign the documents of a body as it comes; no more of it is held than some batches.

    Args:
        parts: The body.
        default: What path and query string say of each document.
        writer: Signs documents.
    """
    waiting: deque[asyncio.Future[bytes]] = deque()
    try:
        async for batch in _batches(parts):
            waiting.append(asyncio.ensure_future(_signed(batch, default, writer)))
            if len(waiting) > AHEAD:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for each in waiting:
            each.cancel()


async def _batches(parts: AsyncIterator[bytes]) -> AsyncIterator[list[Action]]:
    reader, batch, size = ActionReader(), list[Action](), 0
    async for some in lines(parts):
        for line in some:
            batch.extend(reader.take(line))
            size += len(line.content)
            if size > BATCH:
                yield batch
                batch, size = [], 0
    batch.extend(reader.rest())
    yield batch


async def _signed(batch: Sequence[Action], default: Mapping[str, Any], writer: DocumentWriter) -> bytes:
    """Sign a batch of actions, and write them again; lines that nothing changes in stay as they are."""
    writes = [Write.of(each.operation, {**default, **each.meta}, each.body) for each in batch]
    outcomes = await writer.sign(writes)
    return b"".join(part for each, done in zip(batch, outcomes, strict=True) for part in _again(each, done))


def _again(action: Action, done: Outcome) -> Iterator[bytes]:
    if done.named:
        yield orjson.dumps({action.operation: {**action.meta, **done.named}}) + b"\n"
    else:
        yield action.head
    yield action.body if done.body == action.body else done.body + b"\n"
