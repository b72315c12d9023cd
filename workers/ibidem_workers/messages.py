"""Format of task messages: checks size, compression, headers and arguments, and refuses foreign messages.

It is refused before Celery acts on it, since foreign headers could ask Celery for a schedule, a time limit or other
tasks, and before it is decompressed without bound: a few foreign bytes must not fill the memory.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import zstandard
from kombu import compression, serialization
from kombu.message import Message

from ibidem_core.settings import Settings

COMPRESSION = "application/zstd"  # kombu's name of zstd, the one compression that submitters use

LEVEL = 1  # level of zstd: half the size, and four times as fast as the next level that is much smaller

MAX_META = 16 << 20  # bytes of a record next to its text

MAX_STRUCTURE = 32 << 20  # bytes of a message outside its strings: `[],` is three bytes there and sixty-four in memory

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def most_of_record(settings: Settings) -> int:
    """Return the maximum size of a record as JSON, in bytes; a character takes up to six."""
    return 6 * settings.max_text + MAX_META


def most_of_message(settings: Settings) -> int:
    """Return the maximum size of a message body in bytes, derived from the maximum size of a record."""
    return 3 * max(most_of_record(settings), 4 * settings.batch_characters) + MAX_META


def too_dense(data: bytes) -> bool:
    """Return whether JSON has so many tokens outside strings that parsing would need many times its size.

    >>> too_dense(b'["a", ["b"]]')
    False
    """
    return len(data) > MAX_STRUCTURE and len(_STRING.sub(b"", data)) > MAX_STRUCTURE


def compress(data: bytes) -> bytes:
    """Compress a message."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(data: bytes, limit: int) -> bytes:
    """Decompress zstd, up to a maximum size.

    >>> decompress(compress(b"We the People"), 13)
    b'We the People'
    """
    try:
        size = zstandard.frame_content_size(data)
        if size > limit:
            raise ValueError(f"it decompresses to more than {limit:,} bytes")
        if size < 0:
            raise ValueError("it does not say its decompressed size")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)  # and never more than it says
    except zstandard.ZstdError as error:
        raise ValueError(f"its compression is damaged or cut off, or something follows it: {error}") from error


def register_compression(limit: int) -> None:
    """Register our zstd with Kombu, with a maximum size; Kombu's own version needs another library."""
    register: Any = compression.register  # kombu publishes no types for it
    register(compress, lambda data: decompress(data, limit), COMPRESSION, ["zstd"])


def restrict_serializers(limit: int) -> None:
    """Limit which messages this process decompresses and parses: by size, and by format."""
    register: Any = compression.register  # kombu publishes no types for it
    encoders: Any = compression.encoders
    for kind in encoders():
        register(_refuse, _refuse, kind)
    register_compression(limit)
    # Kombu's own parser takes twice as long, and turns objects with certain names into times and decimals.
    read: Any = serialization.register
    read("json", None, json.loads, "application/json")


def _refuse(_: bytes) -> bytes:
    raise ValueError("no submitter compresses messages in this way")


AGAIN = "ibidem-again"  # header of a batch that was sent before, and may have been worked on

# Headers that hold a name or a text; any other one of Celery's is empty in a submitter's message.
NAMES = frozenset({"task", "id", "lang", "origin", "root_id", "parent_id", "argsrepr", "kwargsrepr"})

# Values of other headers.
EXPECTED = (
    *(("compression", COMPRESSION), ("timelimit", [None, None])),
    *((name, True) for name in ("ignore_result", "redelivered", AGAIN)),
)

FOR_BROKERS = "x-"  # prefix of headers that brokers add and Celery ignores

MAX_NUMBER = 10**12

_RUN = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def check(message: Message, limit: int) -> None:
    """Refuse a foreign message."""
    _check_headers(message.headers)
    body = message.body.encode() if isinstance(message.body, str) else message.body
    if len(body) > limit:
        raise ValueError(f"it has {len(body):,} bytes, at most {limit:,} are allowed")
    if too_dense(body):
        raise ValueError("it contains far more lists or numbers than any document")
    arguments, keywords, embed = message.payload
    if keywords or any(embed.values()):
        raise ValueError("it has arguments that its task does not take")
    _check_arguments(*arguments)


def _check_headers(headers: Mapping[str, object]) -> None:
    for name, value in headers.items():
        if name in NAMES:
            fine = value is None or isinstance(value, str)
        else:
            fine = not value or name.startswith(FOR_BROKERS) or (name, value) in EXPECTED
        if not fine:
            raise ValueError(f"unexpected header {name!r}")


def _check_arguments(run: object, number: object, records: object) -> None:
    if not isinstance(run, str) or not _RUN.fullmatch(run) or run == "run":  # "run" is the key of the runs themselves
        raise ValueError("it does not name its run")
    if not _is_count(number, MAX_NUMBER):
        raise ValueError("it does not have a number in its run")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("it contains no documents")


def _is_count(value: object, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit
