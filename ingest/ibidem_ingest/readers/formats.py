"""File formats: a table with their suffixes and optional libraries, and the options for reading them.

The encoding of a text is UTF-8, unless a byte order mark or the caller specifies another; it is never guessed.
"""

import codecs
import io
import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from importlib import import_module
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any, Literal, get_args

from ibidem_ingest.distribution import READER_REMEDY, TEXT_FORMATS, check_text_format, require_library
from ibidem_ingest.document import DEFAULT_LANGUAGE, language_code
from ibidem_ingest.errors import Unreadable, UsageError, short_repr
from ibidem_ingest.readers.compression import PiecesStream, open_compressed

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
        """Decode a text that is UTF-8 except for a few bytes."""
        try:
            return data.decode(), 0
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
            damage = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
            if self.strict or damage > max(1, len(data) // DAMAGE):
                raise
            return text, damage


UTF_8 = Decoding()


def _as_utf8(file: "io.BufferedReader[Any]", encoding: str) -> Iterator[bytes]:
    """Yield the content of a file in another encoding as UTF-8, in pieces."""
    decoder = codecs.lookup(encoding).incrementaldecoder()
    while data := file.read(_PIECE):
        yield decoder.decode(data).encode(errors="surrogatepass")
    file.peek(1)  # raises the fault that ended the file
    yield decoder.decode(b"", final=True).encode(errors="surrogatepass")


@contextmanager
def open_utf8(path: Path | None, encoding: str = "") -> Iterator["io.BufferedReader[Any]"]:
    """Open a text file, which may be compressed, as UTF-8 without a byte order mark."""
    with open_compressed(path) as file:
        start = file.peek(4)
        encoding = encoding or next((name for mark, name in MARKS.items() if start.startswith(mark)), "")
        if encoding and codecs.lookup(encoding).name not in {"utf-8", "utf-8-sig"}:
            yield io.BufferedReader(PiecesStream(_as_utf8(file, encoding)), _PIECE)
            return
        if start.startswith(codecs.BOM_UTF8):
            file.read(len(codecs.BOM_UTF8))
        yield file


class Format(StrEnum):
    """A file format: one document per line, or one per file."""

    JSONL = "jsonl"
    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "markdown"
    EML = "eml"
    MSG = "msg"
    MBOX = "mbox"
    DOCX = "docx"
    EPUB = "epub"
    CSV = "csv"


COMPRESSION_SUFFIXES = frozenset({".gz", ".xz", ".zst", ".bz2"})

# Formats that are compressed themselves, and are not read out of a compressed file.
PACKED = frozenset({Format.PDF, Format.DOCX, Format.EPUB})

SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson"), Format.JSONL),
    **dict.fromkeys((".txt", ".text"), Format.TEXT),
    **dict.fromkeys((".md", ".markdown"), Format.MARKDOWN),
    ".rst": Format.TEXT,
    ".eml": Format.EML,
    ".msg": Format.MSG,
    ".mbox": Format.MBOX,
    ".docx": Format.DOCX,
    ".epub": Format.EPUB,
    **dict.fromkeys((".csv", ".tsv"), Format.CSV),
    **dict.fromkeys((".html", ".htm", ".xhtml"), Format.HTML),
    ".pdf": Format.PDF,
}

# Mailboxes of Outlook, which no reader takes, by suffix, with what to do about them.
CONVERTED = {
    ".pst": "convert it: readpst -e -o FOLDER FILE (package pst-utils) writes its mails as .eml; then read that folder",
    ".ost": "export its mailbox as .pst, and convert that: readpst -e -o FOLDER FILE (package pst-utils) writes .eml",
}


def guess_format(name: str) -> Format | None:
    """Return the format of a file by its suffix, ignoring that of compression; None if unknown."""
    suffix = text_suffix(name)
    format_ = SUFFIXES.get(suffix)
    return None if format_ in PACKED and not name.lower().endswith(suffix) else format_


