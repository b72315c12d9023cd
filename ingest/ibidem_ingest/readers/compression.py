"""Compressed files, read in pieces: data before a fault is returned first, then the fault is raised.

The readers of the standard library and of zstandard lose the lines before a cut, or end at it without a word.
"""

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import zstandard

from ibidem_ingest.errors import Unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_UNPACKED = 10_000_000_000
MAX_RATIO = 100  # bytes that a file may unpack into, and how many times its own size it may unpack into beyond these

_UNPACKED_PIECE = 1 << 18
_GZIP = 16 + zlib.MAX_WBITS
# `xz -9` needs 65 MiB; a header may ask for gigabytes, and the standard library's own reader takes them.
_XZ_MEMORY = 256 << 20

# Decompresses a member of a gzip file, a frame of a zstd file, or a stream of the others.
Unit: TypeAlias = (
    "zlib._Decompress | zstandard.ZstdDecompressionObj"  # noqa: SLF001 - it has no public name
    "| lzma.LZMADecompressor | bz2.BZ2Decompressor"
)
# For each suffix: what makes a unit, the bytes that are read at once, and what may fill the place between two units.
_UNITS: dict[str, tuple[Callable[[], Unit], int, bytes]] = {
    ".gz": (lambda: zlib.decompressobj(_GZIP), 1 << 14, b"\0"),  # the last block of a tape may be padded
    ".xz": (lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), _UNPACKED_PIECE, b"\0"),  # by four bytes or more
    # A block of four bytes can expand to 128 KiB, so that this piece becomes 32 MiB at worst.
    ".zst": (lambda: zstandard.ZstdDecompressor().decompressobj(), 1 << 10, b""),
    ".bz2": (bz2.BZ2Decompressor, 1 << 14, b""),
}
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst", b"BZh": ".bz2"}


def _unpack(raw: "io.BufferedReader[Any]", suffix: str) -> Iterator[bytes]:
    """Decompress a file in pieces, some of which are empty."""
    make, size, filling = _UNITS[suffix]
    limit: tuple[int, ...] = () if suffix == ".zst" else (_UNPACKED_PIECE,)
    unit: Unit | None = None
    ahead, packed, unpacked = b"", 0, 0
    while True:
        data, needs_input = ahead, getattr(unit, "needs_input", True)
        if needs_input and not data:
            data = raw.read(size)
            packed += len(data)
        if unit is None:
            data, ahead = data.lstrip(filling), b""
            if not data and raw.peek(1):
                continue
            if not data:
                return
            unit = make()
        piece = unit.decompress(data, *limit)
        if needs_input and not (data or piece or unit.eof):
            raise EOFError("the file ends in the middle")
        unpacked += len(piece)
        if unpacked > max(MAX_UNPACKED, MAX_RATIO * packed):
            raise Unreadable(
                f"it decompresses to more than {MAX_UNPACKED:,} bytes and more than {MAX_RATIO} times its size; if "
                "that is intended, decompress it first"
            )
        yield piece
        unit, ahead = (None, unit.unused_data) if unit.eof else (unit, getattr(unit, "unconsumed_tail", b""))


class PiecesStream(io.RawIOBase):
    """The content of a file, in pieces.

    Where they end by an error, the stream ends once, so that a buffer in front of it hands out what
    it has, and raises the error when it is read again.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._piece = memoryview(b"")
        self._fault: Exception | None = None

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer from the next piece; returns 0 at the end, or before a fault."""
        if self._fault is not None:
            raise self._fault
        try:
            self._piece = self._piece or memoryview(next(filter(None, self._pieces), b""))
        except Exception as error:  # noqa: BLE001 - raised with the next call
            self._fault = error
            return 0
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._piece))
        view[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size


@contextmanager
def open_compressed(path: Path | None) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file that may be compressed, according to its suffix, or its first bytes if it has none."""
    file: io.BufferedReader[Any] = io.BufferedReader(sys.stdin.buffer) if path is None else path.open("rb")
    try:
        start, suffix = file.peek(6), "" if path is None else path.suffix.lower()
        if suffix not in _UNITS:
            suffix = next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), "")
        is_plain = suffix not in _UNITS or not start
        yield file if is_plain else io.BufferedReader(PiecesStream(_unpack(file, suffix)), _UNPACKED_PIECE)
    finally:
        if path is None:
            file.detach()  # standard input stays open
        else:
            file.close()
