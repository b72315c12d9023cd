"""Encoding of text files: UTF-8, unless a byte order mark or the caller specifies another; it is never guessed."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.readers.compression import open_compressed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Byte order marks and their encodings besides UTF-8; that of UTF-32 begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

REPLACEMENT = "\ufffd"  # the character that stands for bytes that cannot be decoded (Unicode 15.0, 3.9)

DAMAGE = 1_000  # a text may have one damaged byte in this many, or one in all

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the bytes of text files become characters."""

    encoding: str = ""  # name of a codec of Python; empty: the byte order mark decides, else it is UTF-8
    strict: bool = False  # whether a file is refused for a single byte that is not in its encoding

    def __post_init__(self) -> None:
        """Look up the codec."""
        try:
            "a".encode(self.encoding or "utf-8")
        except (LookupError, ValueError) as error:
            remedy = "name one such as utf-8, latin-1, cp1252, utf-16, shift_jis, gb18030"
            raise UsageError(f"{short_repr(self.encoding)} is not an encoding of texts", remedy) from error

    def decode(self, data: bytes) -> tuple[str, int]:
        r"""Decode a text that is UTF-8 except for a few bytes.

        >>> Decoding().decode(b"the caf\xe9 is open")
        ('the caf\ufffd is open', 1)
        """
        try:
            return data.decode(), 0
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
            damage = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
            if self.strict or damage > max(1, len(data) // DAMAGE):
                raise
            return text, damage


UTF_8 = Decoding()


class Utf8Stream(io.RawIOBase):
    """The content of a file in another encoding, as UTF-8."""

    def __init__(self, raw: "io.BufferedReader[Any]", encoding: str) -> None:
        super().__init__()
        self._raw = raw
        self._decoder = codecs.lookup(encoding).incrementaldecoder()
        self._rest = b""

    def readable(self) -> bool:
        """Return True: the stream is readable."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer from the next piece; returns 0 at the end."""
        while not self._rest:
            data = self._raw.read(_PIECE)
            self._rest = self._decoder.decode(data, final=not data).encode(errors="surrogatepass")
            if not data:
                break
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._rest))
        view[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@contextmanager
def open_utf8(path: Path | None, encoding: str = "") -> Iterator["io.BufferedReader[Any]"]:
    """Open a text file, which may be compressed, as UTF-8 without a byte order mark."""
    with open_compressed(path) as file:
        start = file.peek(4)
        encoding = encoding or next((name for mark, name in MARKS.items() if start.startswith(mark)), "")
        if encoding and codecs.lookup(encoding).name not in {"utf-8", "utf-8-sig"}:
            yield io.BufferedReader(Utf8Stream(file, encoding), _PIECE)
            return
        if start.startswith(codecs.BOM_UTF8):
            file.read(len(codecs.BOM_UTF8))
        yield file
