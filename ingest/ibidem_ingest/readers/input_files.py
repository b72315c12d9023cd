"""Files to read: those given as paths, and those in folders, each with its format."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISFIFO, S_ISREG

from ibidem_ingest.errors import Refusal, Unreadable, UsageError, translate_errors
from ibidem_ingest.readers.formats import CONVERTED, EVERY, PACKED, Choice, Format, guess_format, require

STANDARD_INPUT = "-"

LINK = "link"  # key under which links in folders are counted

# Key under which named pipes in folders are counted: one without a writer would be waited for without end.
PIPE = "named pipe"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read."""

    path: Path | None  # the file; None is standard input
    id: str  # the id of its document, when it holds one; empty if its text names it
    format: Format
    origin: str = ""  # the file that the id names, and the place in it; empty if the id names none
    number: int = 0  # its place in a file of many; 0 for a file of one

    @property
    def where(self) -> str:
        """Name of the file in messages."""
        name = "standard input" if self.path is None else printable(self.path)
        return f"{name}:{self.number}" if self.number else name


def printable(path: Path) -> str:
    """Return a path with escapes for bytes that are not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def check(paths: Sequence[str | Path], choice: Choice) -> None:
    """Check that every path exists and has a reader, before anything is read."""
    for argument in paths:
        if str(argument) == STANDARD_INPUT:
            if choice.formats.get(EVERY, choice.formats.get("", Format.JSONL)) is not Format.JSONL:
                raise UsageError("standard input is read as JSON Lines", "leave --format out, or give it as a file")
        else:
            _check_path(Path(argument), choice)


def _check_path(path: Path, choice: Choice) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{printable(path)}: {reason}", "give files, folders or - for standard input") from error
    if S_ISDIR(mode):
        for each in choice.formats.values():
            require(each)
        return
    format_ = choice.choose_format(path.name)
    if format_ is None:
        if remedy := CONVERTED.get(path.suffix.lower()):
            raise UsageError(f"{printable(path)} is a mailbox of Outlook, which is not read as it is", remedy)
        if guess_format(path.stem) in PACKED:
            raise UsageError(f"{printable(path)} is compressed twice", "decompress it first")
        remedy = f"name its format: --format {'|'.join(Format)}"
        raise UsageError(f"{printable(path)}: its name does not say what it contains", remedy)
    require(format_)


def _mode(path: Path) -> int:
    """Return the file type of a path; 0 if it is unknown: opening the path then gives the error."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def named_pipes(paths: Sequence[str | Path]) -> list[str]:
    """Return the paths that are named pipes, which wait for a writer, as a shell's process substitution does."""
    outside = ("/dev/", "/proc/")
    return [
        printable(Path(each)) for each in paths if S_ISFIFO(_mode(Path(each))) and not str(each).startswith(outside)
    ]


def sources(paths: Sequence[str | Path], choice: Choice, skipped_files: Counter[str]) -> Iterator[InputFile | Refusal]:
    """Yield the files of paths; files in folders are sorted by name, and each folder is read once.

    Hidden files and folders are left alone, and so are devices and sockets; a folder that cannot be opened is a
    refusal, and the rest below it goes on. A link in a folder may lead anywhere, so it is counted and left alone
    unless links are to be followed; a path that is given may be one.
    """
    for argument in paths:
        path = Path(argument)
        if str(argument) == STANDARD_INPUT:
            yield InputFile(None, STANDARD_INPUT, Format.JSONL)
        elif (format_ := choice.choose_format(path.name)) and not S_ISDIR(_mode(path)):
            yield _source(path, None, format_, choice)
        else:
            yield from _walk(path, path, choice, skipped_files, set())


def _source(path: Path, root: Path | None, format_: Format, choice: Choice) -> InputFile:
    # After `:2,` are the flags of a mail in a Maildir, which change when it is read.
    return InputFile(
        path, choice.name(path, root).partition(":2,")[0], format_, choice.origin(path).partition(":2,")[0]
    )


def _walk(
    folder: Path, root: Path, choice: Choice, skipped_files: Counter[str], known_folders: set[tuple[int, int]]
) -> Iterator[InputFile | Refusal]:
    """Scan a folder; `known_folders` holds device and inode of its parents, to detect loops of links."""
    try:
        with translate_errors():
            stat = folder.stat()
            entries = [] if (stat.st_dev, stat.st_ino) in known_folders else sorted(folder.iterdir())
    except Unreadable as error:
        yield Refusal(printable(folder), "", "", error.why)
        return
    known_folders.add((stat.st_dev, stat.st_ino))
    delivered = folder.name in MAILDIR and _is_maildir(folder.parent)
    for path in entries:
        if path.name.startswith(".") and not _is_maildir(path):
            continue
        if path.is_symlink() and not choice.follow_links:
            skipped_files[LINK] += 1
            continue
        mode = _mode(path)
        if S_ISDIR(mode):
            if not (path.name == "tmp" and _is_maildir(folder)):
                yield from _walk(path, root, choice, skipped_files, known_folders)
        elif S_ISFIFO(mode):
            skipped_files[PIPE] += 1
        elif format_ := Format.EML if delivered else choice.choose_format(path.name):
            if S_ISREG(mode) or not mode:
                yield _source(path, root, format_, choice)
        else:
            yield from _leave(path, skipped_files)


def _leave(path: Path, skipped_files: Counter[str]) -> Iterator[Refusal]:
    """Count a file of no format; a mailbox of another form is refused, since it holds documents."""
    suffix = path.suffix.lower()
    if remedy := CONVERTED.get(suffix):
        yield Refusal(printable(path), "", "", f"it is an Outlook mailbox, a format that cannot be read; {remedy}")
    else:
        skipped_files[suffix or "no suffix"] += 1


MAILDIR = ("cur", "new")  # folders of a Maildir that hold mails; a third, `tmp`, holds what is not delivered yet


def _is_maildir(path: Path) -> bool:
    """Return whether a folder is a Maildir, or a folder in a Maildir, whose name has a leading dot."""
    return all((path / name).is_dir() for name in (*MAILDIR, "tmp"))
