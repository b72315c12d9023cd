"""The formats that can be read, and the suffixes by which a file is known to be in one of them."""

from enum import StrEnum
from pathlib import PurePath

from ibidem_ingest.errors import UsageError
from ibidem_ingest.shown import shown


class Format(StrEnum):
    """What a file holds: many documents, one in each line, or one document."""

    JSONL = "jsonl"
    TEXT = "text"
    HTML = "html"
    PDF = "pdf"


COMPRESSED = frozenset({".gz", ".xz", ".zst"})
SUFFIXES = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".md": Format.TEXT,
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


def format_named(name: str | None) -> Format | None:
    """Parse the value of `--format`; None stands for telling by the suffix.

    Raises:
        UsageError: No such format; the right ones are listed.
    """
    if name is None:
        return None
    try:
        return Format(name)
    except ValueError as error:
        raise UsageError(f"no format {shown(name)}", f"the formats are {', '.join(Format)}") from error
