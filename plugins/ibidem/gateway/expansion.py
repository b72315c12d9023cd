"""Limit on the expansion of a compressed, streamed body, so that a small body cannot occupy the engine."""

import asyncio
import zlib

from ibidem.gateway.errors import HttpError
from ibidem.gateway.search_request import GZIP

MAX_RATIO = 100  # times its own length that a packed body may unpack to; JSON of real documents reaches 20

AT_ONCE = 256_000  # bytes that are unpacked before other requests have their turn


class Expansion:
    """Counts the uncompressed size of a body, member by member, without storing it."""

    def __init__(self, encoding: str, allowed: int) -> None:
        way = encoding.strip().lower() or "identity"
        if way not in ("identity", "gzip"):
            raise HttpError(
                415, "media_type_header_exception", f"content encoding {way!r} is not accepted here", "send gzip"
            )
        self._reader = zlib.decompressobj(GZIP) if way == "gzip" else None
        self._allowed = allowed
        self._packed = self._unpacked = 0

    async def count(self, part: bytes) -> None:
        """Count the next part of a body, before it is forwarded."""
        self._packed += len(part)
        while self._reader is not None and part:
            part = self._step(self._reader, part)
            limit = max(self._allowed, MAX_RATIO * self._packed)
            if self._unpacked > limit:
                raise HttpError(
                    413,
                    "content_too_long_exception",
                    f"the body decompresses to more than {MAX_RATIO} times its length and {self._allowed:,} bytes",
                    "send it in several requests, or uncompressed",
                )
            await asyncio.sleep(0)

    def _step(self, reader: "zlib._Decompress", part: bytes) -> bytes:
        """Decompress the next piece of a part, and return the rest of the part."""
        try:
            self._unpacked += len(reader.decompress(part, AT_ONCE))
        except zlib.error as error:
            raise HttpError(400, "parse_exception", f"the body is not gzip: {error}") from error
        if reader.eof:
            self._reader = zlib.decompressobj(GZIP)
            return reader.unused_data
        return reader.unconsumed_tail
