"""Error map: translates what files and libraries raise into errors of ours, by one table."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_DAMAGED = "its compressed data is damaged; fetch or create the file again"
_PASSWORD = 4


class Unreadable(Exception):
    """A file, or the rest of one, that cannot be read; its reader makes a refusal of it.

    Args:
        why: What was found and what would be right.
        field: The field at fault, or an empty string when the whole is.
    """

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.field = field


def _system(error: BaseException) -> str:
    return f"it cannot be read ({getattr(error, 'strerror', None) or error}); mend that, or leave it out"


def _pdf(error: BaseException) -> str:
    if getattr(error, "err_code", None) == _PASSWORD:
        return "it is encrypted; save it without a password first, for example with: qpdf --decrypt"
    return f"it is not a PDF, or a damaged one ({error}); open and save it again, or leave it out"


def decoding_error(error: BaseException) -> str:
    """Say where bytes are not in their encoding and what to do about it.

    Args:
        error: The `UnicodeDecodeError` that decoding raised.
    """
    if not isinstance(error, UnicodeDecodeError):
        return f"it cannot be decoded ({error}); convert it to UTF-8"
    encoding, byte = error.encoding.upper(), error.object[error.start]
    reason = f"not {encoding}: byte 0x{byte:02x} at offset {error.start:,}"
    return f"{reason}; if it is text, convert it, for example with: iconv -t UTF-8"


# By the package and the name of the error's class, so that no optional library is loaded to name its errors.
SENTENCES: dict[tuple[str, str], str | Callable[[BaseException], str]] = {
    ("gzip", "BadGzipFile"): _DAMAGED,
    ("zlib", "error"): _DAMAGED,
    ("_lzma", "LZMAError"): _DAMAGED,
    ("zstandard", "ZstdError"): _DAMAGED,
    ("builtins", "EOFError"): "its compressed data ends in the middle; fetch or create the file again",
    ("builtins", "OSError"): _system,
    ("builtins", "UnicodeError"): decoding_error,
    ("pypdfium2", "PdfiumError"): _pdf,
    ("lxml", "LxmlError"): "it is not HTML; give its format with --format, or leave it out",
    ("builtins", "RecursionError"): "its elements are nested too deeply; save it as text first",
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn what the libraries raise inside the block into `Unreadable`; what the table does not name passes."""
    try:
        yield
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        raise Unreadable(sentence if isinstance(sentence, str) else sentence(error)) from error


def _sentence(error: BaseException) -> str | Callable[[BaseException], str] | None:
    """Look an error up in the table, its own class first, then those it inherits from."""
    names = ((cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__)
    return next((SENTENCES[name] for name in names if name in SENTENCES), None)


@contextmanager
def unreadable_when_damaged(kind: str) -> Iterator[None]:
    """Turn whatever a library raises over a file that is not what it should be into `Unreadable`.

    Args:
        kind: What the file should be.
    """
    try:
        yield
    except (Unreadable, OSError, MemoryError):
        raise
    except Exception as error:
        why = f"it is no {kind}, or a damaged one ({type(error).__name__}: {error}); save it again, or leave it out"
        raise Unreadable(why) from error
