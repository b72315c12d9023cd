"""Markdown as plain text: without its marks, by markdown-it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.readers.encoding import UTF_8, Decoding
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.text import EMPTY, first_line, note_damage, read_text

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
