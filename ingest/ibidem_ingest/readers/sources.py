"""What the paths on a command line stand for: files, each with its format and the id its document takes."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers.extra import require
from ibidem_ingest.readers.foreign import Unreadable, translated
from ibidem_ingest.readers.formats import Format, format_of

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
