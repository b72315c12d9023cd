"""Documents whose files are gone: they existed at ingest, but no longer do."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers.formats import encode_path

AT_ONCE = 200  # documents that are read together
SHARE = 5  # more than one in so many documents of an index are hardly gone on purpose


class GoneFile(NamedTuple):
    """A document whose file is gone."""

    id: str
    file: str  # the file that it was read from


@dataclass(frozen=True, slots=True)
class GoneFiles:
    """The documents of some folders whose files are gone."""

    documents: Sequence[GoneFile]
    folders: Sequence[str]  # folders of which no file is left
    total: int  # documents of the index

    @property
    def doubt(self) -> str:
        """Why the files may be gone by mistake; empty if it is unlikely."""
        if self.folders:
            return f"no file is left of {self.folders[0]}"
        count = len(self.documents)
        return f"that is more than a fifth of the {self.total:,} of the index" if SHARE * count > self.total else ""


def find_gone(engine: Engine, folders: Sequence[str | Path], seen: Collection[int] = ()) -> GoneFiles:
    """Find documents whose files, in some folders, no longer exist.

    Reads every document of the index once. A document that was just read, from any file, is not gone.
    """
    check_folders(folders)
    roots = tuple(f"{encode_path(Path(folder))}/" for folder in folders)
    gone: list[GoneFile] = []
    left: set[Path] = set()
    total = 0
    for hits in engine.scan(size=AT_ONCE):
        total += len(hits)
        for stored in engine.fetch([(hit.index, hit.id) for hit in hits]):
            origin = stored.document.origin
            if origin.startswith(roots):
                if any(map(_exists, _files(origin))):
                    left.add(_folder(origin))
                elif not any(each in seen for each in _hashes(stored.document)):
                    gone.append(GoneFile(stored.document.id, origin))
    return GoneFiles(gone, sorted(map(str, {_folder(each.file) for each in gone} - left)), total)


def add_seen(seen: set[int], item: Document | Refusal) -> Document | Refusal:
    """Add the id with the text, and the origin, of a document that was read to those of its run; returns it."""
    if isinstance(item, Document):
        seen.update(_hashes(item))
    return item


def _hashes(document: Document) -> list[int]:
    names = f"{document.id}\0{document.text}", document.origin
    return [xxh3_64_intdigest(each.encode()) for each in names if each]


def _folder(origin: str) -> Path:
    *_, file = _files(origin)
    return Path(file).parent


def check_folders(folders: Sequence[str | Path]) -> None:
    """Check that folders exist and are not empty."""
    remedy = "check whether its disk is mounted; documents are deleted by id with: ibidem delete ID"
    for folder in folders:
        if not Path(folder).is_dir():
            raise UsageError(f"{folder} is not a folder", f"name one that was ingested, or {remedy}")
        if not any(Path(folder).iterdir()):
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
