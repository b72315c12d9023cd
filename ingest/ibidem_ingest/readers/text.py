"""Plain text and Markdown: files in an encoding, as records with text and title; and the time limit of files."""

import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.mail.html_body import html_to_text
from ibidem_ingest.readers.formats import UTF_8, Decoding, Format, load_library, open_utf8

EMPTY_REMEDY = "it is empty; leave it out"
MAX_TITLE = 200
TITLE_CHARACTERS = 2_000  # characters of a text in which its title is looked for

BYTES_A_CHARACTER = 4


DAMAGED_BYTES = "damaged_bytes"  # key of a record under which a reader says how many bytes it replaced


def text_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a text file; form feeds separate its pages, and its first line with words is its title."""
    text, damage = read_text(path, max_text, decoding)
    return {"text": text.removesuffix(PAGE_BREAK), "title": first_line(text), DAMAGED_BYTES: damage}


def read_text(path: Path, max_text: int, decoding: Decoding = UTF_8) -> tuple[str, int]:
    data = content(path, max_text, decoding.encoding)
    with translate_errors():
        text, damage = decoding.decode(data)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Unreadable(EMPTY_REMEDY)
    return text, damage


def first_line(text: str) -> str:
    """Return the first line with words, as a title; empty if the text does not begin with words."""
    lines = text.lstrip()[:TITLE_CHARACTERS].splitlines()
    line = " ".join(next((line for line in lines if any(map(str.isalnum, line))), "").split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…"


def content(path: Path, max_text: int, encoding: str = "") -> bytes:
    """Read a file with one document, compressed or not, up to the maximum size of a text."""
    limit = max_text * BYTES_A_CHARACTER
    with translate_errors(), open_utf8(path, encoding) as file:
        # A pipe has no size: it is read as far as the limit goes.
        size = path.stat().st_size
        data = b"" if size > limit else file.read(limit + 1)
        file.peek(1)  # raises the fault that ended the file
    if size > limit or len(data) > limit:
        reason = (
            f"more than {limit:,} bytes, as many as {max_text:,} characters can take; split it or raise IBIDEM_MAX_TEXT"
        )
        raise Unreadable(reason, "text")
    return data


FRONT_MATTER = "---"  # line before and after the front matter of a text

FRONT_LINES = 200


def markdown_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a file: its text without markup, and its first heading, else its first line with words."""
    source, damage = read_text(path, max_text, decoding)
    with translate_errors():
        blocks = markdown_blocks(strip_front(source))
    text = "\n\n".join(text for _, text in blocks).strip()
    if not text:
        raise Unreadable(EMPTY_REMEDY)
    heading = next((text for kind, text in blocks if kind == "heading" and first_line(text)), "")
    return {"text": text, "title": first_line(heading) or first_line(text), DAMAGED_BYTES: damage}


def markdown_blocks(source: str) -> list[tuple[str, str]]:
    library = load_library(Format.MARKDOWN)
    return list(_blocks(library.MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").parse(source)))


def strip_front(source: str) -> str:
    """Remove the front matter: the lines between two lines of hyphens at the beginning."""
    lines = source.split("\n", FRONT_LINES)
    if lines[0].rstrip() != FRONT_MATTER or FRONT_MATTER not in (end := [line.rstrip() for line in lines[1:]]):
        return source
    return "\n".join(lines[end.index(FRONT_MATTER) + 2 :])


def _blocks(tokens: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each block, without HTML."""
    kind = ""
    for token in tokens:
        if token.type.endswith("_open"):
            kind = token.type.removesuffix("_open")
        elif token.type == "inline":
            if text := "".join(_words(token.children or [])).strip():
                yield kind, text
        elif token.type in {"fence", "code_block"} and token.content.strip():
            yield "code", token.content.rstrip()


def _words(parts: list[Any]) -> Iterator[str]:
    """Yield the visible text of a paragraph; for an image, its description."""
    for part in parts:
        if part.type in {"text", "code_inline"}:
            yield part.content
        elif part.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif part.type == "image":
            yield from _words(part.children or [])


class TimeLimit:
    """Time since the last document: processor time of this thread, and of the processes that parse parts of the file.

    Waiting for a pipe or a slow disk does not count.

    >>> limit = TimeLimit(60)
    >>> limit.note(59, found=False)
    >>> limit.check()
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._restart()

    def _restart(self) -> None:
        self._began, self._elsewhere, self._found = time.thread_time(), 0.0, False

    def note(self, seconds: float, *, found: bool) -> None:
        """Add the time that another process took for a part of the file; thread-safe.

        After a document the count restarts, at the next check: reading the clock now would take too long.
        """
        self._elsewhere += seconds
        self._found = self._found or found

    def check(self) -> None:
        """Raise if the time limit is exceeded; only for the thread that reads the file."""
        if self._found:
            self._restart()
        if time.thread_time() - self._began + self._elsewhere > self._seconds:
            raise Unreadable(
                f"{self._seconds:g} seconds of reading gave no document; correct the file, or raise IBIDEM_READ_SECONDS"
            )


MAX_UNESCAPES = 3  # times that exports escape a text, at most


def strip_markup(text: str, format_: str) -> str:
    """Return what a reader sees of a text in a format of fields; its pages remain pages."""
    if not format_:
        return text
    pages = text.split(PAGE_BREAK)
    with translate_errors():
        if format_ == "html":
            return PAGE_BREAK.join(map(_strip_html, pages))
        return PAGE_BREAK.join("\n\n".join(part for _, part in markdown_blocks(page)).strip() for page in pages)


def _strip_html(page: str) -> str:
    seen = html_to_text(page, quote="").strip()
    for _ in range(MAX_UNESCAPES):  # entities that are left were meant to be read
        seen = unescape(seen)
    return seen
