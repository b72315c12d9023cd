"""Actions of `_bulk`: read line by line, signed some at a time, and sent on in their order.

A body arrives bit by bit: it is unpacked, and cut where a line ends.
"""

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ibidem.gateway.errors import HttpError
from ibidem.gateway.search_request import GZIP
from ibidem.gateway.signing.writer import DocumentWriter, Outcome, Write

LONGEST = 16_000_000
"""Bytes of a line, or of a document alone, that can be signed; a longer one goes on as it comes."""

AT_ONCE = 256_000
"""Bytes that are unpacked at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a piece of one that is too long.

    Args:
        content: Its bytes, with the end of the line where it has one.
        is_whole: Whether it is all of a line.
    """

    content: bytes
    is_whole: bool = True


async def decompress(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Undo gzip, of one member or several.

    Raises:
        HttpError: It is damaged, or broken off.
    """
    reader, has_data = zlib.decompressobj(GZIP), False
    async for part in parts:
        left = part
        while left:
            if reader.eof:
                reader, has_data = zlib.decompressobj(GZIP), False
            has_data = True
            try:
                text = reader.decompress(left, AT_ONCE)
            except zlib.error as error:
                raise HttpError(400, "parse_exception", f"the body is not gzip: {error}") from error
            left = reader.unconsumed_tail or reader.unused_data
            if text:
                yield text
    if has_data and not reader.eof:
        raise HttpError(400, "parse_exception", "the body is broken off: it ends within its gzip")


async def lines(parts: AsyncIterator[bytes]) -> AsyncIterator[list[Line]]:
    """Cut a body into lines, as many at a time as have come.

    Args:
        parts: The body as it comes.
    """
    pending: list[bytes] = []
    size, too_long = 0, False
    async for part in parts:
        *heads, tail = part.split(b"\n")
        read: list[Line] = []
        for each in heads:
            pending.append(each)
            read.append(Line(b"".join(pending) + b"\n", not too_long))
            pending, size, too_long = [], 0, False
        pending.append(tail)
        size += len(tail)
        if size > LONGEST:
            read.append(Line(b"".join(pending), is_whole=False))
            pending, size, too_long = [], 0, True
        yield read
    if tail := b"".join(pending):
        yield [Line(tail, is_whole=False)]


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
        self._passes_through = False
        self._piece = False

    def take(self, line: Line) -> Iterator[Action]:
        """Take a line, and give what is complete."""
        if self._open is not None:
            action, self._open = self._open, None
            self._piece = not line.is_whole and not line.content.endswith(b"\n")
            yield Action(action.head, action.operation, action.meta, line.content) if line.is_whole else action
            if not line.is_whole:
                yield Action(line.content)
        elif self._piece:
            self._piece = not line.content.endswith(b"\n")
            yield Action(line.content)
        elif self._passes_through or not line.content.strip():
            yield Action(line.content)
        else:
            yield from self._begin(line)

    def _begin(self, line: Line) -> Iterator[Action]:
        action = read_action(line.content) if line.is_whole else None
        if action is None:
            self._passes_through = True
            yield Action(line.content)
        elif action.operation == "delete":
            yield action
        else:
            self._open = action

    def finish(self) -> Iterator[Action]:
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
            waiting.append(asyncio.ensure_future(_sign_batch(batch, default, writer)))
            if len(waiting) > AHEAD:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for each in waiting:
            each.cancel()


async def _batches(parts: AsyncIterator[bytes]) -> AsyncIterator[list[Action]]:
    reader, batch, size = ActionReader(), list[Action](), 0
    async for line_batch in lines(parts):
        for line in line_batch:
            batch.extend(reader.take(line))
            size += len(line.content)
            if size > BATCH:
                yield batch
                batch, size = [], 0
    batch.extend(reader.finish())
    yield batch


async def _sign_batch(batch: Sequence[Action], default: Mapping[str, Any], writer: DocumentWriter) -> bytes:
    """Sign a batch of actions, and write them again; lines that nothing changes in stay as they are."""
    writes = [Write.parse(each.operation, {**default, **each.meta}, each.body) for each in batch]
    outcomes = await writer.sign(writes)
    return b"".join(
        part for each, outcome in zip(batch, outcomes, strict=True) for part in _write_action(each, outcome)
    )


def _write_action(action: Action, outcome: Outcome) -> Iterator[bytes]:
    if outcome.meta:
        yield orjson.dumps({action.operation: {**action.meta, **outcome.meta}}) + b"\n"
    else:
        yield action.head
    yield action.body if outcome.body == action.body else outcome.body + b"\n"
