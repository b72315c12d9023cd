"""Streams of bytes out of plain and compressed files, of which only a piece is in memory at a time."""

import gzip
import io
import lzma
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 1 << 18
# A block of four bytes can stand for 128 KiB, so that this piece becomes 32 MiB at the very worst.
_ZSTD_PIECE = 1 << 10
# What `xz -9` asks for is 65 MiB; a header may ask for gigabytes.
_XZ_MEMORY = 256 << 20
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


class PiecesStream(io.RawIOBase):
    """What a compressed file holds, a piece at a time.

    Args:
        raw: The compressed bytes.
    """

    def __init__(self, raw: "io.BufferedReader[Any]") -> None:
        super().__init__()
        self._raw = raw
        self._ahead = b""
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer as far as the next piece goes; 0 at the end.

        Raises:
            EOFError: The file ends within a frame.
        """
        while not self._piece and self._advance():
            pass
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._piece))
        view[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size

    def _advance(self) -> bool:
        """Decompress the next piece, which may come to nothing; False at the end of the file."""
        raise NotImplementedError


class ZstdStream(PiecesStream):
    """What the frames of a zstd file hold.

    The library's own stream reader ends without a word where a file was cut; this one tells.
    """

    _frame: "zstandard.ZstdDecompressionObj | None" = None

    def _advance(self) -> bool:
        compressed = self._ahead or self._raw.read(_ZSTD_PIECE)
        if not compressed:
            if self._frame is not None:
                raise EOFError("the file ends within a frame")
            return False
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._piece = memoryview(frame.decompress(compressed))
        self._frame, self._ahead = (None, frame.unused_data) if frame.eof else (frame, b"")
        return True


class XzStream(PiecesStream):
    """What the streams of an xz file hold.

    The standard library's own reader takes as much memory as the file's header asks for; this one has a limit.
    """

    _stream: lzma.LZMADecompressor | None = None

    def _advance(self) -> bool:
        stream = self._stream or lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        if stream.needs_input:
            compressed = self._ahead or self._raw.read(_PIECE)
            self._ahead = b""
            if self._stream is None:
                compressed = compressed.lstrip(b"\0")  # four null bytes or more may separate two streams
            if not compressed:
                if self._stream is not None:
                    raise EOFError("the file ends within a stream")
                return bool(self._raw.peek(1))
        else:
            compressed = b""
        self._piece = memoryview(stream.decompress(compressed, _PIECE))
        self._stream, self._ahead = (None, stream.unused_data) if stream.eof else (stream, b"")
        return True


@contextmanager
def open_compressed(path: Path | None) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file that may be compressed; its suffix tells how, and where it has none, its first bytes.

    Args:
        path: The file; None is standard input.
    """
    if path is None:
        standard = io.BufferedReader(sys.stdin.buffer)  # type: ignore[type-var]  # whatever replaces it reads too
        try:
            yield _plain(standard, "")
        finally:
            standard.detach()
    else:
        with path.open("rb") as file:
            yield _plain(file, path.suffix.lower())


def _plain(file: "io.BufferedReader[Any]", suffix: str) -> "io.BufferedReader[Any]":
    """Decompress a file as its suffix or else its first bytes ask for."""
    start = file.peek(6)
    if suffix not in _MAGIC.values():
        suffix = next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), "")
    if suffix == ".gz" and start:
        return io.BufferedReader(gzip.GzipFile(fileobj=file), _PIECE)
    if suffix == ".xz" and start:
        return io.BufferedReader(XzStream(file), _PIECE)
    if suffix == ".zst":
        return io.BufferedReader(ZstdStream(file), _PIECE)
    return file
