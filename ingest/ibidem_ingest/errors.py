"""Errors of all packages, in one tree; catching `IbidemError` catches all of them.

IbidemError
├── UsageError          an option, setting or request that is not valid   (exit code 2)
│   └── MissingDocument a document that is named and is not there
├── Refused             a document that cannot be taken; others go on          (exit code 3)
├── TableError          an idf table that is missing, damaged or too small
└── EngineError         in `ibidem_core.errors`: errors of a search engine
    ├── Unavailable     it may answer later: retried with backoff
    └── Permanent       it will answer the same again: never retried
        ├── NoIndex     the index is not there
        └── DamagedRecord a record next to the index is not as it was written

Values in messages are short and printable, with JSON's names for types. Errors of files and libraries are translated
into errors of ours by one table.
"""

import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class IbidemError(Exception):
    """Base of all errors of ibidem: what is wrong and where, and a remedy, which may be empty.

    >>> str(IbidemError("no index 'news'", "create it with: ibidem ingest PATH"))
    "no index 'news'; create it with: ibidem ingest PATH"
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        """Join `what` and `remedy`, which is a sentence of its own where `what` is one."""
        separator = " " if self.what.endswith(".") else "; "
        return f"{self.what}{separator}{self.remedy}" if self.remedy else self.what


class UsageError(IbidemError):
    """An invalid option, setting or request."""


class MissingDocument(UsageError):
    """The requested document does not exist."""


class TableError(IbidemError):
    """An idf table that is missing, damaged or too small."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why one document was refused, as a value that travels through queue and summary."""

    where: str  # the place it was read from: `news.jsonl:17`, `scan.pdf`, `message 3f…`
    id: str  # the document's id, or an empty string when it has none
    field: str  # the field at fault, or an empty string when it is the whole document
    why: str  # the fault, and what would be right


class Refused(IbidemError):
    """A document that cannot be ingested; the others are not affected."""

    def __init__(self, refusal: Refusal) -> None:
        document = f"document {refusal.id!r}" if refusal.id else ""
        field = f"field {refusal.field!r}" if refusal.field else ""
        subject = ", ".join(filter(None, (document, field)))
        super().__init__(": ".join(filter(None, (refusal.where, subject, refusal.why))))
        self.refusal = refusal


_MAX_LENGTH = 60


def short_repr(value: object) -> str:
    """Format a value for a message: short, and with unprintable characters escaped."""
    if isinstance(value, str):
        return repr(value) if len(value) <= _MAX_LENGTH else f"{value[:_MAX_LENGTH]!r}…"
    text = reprlib.repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


_KINDS: dict[type, str] = {type(None): "null", bool: "true or false", str: "a string"}
_KINDS |= {int: "a number", float: "a number", list: "a list", tuple: "a list"}


def kind(value: object) -> str:
    """Return the JSON type of a value."""
    return next((_KINDS[each] for each in type(value).__mro__ if each in _KINDS), "an object")


def printable(text: str) -> str:
    """Escape unprintable characters, so that no text can control a terminal."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


_DAMAGED = "its compressed data is damaged; fetch or create the file again"
_PASSWORD = 4


class Unreadable(Exception):
    """A file, the rest of it, or a field of a record cannot be read; it is reported as a refusal."""

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.why = reason
        self.field = field


def _pdf(error: BaseException) -> str:
    if getattr(error, "err_code", None) == _PASSWORD:
        return "it is encrypted; save it without a password first, for example with: qpdf --decrypt"
    return f"not a PDF, or damaged (PDFium: {error}); open and save it again, or leave it out"


def decoding_error(error: BaseException) -> str:
    """Return the error of bytes that are invalid in their encoding, with position and remedy."""
    if not isinstance(error, UnicodeDecodeError):
        return f"it cannot be decoded ({error}); convert it to UTF-8"
    encoding, byte = error.encoding.upper(), error.object[error.start]
    reason = f"not {encoding}: byte 0x{byte:02x} at offset {error.start:,}"
    return f"{reason}; if it is text, name its encoding (--encoding latin-1), or convert it: iconv -f LATIN1 -t UTF-8"


# By the package and the name of the error's class, so that no optional library is loaded to name its errors.
SENTENCES: dict[tuple[str, str], str | Callable[[BaseException], str]] = {
    ("zlib", "error"): _DAMAGED,
    ("_lzma", "LZMAError"): _DAMAGED,
    ("zstandard", "ZstdError"): _DAMAGED,
    ("builtins", "EOFError"): "its compressed data ends in the middle; fetch or create the file again",
    ("builtins", "OSError"): lambda error: (
        f"it cannot be read ({getattr(error, 'strerror', None) or error}); fix that, or leave it out"
    ),
    ("builtins", "UnicodeError"): decoding_error,
    ("pypdfium2", "PdfiumError"): _pdf,
    ("lxml", "LxmlError"): "it is not HTML; give its format with --format, or leave it out",
    ("builtins", "RecursionError"): "its elements are nested too deeply; save it as text first",
}


_NO_MEMORY = 2  # number of libxml2's error `XML_ERR_NO_MEMORY`, which lxml reports as one of syntax


@contextmanager
def translate_errors(file_kind: str = "") -> Iterator[None]:
    """Translate the errors of libraries inside the block into `Unreadable`; errors not in the table are not caught.

    With the kind of file that a library reads, any error but the system's (which has a number) says that it is damaged.
    """
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        if type(error).__module__.startswith("lxml.") and getattr(error, "code", 0) == _NO_MEMORY:
            raise MemoryError from error
        if file_kind and getattr(error, "errno", None) is None:
            reason = f"it is not a valid {file_kind} ({type(error).__name__}: {error}); save it again, or leave it out"
            raise Unreadable(reason) from error
        # The entry of the error's own class, else that of a base class.
        names = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__)
        sentence = next((SENTENCES[name] for name in names if name in SENTENCES), None)
        if sentence is None:
            raise
        raise Unreadable(sentence if isinstance(sentence, str) else sentence(error)) from error
