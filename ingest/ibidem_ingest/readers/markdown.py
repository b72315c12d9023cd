"""Files in Markdown: the text without its marks, by markdown-it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem_ingest.readers.error_map import Unreadable, translate_errors
from ibidem_ingest.readers.formats import Format, library_for
from ibidem_ingest.readers.text import EMPTY, first_line
from ibidem_ingest.readers.text import text_of as plain_text_of

FRONT = "---"
"""A line before and after what programs put before a text."""

FRONT_LINES = 200


def record_of(path: Path, max_text: int) -> dict[str, object]:
    """Read a file: its text without marks, and its first heading, else its first line with words.

    Args:
        path: The file.
        max_text: The most characters that it may have.

    Raises:
        Unreadable: It is empty, too large or not UTF-8, or the system does not let it be read; or the library is
            missing.
    """
    library = library_for(Format.MARKDOWN)
    source = without_front(plain_text_of(path, max_text))
    with translate_errors():
        tokens = library.MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").parse(source)
    blocks = list(_blocks(tokens))
    text = "\n\n".join(text for _, text in blocks).strip()
    if not text:
        raise Unreadable(EMPTY)
    heading = next((text for kind, text in blocks if kind == "heading" and first_line(text)), "")
    return {"text": text, "title": first_line(heading) or first_line(text)}


def without_front(source: str) -> str:
    r"""Leave out what is between two lines of hyphens at the beginning, which programs read.

    >>> without_front("---\nlayout: post\n---\nWe the People")
    'We the People'
    """
    lines = source.split("\n", FRONT_LINES)
    if lines[0].rstrip() != FRONT or FRONT not in (end := [line.rstrip() for line in lines[1:]]):
        return source
    return "\n".join(lines[end.index(FRONT) + 2 :])


def _blocks(tokens: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield each block's kind and text; HTML in it is left out."""
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
    """Yield what readers see of a paragraph: of a picture its description."""
    for part in parts:
        if part.type in {"text", "code_inline"}:
            yield part.content
        elif part.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif part.type == "image":
            yield from _words(part.children or [])
