"""Plain text, Markdown and HTML: files in an encoding, as records with text and title; and the time limit of files."""

import re
import time
from collections.abc import Iterator
from copy import deepcopy
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

from ibidem_ingest.dates import iso_date
from ibidem_ingest.document import PAGE_BREAK, language_code
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
    text, damage = _read_text(path, max_text, decoding)
    return {"text": text.removesuffix(PAGE_BREAK), "title": first_line(text), DAMAGED_BYTES: damage}


def _read_text(path: Path, max_text: int, decoding: Decoding) -> tuple[str, int]:
    with translate_errors():
        text, damage = decoding.decode(content(path, max_text, decoding.encoding))
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
        data = file.read(limit + 1)
        if len(data) > limit:
            reason = f"more than {limit:,} bytes, as many as {max_text:,} characters can take"
            raise Unreadable(f"{reason}; split it or raise IBIDEM_MAX_TEXT", "text")
        file.peek(1)  # raises the fault that ended the file
    return data


FRONT_MATTER = "---"  # line before and after the front matter of a text
FRONT_LINES = 200


def markdown_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a file: its text without markup, and its first heading, else its first line with words."""
    source, damage = _read_text(path, max_text, decoding)
    # The front matter is between two lines of hyphens at the beginning.
    first, *lines = source.split("\n", FRONT_LINES)
    if first.rstrip() == FRONT_MATTER and FRONT_MATTER in (ends := [line.rstrip() for line in lines]):
        source = "\n".join(lines[ends.index(FRONT_MATTER) + 1 :])
    with translate_errors():
        blocks = _markdown_blocks(source)
    text = "\n\n".join(text for _, text in blocks).strip()
    if not text:
        raise Unreadable(EMPTY_REMEDY)
    heading = next((text for kind, text in blocks if kind == "heading" and first_line(text)), "")
    return {"text": text, "title": first_line(heading) or first_line(text), DAMAGED_BYTES: damage}


def _markdown_blocks(source: str) -> list[tuple[str, str]]:
    """Return the kind and text of each block, without HTML."""
    library = load_library(Format.MARKDOWN)
    blocks = list[tuple[str, str]]()
    kind = ""
    for token in library.MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").parse(source):
        if token.type.endswith("_open"):
            kind = token.type.removesuffix("_open")
        elif token.type == "inline":
            if text := "".join(_words(token.children or [])).strip():
                blocks.append((kind, text))
        elif token.type in {"fence", "code_block"} and token.content.strip():
            blocks.append(("code", token.content.rstrip()))
    return blocks


def _words(parts: list[Any]) -> Iterator[str]:
    """Yield the visible text of a paragraph; for an image, its description."""
    for part in parts:
        if part.type in {"text", "code_inline"}:
            yield part.content
        elif part.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif part.type == "image":
            yield from _words(part.children or [])


NO_TEXT = "it contains no text besides menus and the like; leave it out, or save its content as text"

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*+=\s*+["']?\s*+([A-Za-z0-9_:.-]+)""", re.IGNORECASE
)
_LATIN = frozenset({"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
# Form feeds are white space in HTML; other control characters, and code points that are no characters, are errors that
# no tree holds.
_CONTROLS = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
# Only a date in the page's metadata is its date; the library would also guess from a copyright line.
_DATES = {"extensive_search": False, "original_date": True, "min_date": "1000-01-01"}


def html_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read an HTML file by trafilatura: its core text without menus and footers, and what its head says of it."""
    trafilatura = load_library(Format.HTML)
    source, damage = _decode_html(content(path, max_text, decoding.encoding), decoding)
    html = _CONTROLS.sub(" ", source)
    if not html.strip():
        raise Unreadable(EMPTY_REMEDY)
    if "\x00" in html:
        raise Unreadable(f"a null byte at character {html.index(chr(0)):,}; it is not HTML, or damaged", "text")
    with translate_errors():
        tree = _tree(html)
        record = _html_head(tree, trafilatura)
        extract = trafilatura.bare_extraction(tree, include_comments=False)
    text = "" if extract is None else (extract.text or "").strip()
    if not text:
        raise Unreadable(NO_TEXT, "text")
    return {**record, "text": text, "title": record["title"] or first_line(text), DAMAGED_BYTES: damage}


def _decode_html(data: bytes, decoding: Decoding) -> tuple[str, int]:
    """Decode as UTF-8, or with the declared charset, without guessing; counts the replacement characters."""
    with translate_errors():
        try:
            return data.decode().removeprefix("\ufeff"), 0
        except UnicodeDecodeError:
            match = _CHARSET.search(data[:4_096])
            charset = match[1].decode().lower() if match else "utf-8"
            if charset in {"utf-8", "utf8"}:
                return decoding.decode(data)
        try:  # like browsers, Latin-1 is read as Windows-1252
            return data.decode("cp1252" if charset in _LATIN else charset), 0
        except LookupError:
            return data.decode(), 0


def _tree(html: str) -> Any:
    """Parse a page; done here because the library rejects pages without `<html>` or `<body>`."""
    lxml = import_module("lxml.html")
    return lxml.document_fromstring(html.encode(), parser=lxml.HTMLParser(encoding="utf-8"))


def _html_head(tree: Any, trafilatura: Any) -> dict[str, object]:
    """Read title, language, date and address from the head of a page."""
    title = " ".join((tree.findtext(".//title") or "").split())
    record: dict[str, object] = {"title": title, "language": language_code(tree.get("lang") or "")}
    head = tree.find("head")
    if head is None:
        return record
    root = _tree("<html><body></body></html>")
    root.insert(0, deepcopy(head))
    metadata = trafilatura.extract_metadata(root, date_config=_DATES)
    return record | {"date": iso_date(metadata.date or ""), "url": metadata.url or ""}


MAX_UNESCAPES = 3  # times that exports escape a text, at most


def strip_markup(text: str, format_: str) -> str:
    """Return what a reader sees of a text in a format of fields; its pages remain pages."""
    if not format_:
        return text
    pages = text.split(PAGE_BREAK)
    with translate_errors():
        if format_ == "html":
            return PAGE_BREAK.join(map(_strip_html, pages))
        return PAGE_BREAK.join("\n\n".join(part for _, part in _markdown_blocks(page)).strip() for page in pages)


def _strip_html(page: str) -> str:
    text = html_to_text(page, quote="").strip()
    for _ in range(MAX_UNESCAPES):  # entities that are left were meant to be read
        text = unescape(text)
    return text


class TimeLimit:
    """Time since the last document: processor time of this thread, and of the processes that parse parts of the file.

    Waiting for a pipe or a slow disk does not count.

    >>> limit = TimeLimit(60)
    >>> limit.note(59, found=False)
    >>> limit.check()
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._elsewhere, self._found = 0.0, True

    def note(self, seconds: float, *, found: bool) -> None:
        """Add the time that another process took for a part of the file; thread-safe.

        After a document the count restarts, at the next check: reading the clock now would take too long.
        """
        self._elsewhere += seconds
        self._found = self._found or found

    def check(self) -> None:
        """Raise if the time limit is exceeded; only for the thread that reads the file."""
        if self._found:
            self._began, self._elsewhere, self._found = time.thread_time(), 0.0, False
        if time.thread_time() - self._began + self._elsewhere > self._seconds:
            raise Unreadable(
                f"{self._seconds:g} seconds of reading gave no document; correct the file, or raise IBIDEM_READ_SECONDS"
            )
