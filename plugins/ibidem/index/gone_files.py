"""Documents whose files are gone: they existed at ingest, but no longer do."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.formats import encode_path

AT_ONCE = 200  # documents that are read together


class GoneFile(NamedTuple):
    """A document whose file is gone."""

    id: str
    file: str  # the file that it was read from


def find_gone(engine: Engine, folders: Sequence[str | Path]) -> Iterator[GoneFile]:
    """Find documents whose files, in some folders, no longer exist.

    Reads every document of the index once.
    """
    check_folders(folders)
    roots = tuple(f"{encode_path(Path(folder))}/" for folder in folders)
    for hits in engine.scan(size=AT_ONCE):
        for stored in engine.fetch([(hit.index, hit.id) for hit in hits]):
            origin = stored.document.origin
            if origin.startswith(roots) and not any(map(_exists, _files(origin))):
                yield GoneFile(stored.document.id, origin)


def check_folders(folders: Sequence[str | Path]) -> None:
    """Check that folders exist and are not empty."""
    for folder in folders:
        if not Path(folder).is_dir():
            raise UsageError(f"{folder} is not a folder", "synchronize folders that were ingested before")
        if not any(Path(folder).iterdir()):
            remedy = "check whether its disk is mounted; documents are deleted by id with: ibidem delete ID"
            raise UsageError(f"{folder} is empty, so every document of it would be gone", remedy)


def _files(origin: str) -> Iterator[str]:
    """Yield the files that an origin may name: rows, mails and attachments have a number after the file name.

    >>> list(_files("/mail/in.mbox:7/2"))
    ['/mail/in.mbox:7/2', '/mail/in.mbox:7', '/mail/in.mbox']
    """
    yield origin
    mail, _, number = origin.rpartition("/")
    if number.isdecimal():
        yield (origin := mail)
    file, _, number = origin.rpartition(":")
    if number.isdecimal():
        yield file


def _exists(file: str) -> bool:
    """Return whether a file exists; a name that is not UTF-8 is stored escaped, and is assumed to exist."""
    return "\\x" in file or Path(file).exists()
