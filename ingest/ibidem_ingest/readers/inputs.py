"""Input paths: files and folders found in their order, and the documents that their readers yield."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISFIFO, S_ISREG
from tempfile import TemporaryDirectory

from ibidem_ingest.document import MAX_ID_BYTES, MAX_TEXT, ORIGIN, PAGE_BREAK, Document, read_record
from ibidem_ingest.errors import Refusal, Refused, Unreadable, UsageError, short_repr, translate_errors
from ibidem_ingest.mail.head import FAMILY
from ibidem_ingest.readers import formats, jsonl
from ibidem_ingest.readers.compression import open_compressed
from ibidem_ingest.readers.formats import Choice, Format, Tally, printable
from ibidem_ingest.readers.mail import ATTACHED, mails
from ibidem_ingest.readers.sandbox import SECONDS, Parse, SandboxedReader, SandboxPool
from ibidem_ingest.readers.text import DAMAGED_BYTES, TimeLimit, strip_markup, text_record

STANDARD_INPUT = "-"

LINK = "link"  # key under which links in folders are counted

# Key under which named pipes in folders are counted: one without a writer would be waited for without end.
PIPE = "named pipe"


@dataclass(frozen=True, slots=True)
class InputFile:
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

    def part(self, number: int, format_: Format) -> "InputFile":
        """Return one of several documents in the file."""
        id_, origin = (f"{self.id}#{number}", f"{self.origin}:{number}") if self.id else ("", "")
        return InputFile(self.path, id_, format_, origin, number)


def check(paths: Sequence[str | Path], choice: Choice) -> None:
    """Check that every path exists and has a reader, before anything is read."""
    for argument in paths:
        if str(argument) != STANDARD_INPUT:
            _check_path(Path(argument), choice)
        elif choice.choose_format("") not in (None, Format.JSONL):
            raise UsageError("standard input is read as JSON Lines", "leave --format out, or give it as a file")


def _check_path(path: Path, choice: Choice) -> None:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{printable(path)}: {reason}", "give files, folders or - for standard input") from error
    if S_ISDIR(mode):
        for each in choice.formats.values():
            formats.require(each)
    elif format_ := choice.choose_format(path.name):
        formats.require(format_)
    elif remedy := formats.CONVERTED.get(path.suffix.lower()):
        raise UsageError(f"{printable(path)} is a mailbox of Outlook, which is not read as it is", remedy)
    elif formats.guess_format(path.stem) in formats.PACKED:
        raise UsageError(f"{printable(path)} is compressed twice", "decompress it first")
    else:
        remedy = f"give it a suffix (.txt, .pdf), or, in ingest and compare, --format {'|'.join(Format)}"
        raise UsageError(f"{printable(path)}: its name does not say what it contains", remedy)


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
    if choice.id_from == "hash":
        return InputFile(path, "", format_)
    below = path if root is None else path.relative_to(root)
    id_ = path.name if choice.id_from == "name" else below.as_posix()
    # After `:2,` are the flags of a mail in a Maildir, which change when it is read.
    return InputFile(path, id_.partition(":2,")[0], format_, formats.encode_path(path).partition(":2,")[0])


def _walk(
    folder: Path, root: Path, choice: Choice, skipped_files: Counter[str], known_folders: set[tuple[int, int]]
) -> Iterator[InputFile | Refusal]:
    """Scan a folder; `known_folders` holds device and inode of its parents, to detect loops of links."""
    try:
        with translate_errors():
            stat = folder.stat()
            entries = [] if (stat.st_dev, stat.st_ino) in known_folders else sorted(folder.iterdir())
            shown = [path for path in entries if not path.name.startswith(".") or _is_maildir(path)]
    except Unreadable as error:
        yield Refusal(printable(folder), "", "", error.why)
        return
    known_folders.add((stat.st_dev, stat.st_ino))
    delivered = folder.name in MAILDIR and _is_maildir(folder.parent)
    for path in shown:
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
        elif remedy := formats.CONVERTED.get(path.suffix.lower()):
            yield Refusal(printable(path), "", "", f"it is an Outlook mailbox, a format that cannot be read; {remedy}")
        else:
            skipped_files[path.suffix.lower() or "no suffix"] += 1


MAILDIR = ("cur", "new")  # folders of a Maildir that hold mails; a third, `tmp`, holds what is not delivered yet


def _is_maildir(path: Path) -> bool:
    """Return whether a folder is a Maildir, or a folder in a Maildir, whose name has a leading dot."""
    with suppress(PermissionError):
        return all((path / name).is_dir() for name in (*MAILDIR, "tmp"))
    return False


def read(  # noqa: PLR0913 - the options of reading, each with a default
    paths: Sequence[str | Path],
    choice: Choice | str | None = None,
    max_text: int = MAX_TEXT,
    tally: Tally | None = None,
    seconds: float = SECONDS,
    *,
    processes: int = 1,
) -> Iterator[Document | Refusal]:
    """Read documents in the order of their files; a document that cannot be read becomes a refusal.

    Nothing is kept: at any time a few lines, or a few files that hold one document each, are in memory.
    """
    if isinstance(paths, str | bytes | PathLike) or not isinstance(paths, Sequence):
        raise UsageError(
            f"{short_repr(paths)} is not a list of paths", "give a list: read(['cases.jsonl', 'pleadings/'])"
        )
    options = choice if isinstance(choice, Choice) else Choice(choice or "")
    check(paths, options)
    tally = tally or Tally()
    items = sources(paths, options, tally.skipped_files)
    return _documents(items, options, SandboxPool(max_text, seconds, processes), tally)


def _documents(
    items: Iterator[InputFile | Refusal], choice: Choice, pool: SandboxPool, tally: Tally
) -> Iterator[Document | Refusal]:
    with ExitStack() as folders, pool:
        for outcome in chain.from_iterable(pool.results(_Files(choice, pool, tally, folders).outcomes(items))):
            yield outcome if isinstance(outcome, Refusal) else _add_prefix(outcome, choice.id_prefix)


# The documents of a file (a mail with attachments is several), or the reason of its refusal.
Outcome = Sequence[Document | Refusal]


@dataclass(frozen=True, eq=False, slots=True)
class _Files:
    """Reads files: most formats in a sandbox, which gets a job for each file."""

    choice: Choice
    pool: SandboxPool
    tally: Tally
    folders: ExitStack  # with the copies of mails out of mailboxes

    def outcomes(self, items: Iterator[InputFile | Refusal]) -> Iterator[Outcome | Parse[Outcome]]:
        choice, max_text = self.choice, self.pool.max_text
        for source in items:
            if isinstance(source, Refusal):
                yield [source]
            elif source.path is None or source.format is Format.JSONL:
                options = (choice.default_language, self.pool.seconds, choice.encoding)
                lines = jsonl.read(source.path, source.where, max_text, self.tally, *options)
                yield from ([_strip_text(each, choice.text_format)] for each in lines)
            elif source.format is Format.CSV:
                yield from ([_strip_text(each, choice.text_format)] for each in self.table(source, source.path))
            elif source.format is Format.MBOX:
                yield from self.mailbox(source, source.path)
            elif source.format is Format.TEXT:
                yield self.documents(source, partial(text_record, source.path, max_text, choice.decoding))
            else:
                yield partial(self.parse, source, source.path)

    def parse(self, source: InputFile, path: Path, reader: SandboxedReader) -> Outcome:
        """Parse a file in a sandboxed process."""
        return self.documents(source, partial(reader.parse_record, source.format, path, self.choice.decoding))

    def parse_copy(self, source: InputFile, copy: Path, time_limit: TimeLimit, reader: SandboxedReader) -> Outcome:
        """Parse a temporary copy of an input."""
        began = time.monotonic()
        outcome = self.parse(source, copy, reader)
        copy.unlink()
        time_limit.note(time.monotonic() - began, found=isinstance(outcome[0], Document))
        return outcome

    def mailbox(self, source: InputFile, path: Path) -> Iterator[Outcome | Parse[Outcome]]:
        """Return a document for each mail in a mailbox, parsed like a mail in a separate file."""
        number, time_limit = 0, TimeLimit(self.pool.seconds)
        try:
            with translate_errors(), open_compressed(path) as stream:
                folder = Path(self.folders.enter_context(TemporaryDirectory(prefix="ibidem-")))
                for number, mail in enumerate(mails(stream, self.pool.max_text, time_limit), 1):
                    part = source.part(number, Format.EML)
                    if mail is None:
                        reason = "it is larger than IBIDEM_MAX_TEXT allows; split it"
                        yield [Refusal(part.where, part.id, "text", reason)]
                    else:
                        copy = folder / f"{number}.eml"
                        copy.write_bytes(mail)
                        yield partial(self.parse_copy, part, copy, time_limit)
        except Unreadable as error:
            location = source.part(number + 1, Format.EML).where if number else source.where
            yield [Refusal(location, source.id, error.field, error.why)]
        else:
            if not number:
                reason = "it is not a mailbox: no line begins with `From `; leave it out"
                yield [Refusal(source.where, source.id, "", reason)]

    def table(self, source: InputFile, path: Path) -> Iterator[Document | Refusal]:
        """Return a document for each row; where rows have ids, the row of another table does not replace one."""
        time_limit, max_text = TimeLimit(self.pool.seconds), self.pool.max_text
        try:
            rows = jsonl.rows(path, self.choice.text_column, max_text, time_limit, self.choice.encoding)
            for number, record in rows:
                part = source.part(number, Format.CSV)
                if isinstance(record, Unreadable):
                    yield Refusal(part.where, part.id, record.field, record.why)
                elif record.get("id"):
                    yield self.document(replace(part, id=str(record["id"]), origin=source.origin), record)
                else:
                    yield self.document(part, record)
        except Unreadable as error:
            yield Refusal(source.where, source.id, error.field, error.why)

    def documents(self, source: InputFile, parse: Callable[[], Mapping[str, object]]) -> list[Document | Refusal]:
        """Return the documents of a file: one, or a mail and its attachments, which name the mail (`meta.family`)."""
        try:
            record = dict(parse())
        except Unreadable as error:
            return [Refusal(source.where, source.id, error.field, error.why)]
        files = record.pop(ATTACHED, None)
        document = self.document(source, record)
        if not isinstance(files, list) or isinstance(document, Refusal):
            return [document]
        family = self.choice.id_prefix + document.id
        documents: list[Document | Refusal] = [replace(document, meta={**document.meta, FAMILY: family})]
        for number, attachment in enumerate(files, 1):
            origin = f"{source.origin}/{number}" if source.origin else ""
            part = replace(source, id=f"{document.id}/{number}", origin=origin)
            if reason := attachment.get("unreadable"):
                reason = f"the attachment {short_repr(attachment.get('title'))}: {reason}"
                documents.append(Refusal(part.where, part.id, "", reason))
            else:
                attachment["meta"] = {**attachment.get("meta", {}), FAMILY: family}
                documents.append(self.document(part, attachment))
        return documents

    def document(self, source: InputFile, record: dict[str, object]) -> Document | Refusal:
        """Return the document of a record, with the id and origin of its file, and count its damaged bytes."""
        if damage := record.pop(DAMAGED_BYTES, 0):
            self.tally.damaged_bytes[source.where] += int(str(damage))
        pages = record.get("pages")
        text = PAGE_BREAK.join(map(str, pages)) if isinstance(pages, list) else str(record.get("text", ""))
        record |= {"id": source.id or formats.text_hash(text if text.strip() else repr(record)), ORIGIN: source.origin}
        try:
            return read_record(record, source.where, self.pool.max_text, self.choice.default_language)
        except Refused as error:
            return error.refusal


def _strip_text(outcome: Document | Refusal, format_: str) -> Document | Refusal:
    """Return a document of a record with its text as it is seen."""
    if not format_ or isinstance(outcome, Refusal):
        return outcome
    try:
        text = strip_markup(outcome.text, format_)
    except Unreadable as error:
        return Refusal(outcome.where, outcome.id, "text", error.why)
    if not text.strip():
        return Refusal(outcome.where, outcome.id, "text", f"nothing but {format_} without words; leave it out")
    return replace(outcome, text=text)


def _add_prefix(document: Document, prefix: str) -> Document | Refusal:
    """Add a prefix to an id, if the result is short enough."""
    if not prefix:
        return document
    full_id = prefix + document.id
    if (size := len(full_id.encode())) > MAX_ID_BYTES:
        reason = f"with its prefix it has {size} bytes of UTF-8; at most {MAX_ID_BYTES} are allowed"
        return Refusal(document.where, document.id, "id", reason)
    return replace(document, id=full_id)
