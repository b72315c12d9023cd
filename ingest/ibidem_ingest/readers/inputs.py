"""From paths to documents: every file by the reader for its format, one document after the other."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ibidem_ingest.document import MAX_TEXT, Document, read_record
from ibidem_ingest.errors import Refusal, Refused, UsageError
from ibidem_ingest.readers.error_map import Unreadable, translated
from ibidem_ingest.readers.formats import Format, Tally, format_named, format_of, require
from ibidem_ingest.readers.jsonl import read as lines_of
from ibidem_ingest.readers.sandbox import SECONDS, SandboxedReader
from ibidem_ingest.readers.text import record_of as text_record

STANDARD_INPUT = "-"

LINK = "link"
"""Under which links in folders are counted."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read.

    Args:
        path: The file; None is standard input.
        id: The id of its document, when it holds one: the path below the given folder, or the file's name.
        format: What it holds.
    """

    path: Path | None
    id: str
    format: Format

    @property
    def where(self) -> str:
        """Its name in messages."""
        return "standard input" if self.path is None else printable(self.path)


def printable(path: Path) -> str:
    """Write a path with escapes for the bytes that are no UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def check(paths: Sequence[str | Path], format_: Format | None) -> None:
    """Make sure, before anything is read, that every path can be what was meant.

    Args:
        paths: Files, folders, and `-` for standard input.
        format_: The format that all files are in; None: their suffixes tell.

    Raises:
        UsageError: A path does not exist, its suffix tells no format, or the library for it is missing.
    """
    for given in paths:
        if str(given) == STANDARD_INPUT:
            if format_ not in {None, Format.JSONL}:
                raise UsageError("standard input is read as JSON Lines", "leave --format out, or give it as a file")
        else:
            _check_path(Path(given), format_)


def _check_path(path: Path, format_: Format | None) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{printable(path)}: {why}", "give files, folders or - for standard input") from error
    told = format_ or format_of(path.name)
    if told is not None:
        require(told)
    elif not S_ISDIR(mode):
        remedy = f"name its format: --format {'|'.join(Format)}"
        raise UsageError(f"{printable(path)}: its name does not tell what it holds", remedy)


def _mode(path: Path) -> int:
    """Return what kind of file a path is, or 0 where the system does not tell; opening it then says why."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def sources(
    paths: Sequence[str | Path], format_: Format | None, passed_over: Counter[str], *, follow_links: bool = False
) -> Iterator[Source | Refusal]:
    """Find the files that paths stand for: folders with all that is below them, by name, each folder once.

    Hidden files and folders are left alone, and so is what is no regular file; a folder that cannot be opened is a
    refusal, and what else is below it goes on. A link in a folder may lead anywhere, so it is counted and left alone
    unless links are to be followed; a path that is given may be one.

    Args:
        paths: Files, folders, and `-`, checked.
        format_: The format that all files are in; None: their suffixes tell.
        passed_over: Where the files whose suffix tells no format are counted, by suffix, and the links.
        follow_links: Whether the links in folders are read too.
    """
    walk = _Walk(format_, passed_over, follow_links)
    for given in paths:
        path = Path(given)
        if str(given) == STANDARD_INPUT:
            yield Source(None, STANDARD_INPUT, Format.JSONL)
        elif (told := format_ or format_of(path.name)) and not S_ISDIR(_mode(path)):
            yield Source(path, path.name, told)
        else:
            yield from _below(path, path, walk, set())


@dataclass(frozen=True, slots=True)
class _Walk:
    """How folders are gone through."""

    format: Format | None
    passed_over: Counter[str]
    follow_links: bool


def _below(folder: Path, root: Path, walk: _Walk, seen: set[tuple[int, int]]) -> Iterator[Source | Refusal]:
    """Go through a folder; `seen` holds device and number of the folders gone through, for links that lead back."""
    try:
        with translated():
            stat = folder.stat()
            entries = [] if (stat.st_dev, stat.st_ino) in seen else sorted(folder.iterdir())
    except Unreadable as error:
        yield Refusal(printable(folder), "", "", error.why)
        return
    seen.add((stat.st_dev, stat.st_ino))
    for path in entries:
        if path.name.startswith("."):
            continue
        if path.is_symlink() and not walk.follow_links:
            walk.passed_over[LINK] += 1
            continue
        mode = _mode(path)
        if S_ISDIR(mode):
            yield from _below(path, root, walk, seen)
        elif told := walk.format or format_of(path.name):
            if S_ISREG(mode) or not mode:
                yield Source(path, path.relative_to(root).as_posix(), told)
        else:
            walk.passed_over[path.suffix.lower() or "no suffix"] += 1


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
    return _documents(found, SandboxedReader(max_text, seconds), tally)


def _documents(
    found: Iterator[Source | Refusal], process: SandboxedReader, tally: Tally
) -> Iterator[Document | Refusal]:
    with process as apart:
        for source in found:
            if isinstance(source, Refusal):
                yield source
            elif source.path is None or source.format is Format.JSONL:
                yield from lines_of(source.path, source.where, apart.max_text, tally)
            else:
                yield _document(source, source.path, apart)


def _document(source: Source, path: Path, apart: SandboxedReader) -> Document | Refusal:
    """Make a document of a file that holds one."""
    try:
        plain = source.format is Format.TEXT
        record = text_record(path, apart.max_text) if plain else apart.record_of(source.format, path)
        return read_record(record | {"id": source.id}, source.where, apart.max_text)
    except Unreadable as error:
        return Refusal(source.where, source.id, error.field, error.why)
    except Refused as refused:
        return refused.refusal
