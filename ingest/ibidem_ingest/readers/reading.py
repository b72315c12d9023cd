"""From paths to documents: every file by the reader for its format, one document after the other."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ibidem_ingest.document import MAX_TEXT, Document, read_record
from ibidem_ingest.errors import Refusal, Refused
from ibidem_ingest.readers.apart import SECONDS, Apart
from ibidem_ingest.readers.foreign import Unreadable
from ibidem_ingest.readers.formats import Format, format_named
from ibidem_ingest.readers.jsonl import read as lines_of
from ibidem_ingest.readers.sources import Source, check, sources
from ibidem_ingest.readers.tally import Tally
from ibidem_ingest.readers.text import record_of as text_record


def read(  # noqa: PLR0913 - what a command may say, each by its name
    paths: Sequence[str | Path],
    format: str | None = None,  # noqa: A002 - named as the option is
    max_text: int = MAX_TEXT,
    tally: Tally | None = None,
    seconds: float = SECONDS,
    *,
    follow_links: bool = False,
) -> Iterator[Document | Refusal]:
    """Read documents one after the other; what cannot be read is a refusal, and the others go on.

    Nothing is kept: at any time one line, or one file that holds one document, is in memory.

    Args:
        paths: Files, folders (with all that is below them, in the order of names), and `-` for standard input.
        format: `jsonl`, `text`, `html` or `pdf`, for all files; None: their suffixes tell.
        max_text: The most characters that a text may have.
        tally: Grows while reading: fields moved into `meta`, files passed over.
        seconds: What reading one HTML or PDF file may take.
        follow_links: Whether links in folders are followed, wherever they lead.

    Raises:
        UsageError: At once, before anything is read: a path does not exist, its format is not known, or the library
            that reads it is missing.
    """
    chosen = format_named(format)
    check(paths, chosen)
    tally = tally or Tally()
    found = sources(paths, chosen, tally.passed_over, follow_links=follow_links)
    return _documents(found, Apart(max_text, seconds), tally)


def _documents(found: Iterator[Source | Refusal], process: Apart, tally: Tally) -> Iterator[Document | Refusal]:
    with process as apart:
        for source in found:
            if isinstance(source, Refusal):
                yield source
            elif source.path is None or source.format is Format.JSONL:
                yield from lines_of(source.path, source.where, apart.max_text, tally)
            else:
                yield _document(source, source.path, apart)


def _document(source: Source, path: Path, apart: Apart) -> Document | Refusal:
    """Make a document of a file that holds one."""
    try:
        plain = source.format is Format.TEXT
        record = text_record(path, apart.max_text) if plain else apart.record_of(source.format, path)
        return read_record(record | {"id": source.id}, source.where, apart.max_text)
    except Unreadable as error:
        return Refusal(source.where, source.id, error.field, error.why)
    except Refused as refused:
        return refused.refusal
