"""Table of the formats that can be read, their suffixes and their optional libraries; the tally of what was read."""

import logging
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from types import ModuleType

from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.error_map import Unreadable
from ibidem_ingest.short_repr import short_repr


class Format(StrEnum):
    """What a file holds: many documents, one in each line, or one document."""

    JSONL = "jsonl"
    TEXT = "text"
    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "markdown"
    RST = "rst"
    EML = "eml"
    MBOX = "mbox"
    DOCX = "docx"
    EPUB = "epub"
    CSV = "csv"


COMPRESSED = frozenset({".gz", ".xz", ".zst"})
SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".rst": Format.RST,
    ".eml": Format.EML,
    ".mbox": Format.MBOX,
    ".docx": Format.DOCX,
    ".epub": Format.EPUB,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".pdf": Format.PDF,
}


def format_of(name: str) -> Format | None:
    """Tell the format of a file from its suffix; None when that says nothing. Only JSON Lines may be compressed.

    >>> format_of("news.jsonl.xz"), format_of("page.HTM"), format_of("LICENSE"), format_of("scan.pdf.gz")
    (<Format.JSONL: 'jsonl'>, <Format.HTML: 'html'>, None, None)
    """
    path = PurePath(name.lower())
    if path.suffix not in COMPRESSED:
        return SUFFIXES.get(path.suffix)
    return Format.JSONL if SUFFIXES.get(PurePath(path.stem).suffix) is Format.JSONL else None


def format_named(name: Format | str | None) -> Format | None:
    """Parse the value of `--format`; None stands for telling by the suffix.

    Raises:
        UsageError: No such format; the right ones are listed.
    """
    if name is None:
        return None
    try:
        return Format(name)
    except ValueError as error:
        raise UsageError(f"no format {short_repr(name)}", f"the formats are {', '.join(Format)}") from error


LIBRARIES = {
    Format.HTML: "trafilatura",
    Format.PDF: "pypdfium2",
    Format.MARKDOWN: "markdown_it",
    Format.DOCX: "docx",
    Format.EPUB: "lxml",
}
_QUIET = logging.NullHandler()
REMEDY = "install it, from a copy of the repository, with: pip install '.[readers]'"


def require(format_: Format) -> None:
    """Make sure, before anything is read, that the library for a format is installed.

    Raises:
        UsageError: It is not; names the command that installs it.
    """
    library = LIBRARIES.get(format_)
    if library is not None and find_spec(library) is None:
        raise UsageError(f"reading {format_} needs {library}, which is not installed", REMEDY)


def library_for(format_: Format) -> ModuleType:
    """Load the library for a format.

    Raises:
        Unreadable: It is not installed; names the command that installs it.
    """
    try:
        library = import_module(LIBRARIES[format_])
    except ImportError as error:
        raise Unreadable(
            f"reading {format_} needs {LIBRARIES[format_]}, which is missing ({error}); {REMEDY}"
        ) from error
    # It warns of every page without text, which is a refusal here; a program's own handlers still hear it.
    logging.getLogger(library.__name__).addHandler(_QUIET)
    return library


@dataclass(slots=True)
class Tally:
    """Counts that grow while documents are read.

    Args:
        moved: Top-level fields that went into `meta`, by name: in how many documents.
        passed_over: Files in folders that no reader takes, by suffix (`no suffix` where there is none), and links: how
            many.
    """

    moved: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
