"""JSON Lines, also compressed: one object in each line, each a document or a refusal of its own.

Of a compressed file only a piece is in memory at a time.
"""

import gzip
import io
import json
import lzma
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import zstandard

from ibidem_ingest.document import DEFAULT_LANGUAGE, Document, meta_fields, read_record
from ibidem_ingest.errors import Refusal, Refused, Unreadable, decoding_error, short_repr, translate_errors
from ibidem_ingest.readers.formats import Tally

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


_UNPACKED_PIECE = 1 << 18
# A block of four bytes can expand to 128 KiB, so that this piece becomes 32 MiB at worst.
_ZSTD_PIECE = 1 << 10
# `xz -9` needs 65 MiB; a header may ask for gigabytes.
_XZ_MEMORY = 256 << 20
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


class PiecesStream(io.RawIOBase):
    """The content of a compressed file, a piece at a time.

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
    """The content of the frames of a zstd file.

    The library's own stream reader ends silently where a file was cut off; this one raises an error.
    """

    _frame: "zstandard.ZstdDecompressionObj | None" = None

    def _advance(self) -> bool:
        data = self._ahead or self._raw.read(_ZSTD_PIECE)
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
            data = self._ahead or self._raw.read(_UNPACKED_PIECE)
            self._ahead = b""
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


@contextmanager
def open_compressed(path: Path | None) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file that may be compressed, as its suffix says, or without one its first bytes.

    Args:
        path: The file; None is standard input.
    """
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
    """Decompress a file as its suffix or else its first bytes ask for."""
    start = file.peek(6)
    if suffix not in _MAGIC.values():
        suffix = next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), "")
    if suffix == ".gz" and start:
        return io.BufferedReader(gzip.GzipFile(fileobj=file), _UNPACKED_PIECE)
    if suffix == ".xz" and start:
        return io.BufferedReader(XzStream(file), _UNPACKED_PIECE)
    if suffix == ".zst":
        return io.BufferedReader(ZstdStream(file), _UNPACKED_PIECE)
    return file


HEAD = 4_096
_PIECE = 1 << 16


def lines(stream: "io.BufferedReader[Any]", limit: int) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream into lines; of one that is over the limit, only the head is handed out and the rest is skipped.

    Args:
        stream: The bytes.
        limit: The most bytes that a line may have, its line break included.

    Yields:
        The line and whether it is whole.
    """
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line, True
        else:
            yield line[:HEAD], False
            while line and not line.endswith(b"\n"):
                line = stream.readline(_PIECE)


# Six bytes write any character of the basic plane (\uXXXX); the rest is for its other fields.
BYTES_A_CHARACTER = 6
BYTES_ASIDE = 1 << 16
BOM = b"\xef\xbb\xbf"
EMPTY = "it is empty; leave it out, or give one JSON object a line"

_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,512}"|\d{1,18})')


def read(
    path: Path | None, where: str, max_text: int, tally: Tally, language: str = DEFAULT_LANGUAGE
) -> Iterator[Document | Refusal]:
    """Read the documents of a file, compressed or not; empty lines are skipped.

    Args:
        path: The file; None is standard input.
        where: How the file is named to the user.
        max_text: The most characters that a text may have; a line that can hold more is skipped unread.
        tally: Where the fields that went into `meta` are counted.
        language: The language of a record that names none; empty where it is to be detected.
    """
    number = 0
    is_empty = True
    try:
        with translate_errors(), open_compressed(path) as stream:
            if stream.peek(len(BOM)).startswith(BOM):
                stream.read(len(BOM))
            for number, (line, is_whole) in enumerate(lines(stream, _limit(max_text)), 1):
                if not line.isspace():
                    is_empty = False
                    place = f"{where}:{number}"
                    if is_whole:
                        yield _read_line(line, place, max_text, tally, language)
                    else:
                        yield _length_refusal(line, place, max_text)
    except Unreadable as error:
        if number:
            yield Refusal(f"{where}:{number + 1}", "", "", f"nothing from here on can be read: {error.why}")
        else:
            yield Refusal(where, "", "", error.why)
    else:
        if is_empty:
            yield Refusal(where, "", "", EMPTY)


def _limit(max_text: int) -> int:
    return max_text * BYTES_A_CHARACTER + BYTES_ASIDE


def _read_line(line: bytes, where: str, max_text: int, tally: Tally, language: str) -> Document | Refusal:
    """Make a document of a line."""
    try:
        record = orjson.loads(line)
        document = read_record(record, where, max_text, language)
    except orjson.JSONDecodeError as error:
        return _not_json(line, where, max_text, error)
    except Refused as error:
        return error.refusal
    if names := meta_fields(record):
        tally.moved.update(names)
    return document


def _not_json(line: bytes, where: str, max_text: int, error: orjson.JSONDecodeError) -> Document | Refusal:
    """Return the fault of a line that is not JSON."""
    try:
        text = line.decode()
    except UnicodeDecodeError as decode_error:
        return Refusal(where, _leading_id(line), "", decoding_error(decode_error))
    if "surrogate" in error.msg:
        # The standard library lets lone surrogates through, so that the refusal can name the field.
        try:
            return read_record(json.loads(text), where, max_text)
        except Refused as rejection:
            return rejection.refusal
        except (ValueError, RecursionError):
            pass
    excerpt = short_repr(text[max(0, error.pos - 20) : error.pos + 20].strip())
    why = f"not JSON: {error.msg} (column {error.colno}, at {excerpt}); write one JSON object a line"
    return Refusal(where, _leading_id(line), "", why)


def _length_refusal(head: bytes, where: str, max_text: int) -> Refusal:
    why = (
        f"the line has more than {_limit(max_text):,} bytes, more than a text of {max_text:,} characters needs; split "
        "the document or raise IBIDEM_MAX_TEXT"
    )
    return Refusal(where, _leading_id(head), "text", why)


def _leading_id(line: bytes) -> str:
    """Read the id of a line that is not JSON where the line begins with it; an empty string where it does not."""
    match = _ID_FIRST.match(line)
    if match is None:
        return ""
    try:
        return str(orjson.loads(match[1]))
    except orjson.JSONDecodeError:
        return ""
