"""Limits of a message's size, compressed and decompressed: a few bytes from a stranger must not fill the memory."""

import json
import re
from typing import Any

import zstandard
from kombu import compression, serialization

from ibidem_workers.settings import Settings

COMPRESSION = "application/zstd"
"""What kombu calls zstd: the one compression that submitters use."""

LEVEL = 1
"""Of zstd: half the size, and four times as fast as the next that is much smaller."""

MOST_META = 16 << 20
"""Bytes of a record next to its text."""

MOST_STRUCTURE = 32 << 20
"""Bytes of a message outside its strings: `[],` is three bytes there and sixty-four in memory."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def most_of_record(settings: Settings) -> int:
    """Return the most bytes of one record as JSON, in which a character takes six at the most."""
    return 6 * settings.max_text + MOST_META


def most_of_message(settings: Settings) -> int:
    """Return the most bytes of a message's body, in which a character takes up to three times what a record's does."""
    return 3 * max(most_of_record(settings), 4 * settings.batch_characters) + MOST_META


def too_dense(data: bytes) -> bool:
    """Return whether JSON holds so much outside its strings that reading it would take many times its size.

    >>> too_dense(b'["' + b"[" * MOST_STRUCTURE + b'"]')
    False
    """
    return len(data) > MOST_STRUCTURE and len(_STRING.sub(b"", data)) > MOST_STRUCTURE


def compress(data: bytes) -> bytes:
    """Compress a message."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def unpacked(data: bytes, most: int) -> bytes:
    """Undo zstd, and never more than so many bytes of it.

    Raises:
        ValueError: It unpacks into more, is damaged or cut off, or something follows it.

    >>> unpacked(compress(b"We the People"), 13)
    b'We the People'
    """
    try:
        size = zstandard.frame_content_size(data)
        if size > most:
            raise ValueError(f"it unpacks into more than {most:,} bytes")
        if size < 0:
            raise ValueError("it does not say into how many bytes it unpacks")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)  # and never more than it says
    except zstandard.ZstdError as error:
        raise ValueError(f"its compression is damaged or cut off, or something follows it: {error}") from error


def register_compression(most: int) -> None:
    """Let Kombu pack messages as we do, and unpack those up to a size; its own zstd needs another library."""
    register: Any = compression.register  # kombu publishes no types for it
    register(compress, lambda data: unpacked(data, most), COMPRESSION, ["zstd"])


def bound(most: int) -> None:
    """Let this process unpack messages up to a size, and only those that are packed as submitters pack them."""
    register: Any = compression.register  # kombu publishes no types for it
    encoders: Any = compression.encoders
    for kind in encoders():
        register(_refuse, _refuse, kind)
    register_compression(most)
    # Kombu's own reading takes twice as long, and makes of some objects what their names say: times, decimals.
    read: Any = serialization.register
    read("json", None, json.loads, "application/json")


def _refuse(_: bytes) -> bytes:
    raise ValueError("no submitter packs messages in this way")
