"""Lines of a body that arrives bit by bit: unpacked, and cut where a line ends."""

import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ibidem.gateway.bodies import GZIP
from ibidem.gateway.errors import HttpError

LONGEST = 16_000_000
"""Bytes of a line, or of a document alone, that can be signed; a longer one goes on as it comes."""

AT_ONCE = 256_000
"""Bytes that are unpacked at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a piece of one that is too long.

    Args:
        content: Its bytes, with the end of the line where it has one.
        whole: Whether it is all of a line.
    """

    content: bytes
    whole: bool = True


async def unpacked(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Undo gzip, of one member or several.

    Raises:
        HttpError: It is damaged, or broken off.
    """
    reader, begun = zlib.decompressobj(GZIP), False
    async for part in parts:
        left = part
        while left:
            if reader.eof:
                reader, begun = zlib.decompressobj(GZIP), False
            begun = True
            try:
                plain = reader.decompress(left, AT_ONCE)
            except zlib.error as error:
                raise HttpError(400, "parse_exception", f"the body is not gzip: {error}") from error
            left = reader.unconsumed_tail or reader.unused_data
            if plain:
                yield plain
    if begun and not reader.eof:
        raise HttpError(400, "parse_exception", "the body is broken off: it ends within its gzip")


async def lines(parts: AsyncIterator[bytes]) -> AsyncIterator[list[Line]]:
    """Cut a body into lines, as many at a time as have come.

    Args:
        parts: The body as it comes.
    """
    pending: list[bytes] = []
    held, too_long = 0, False
    async for part in parts:
        *ended, rest = part.split(b"\n")
        read: list[Line] = []
        for each in ended:
            pending.append(each)
            read.append(Line(b"".join(pending) + b"\n", not too_long))
            pending, held, too_long = [], 0, False
        pending.append(rest)
        held += len(rest)
        if held > LONGEST:
            read.append(Line(b"".join(pending), whole=False))
            pending, held, too_long = [], 0, True
        yield read
    if rest := b"".join(pending):
        yield [Line(rest, whole=False)]