def text_suffix(name: str) -> str:
    """Return the suffix of a file in lower case, ignoring that of compression."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in COMPRESSION_SUFFIXES else path.suffix


ALL_SUFFIXES = "*"  # stands for the suffixes of all files


def parse_formats(value: str) -> dict[str, Format]:
    """Parse which suffixes are read in which formats."""
    formats: dict[str, Format] = {}
    for part in filter(None, map(str.strip, value.split(","))):
        suffix, is_named, name = part.rpartition("=")
        if is_named and suffix != ALL_SUFFIXES and PurePath(f"x{suffix}").suffix != suffix:
            raise UsageError(f"{short_repr(suffix)} is not a suffix", "write --format .log=text, or --format *=text")
        try:
            formats[suffix.lower()] = Format(name)
        except ValueError as error:
            raise UsageError(f"no format {short_repr(name)}", f"the formats are {', '.join(Format)}") from error
    return formats


# The libraries that formats need; the extra `readers` has them.
LIBRARIES = {
    **{Format(name): library for name, library in TEXT_FORMATS.items()},
    Format.PDF: "pypdfium2",
    Format.MSG: "olefile",
    Format.DOCX: "docx",
    Format.EPUB: "lxml",
}
_QUIET = logging.NullHandler()


def require(format_: Format) -> None:
    """Check that the library for a format is installed, if it needs one."""
    if format_ in LIBRARIES:
        require_library(LIBRARIES[format_], format_)


def load_library(format_: Format) -> ModuleType:
    try:
        library = import_module(LIBRARIES[format_])
    except ImportError as error:
        raise Unreadable(
            f"reading {format_} needs {LIBRARIES[format_]}, which is missing ({error}); {READER_REMEDY}"
        ) from error
    # It warns of every page without text, which is a refusal here; a program's own handlers still hear it.
    logging.getLogger(library.__name__).addHandler(_QUIET)
    return library


@dataclass(slots=True)
class Tally:
    """Counts that grow while documents are read."""

    # Top-level fields that went into `meta`, by name: in how many documents.
    moved: Counter[str] = field(default_factory=Counter)
    # Files in folders whose format is unknown, by suffix (`no suffix` without one), and links.
    skipped_files: Counter[str] = field(default_factory=Counter)
    # For each file with bytes outside its encoding, how many of them were replaced.
    damaged_bytes: Counter[str] = field(default_factory=Counter)
    unread_dates: int = 0  # documents that have no date since theirs cannot be read


DETECT = "detect"  # setting with which the language is detected from the text, where the document is signed

IdFrom = Literal["path", "name", "hash"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Options for reading files: formats, suffixes, identifiers."""

    # Which files are read in which formats, as `parse_formats` has it: `text`, or `.log=text`, or `*=text`; empty:
    # files without a known suffix are left alone.
    format: Format | str = ""
    follow_links: bool = False  # whether links in folders are followed, wherever they lead
    id_prefix: str = ""  # prefix of every id, so that equal file names of two folders give different ids
    # The id of a file's document: its path, as it was given or below the given folder; its name; or a hash of its text.
    id_from: IdFrom = "path"
    # That of documents that do not name theirs; `detect`: detected from their text when they are signed.
    language: str = DEFAULT_LANGUAGE
    text_column: str = ""  # the column of a table that holds the texts; empty: `text`
    encoding: str = ""  # encoding of all texts; empty: UTF-8, or what a byte order mark or a page says
    strict: bool = False  # whether a text is refused for a single byte that is not in its encoding
    text_format: str = ""  # format of the texts of records and tables: `html`, `markdown`; empty: plain text

    def __post_init__(self) -> None:
        """Validate the values that type checkers do not check."""
        parse_formats(self.format)
        Decoding(self.encoding)
        check_text_format(self.text_format)
        if self.id_from not in get_args(IdFrom):
            raise UsageError(f"no ids from {short_repr(self.id_from)}", f"they are from {', '.join(get_args(IdFrom))}")
        if self.language != (language_code(self.language) or DETECT):
            raise UsageError(f"{short_repr(self.language)} is not a language", "write a code of ISO 639-1: en, de, fr")

    @property
    def formats(self) -> dict[str, Format]:
        """Format by suffix; an empty suffix is for files without a known one, a star for all files."""
        return parse_formats(self.format)

    @property
    def decoding(self) -> Decoding:
        """How the bytes of a text are decoded into characters."""
        return Decoding(self.encoding, self.strict)

    def choose_format(self, name: str) -> Format | None:
        """Return the format in which a file is read; None if it is unknown."""
        formats = self.formats
        return formats.get(ALL_SUFFIXES) or formats.get(text_suffix(name)) or guess_format(name) or formats.get("")

    @property
    def default_language(self) -> str:
        """The language of documents that do not declare one; empty if it is to be detected."""
        return "" if self.language == DETECT else self.language


def encode_path(path: Path) -> str:
    """Return a full path without resolving links, as `printable` writes it."""
    return printable(os.path.abspath(path))  # noqa: PTH100 - links stay links


def printable(path: Path | str) -> str:
    """Return a path with escapes for bytes that are not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def text_hash(text: str) -> str:
    """Return an id from a text: 32 hex digits of BLAKE2b.

    >>> text_hash("We the People")
    '79af2f41f2e9bc3189050159afa952cf'
    """
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
