"""What a caller chooses about reading: formats, ids, links; and what that means for a file."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Literal, get_args

from ibidem_ingest.errors import UsageError
from ibidem_ingest.languages import DEFAULT, DETECT, detect, is_code
from ibidem_ingest.readers.formats import Format, format_named, format_of
from ibidem_ingest.short_repr import short_repr

IdFrom = Literal["path", "name", "hash"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How files are read.

    Args:
        format: The format of files whose name tells none; None: such files are passed over.
        force: Whether it is that of all files, whatever their names tell.
        also_text: Suffixes of files that are read as text, each with its dot.
        follow_links: Whether links in folders are followed, wherever they lead.
        id_prefix: Stands before every id, so that two folders with files of one name stay apart.
        id_from: What names the document of a file: its path below the given folder, its name, or a hash of its text.
        language: That of documents that do not say theirs; `detect`: as their text has it.
        text_column: The column of a table that holds the texts; empty: `text`.

    Raises:
        UsageError: A format, suffix or source of ids that is not understood.
    """

    format: Format | str | None = None
    force: bool = False
    also_text: Collection[str] = field(default_factory=tuple)
    follow_links: bool = False
    id_prefix: str = ""
    id_from: IdFrom = "path"
    language: str = DEFAULT
    text_column: str = ""

    def __post_init__(self) -> None:
        """Check what no type does."""
        format_named(self.format)
        if self.force and self.format is None:
            raise UsageError("there is no format to force", "give it: --format FORMAT --force")
        if self.id_from not in get_args(IdFrom):
            raise UsageError(f"no ids from {short_repr(self.id_from)}", f"they are from {', '.join(get_args(IdFrom))}")
        if self.language != DETECT and not is_code(self.language):
            raise UsageError(f"{short_repr(self.language)} is no language", "write a code of ISO 639-1: en, de, fr")
        for suffix in self.also_text:
            if PurePath(f"x{suffix}").suffix != suffix:
                raise UsageError(f"{short_repr(suffix)} is no suffix", "write them as --also-text .rst,.log")

    def format_of(self, name: str) -> Format | None:
        """Tell in which format a file is read; None when nothing tells.

        >>> Choice("text").format_of("page.html"), Choice("text", force=True).format_of("page.html")
        (<Format.HTML: 'html'>, <Format.TEXT: 'text'>)
        """
        given = format_named(self.format)
        if self.force:
            return given
        if PurePath(name.lower()).suffix in {suffix.lower() for suffix in self.also_text}:
            return Format.TEXT
        return format_of(name) or given

    def language_of(self, text: str) -> str:
        """Tell the language of a document that does not say it."""
        return (detect(text) or DEFAULT) if self.language == DETECT else self.language

    def name(self, path: Path, root: Path | None) -> str:
        """Name the document of a file by its place; empty where its text names it.

        Args:
            path: The file.
            root: The given folder that it is in; None for one that was given itself.
        """
        if self.id_from == "hash":
            return ""
        return path.relative_to(root).as_posix() if root is not None and self.id_from == "path" else path.name

    def origin(self, path: Path, root: Path | None) -> str:
        """Tell below which folder that name is unique; empty where the text names the document."""
        if self.id_from == "hash":
            return ""
        folder = root if root is not None and self.id_from == "path" else path.parent
        return os.fsencode(os.path.abspath(folder)).decode(errors="backslashreplace")  # noqa: PTH100 - links stay links


def hash_of(text: str) -> str:
    """Name a document by its text: 32 hex digits of BLAKE2b.

    >>> hash_of("We the People")
    '79af2f41f2e9bc3189050159afa952cf'
    """
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
