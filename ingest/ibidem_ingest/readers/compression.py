"""Compressed files, read in pieces: data before a fault is returned first, then the fault is raised.

The readers of the standard library and of zstandard lose the lines before a cut, or end at it without a word.
"""

import bz2
import io
import lzma
import sys
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from ibidem_ingest.errors import Unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_UNPACKED = 10_000_000_000
MAX_RATIO = 100  # bytes that a file may unpack into, and how many times its own size it may unpack into beyond these

_UNPACKED_PIECE = 1 << 18
_GZIP_PIECE = 1 << 14
# A block of four bytes can expand to 128 KiB, so that this piece becomes 32 MiB at worst.
_ZSTD_PIECE = 1 << 10
_GZIP = 16 + zlib.MAX_WBITS
# `xz -9` needs 65 MiB; a header may ask for gigabytes.
_XZ_MEMORY = 256 << 20
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst", b"BZh": ".bz2"}


class PiecesStream(io.RawIOBase):
    """The content of a compressed file, in pieces.

    Where the file cannot be unpacked any further, the stream ends once, so that a buffer in front of it hands out what
    it has, and raises the error when it is read again.
    """

    def __init__(self, raw: "io.BufferedReader[Any]") -> None:
        super().__init__()
        self._raw = raw
        self._ahead = b""
        self._piece = memoryview(b"")
        self._packed = self._unpacked = 0
        self._fault: Exception | None = None

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer from the next piece; returns 0 at the end, or before a fault."""
        if self._fault is not None:
            raise self._fault
        try:
            while not self._piece and self._advance():
                self._measure()
        except Exception as error:  # noqa: BLE001 - raised with the next call
            self._fault = error
            return 0
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._piece))
        view[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size

    def readall(self) -> bytes:
        """Read the rest; a fault is raised at once."""
        content = super().readall()
        if self._fault is not None:
            raise self._fault
        return content

    def _fetch(self, size: int) -> bytes:
        """Return compressed bytes: the unused rest of the last piece, else the next bytes of the file."""
        data, self._ahead = self._ahead, b""
        if not data:
            data = self._raw.read(size)
            self._packed += len(data)
        return data

    def _measure(self) -> None:
        self._unpacked += len(self._piece)
        if self._unpacked > max(MAX_UNPACKED, MAX_RATIO * self._packed):
            self._piece = memoryview(b"")
            raise Unreadable(
                f"it decompresses to more than {MAX_UNPACKED:,} bytes and more than {MAX_RATIO} times its size; if "
                "that is intended, decompress it first"
            )

    @abstractmethod
    def _advance(self) -> bool:
        """Decompress the next piece, which may be empty; returns False at the end of the file."""


class GzipStream(PiecesStream):
    """The content of the members of a gzip file."""

    _member: "zlib._Decompress | None" = None

    def _advance(self) -> bool:
        data = self._fetch(_GZIP_PIECE)
        if self._member is None:
            data = data.lstrip(b"\0")  # the last block of a tape may be padded with null bytes
            if not data:
                return bool(self._raw.peek(1))
        member = self._member or zlib.decompressobj(_GZIP)
        self._piece = memoryview(member.decompress(data, _UNPACKED_PIECE))
        if not data and not self._piece and not member.eof:
            raise EOFError("the file ends within a member")
        self._member, self._ahead = (None, member.unused_data) if member.eof else (member, member.unconsumed_tail)
        return True


class ZstdStream(PiecesStream):
    """The content of the frames of a zstd file."""

    _frame: "zstandard.ZstdDecompressionObj | None" = None

    def _advance(self) -> bool:
        data = self._fetch(_ZSTD_PIECE)
        if not data:
            if self._frame is not None:
                raise EOFError("the file ends within a frame")
            return False
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._piece = memoryview(frame.decompress(data))
        self._frame, self._ahead = (None, frame.unused_data) if frame.eof else (frame, b"")
        return True


class XzStream(PiecesStream):
    """The content of the streams of an xz file.

    The standard library's own reader takes as much memory as the file's header asks for; this one has a limit.
    """

    _stream: lzma.LZMADecompressor | None = None

    def _advance(self) -> bool:
        stream = self._stream or lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        if stream.needs_input:
            data = self._fetch(_UNPACKED_PIECE)
            if self._stream is None:
                data = data.lstrip(b"\0")  # four null bytes or more may separate two streams
            if not data:
                if self._stream is not None:
                    raise EOFError("the file ends within a stream")
                return bool(self._raw.peek(1))
        else:
            data = b""
        self._piece = memoryview(stream.decompress(data, _UNPACKED_PIECE))
        self._stream, self._ahead = (None, stream.unused_data) if stream.eof else (stream, b"")
        return True


class Bzip2Stream(PiecesStream):
    """The content of the streams of a bzip2 file."""

    _stream: bz2.BZ2Decompressor | None = None

    def _advance(self) -> bool:
        stream = self._stream or bz2.BZ2Decompressor()
        data = self._fetch(_GZIP_PIECE) if stream.needs_input else b""
        if stream.needs_input and not data:
            if self._stream is not None:
                raise EOFError("the file ends within a stream")
            return False
        self._piece = memoryview(stream.decompress(data, _UNPACKED_PIECE))
        self._stream, self._ahead = (None, stream.unused_data) if stream.eof else (stream, b"")
        return True


_STREAMS: Mapping[str, Callable[["io.BufferedReader[Any]"], PiecesStream]] = {
    ".gz": GzipStream,
    ".xz": XzStream,
    ".zst": ZstdStream,
    ".bz2": Bzip2Stream,
}


@contextmanager
def open_compressed(path: Path | None) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file that may be compressed, according to its suffix, or its first bytes if it has none."""
    if path is None:
        standard = io.BufferedReader(sys.stdin.buffer)  # type: ignore[type-var]  # a replacement has a buffer too
        try:
            yield _decompress(standard, "")
        finally:
            standard.detach()
    else:
        with path.open("rb") as file:
            yield _decompress(file, path.suffix.lower())


def _decompress(file: "io.BufferedReader[Any]", suffix: str) -> "io.BufferedReader[Any]":
    """Decompress a file according to its suffix, or else its first bytes."""
    start = file.peek(6)
    if suffix not in _STREAMS:
        suffix = next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), "")
    if suffix not in _STREAMS or not start:
        return file
    return io.BufferedReader(_STREAMS[suffix](file), _UNPACKED_PIECE)
