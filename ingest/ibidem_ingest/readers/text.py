"""Plain text and Markdown: files in an encoding, as records with text and title."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.readers.encoding import UTF_8, Decoding, open_utf8
from ibidem_ingest.readers.formats import Format, load_library

EMPTY = "it is empty; leave it out"
MAX_TITLE = 200
BEGINNING = 2_000  # characters of a text in which its title is looked for

BYTES_A_CHARACTER = 4


DAMAGED_BYTES = "damaged_bytes"  # key of a record under which a reader says how many bytes it replaced


def text_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a text file; form feeds separate its pages, and its first line with words is its title."""
    text, damage = read_text(path, max_text, decoding)
    return {"text": text.removesuffix(PAGE_BREAK), "title": first_line(text), **note_damage(damage)}


def read_text(path: Path, max_text: int, decoding: Decoding = UTF_8) -> tuple[str, int]:
    """Read the text of a file."""
    data = content(path, max_text, decoding.encoding)
    with translate_errors():
        text, damage = decoding.decode(data)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Unreadable(EMPTY)
    return text, damage


def note_damage(damage: int) -> dict[str, int]:
    """Return the record entry on replaced bytes; empty if there are none."""
    return {DAMAGED_BYTES: damage} if damage else {}


def first_line(text: str) -> str:
    r"""Return the first line with words, as a title; empty if there is none at the beginning.

    >>> first_line("\n=======\n   COMPLAINT   FOR DAMAGES\n1. Plaintiff")
    'COMPLAINT FOR DAMAGES'
    """
    lines = text.lstrip()[:BEGINNING].splitlines()
    line = " ".join(next((line for line in lines if any(map(str.isalnum, line))), "").split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…"


def content(path: Path, max_text: int, encoding: str = "") -> bytes:
    """Read a file with one document, compressed or not, up to the maximum size of a text."""
    limit = max_text * BYTES_A_CHARACTER
    with translate_errors(), open_utf8(path, encoding) as file:
        # A pipe has no size: it is read as far as the limit goes.
        size = path.stat().st_size
        data = b"" if size > limit else file.read(limit + 1)
    if size > limit or len(data) > limit:
        reason = (
            f"more than {limit:,} bytes, as many as {max_text:,} characters can take; split it or raise IBIDEM_MAX_TEXT"
        )
        raise Unreadable(reason, "text")
    return data


FRONT = "---"  # line before and after the front matter of a text

FRONT_LINES = 200


def markdown_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a file: its text without markup, and its first heading, else its first line with words."""
    library = load_library(Format.MARKDOWN)
    source, damage = read_text(path, max_text, decoding)
    with translate_errors():
        tokens = library.MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").parse(strip_front(source))
    blocks = list(_blocks(tokens))
    text = "\n\n".join(text for _, text in blocks).strip()
    if not text:
        raise Unreadable(EMPTY)
    heading = next((text for kind, text in blocks if kind == "heading" and first_line(text)), "")
    return {"text": text, "title": first_line(heading) or first_line(text), **note_damage(damage)}


def strip_front(source: str) -> str:
    r"""Remove the front matter: the lines between two lines of hyphens at the beginning.

    >>> strip_front("---\nlayout: post\n---\nWe the People")
    'We the People'
    """
    lines = source.split("\n", FRONT_LINES)
    if lines[0].rstrip() != FRONT or FRONT not in (end := [line.rstrip() for line in lines[1:]]):
        return source
    return "\n".join(lines[end.index(FRONT) + 2 :])


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
