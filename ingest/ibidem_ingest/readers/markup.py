"""Markdown and reStructuredText as plain text.

Files in Markdown: the text without its marks, by markdown-it.

Files in reStructuredText: the text without its marks, by a small rule, since docutils executes a file's includes.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
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


# A line under or over a title, or between two parts.
_LINE = re.compile(r"\s*([=\-`:.'\"~^_*+#<>])\1{2,}\s*", re.ASCII)

_TABLE = re.compile(r"\s*(?:[=\-]{2,}(?:\s+[=\-]{2,})+|\+[=\-+]{2,}\+)\s*", re.ASCII)
_EXPLICIT = re.compile(r"(\s*)\.\.(?:\s+(?P<what>.*))?$")  # a comment, target, directive or footnote

_DIRECTIVE = re.compile(r"(?:\|[^|]{1,99}\|\s+)?(?P<name>[\w:+.-]{1,99})::(?:\s+(?P<argument>.*))?$")
_NOTE = re.compile(r"\[(?:#?[\w.-]{0,99}|\*)\]\s+(?P<text>.*)")
_FIELD = re.compile(r"\s*:[\w -]{1,50}:(?:\s+.*)?$")

NOTES = ("admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning")
# Directives whose content readers see as text; of others such as images it is left out.
SHOWN = frozenset(
    {"seealso", "versionadded", "versionchanged", "deprecated", "topic", "sidebar", "epigraph", "highlights"}
    | {*NOTES, "pull-quote", "rubric", "parsed-literal", "code", "code-block", "sourcecode"}
)

# Text of a link, without blanks at its end; a possessive group would be matched wrongly by Python before 3.11.5.
_WORDS = r"\s*+[^`<\s]++(?:\s++[^`<\s]++)*"

_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf":[\w:+.-]{{1,99}}:`~?!?({_WORDS})\s*+(?:<[^`>]{{1,999}}+>)?`"), r"\1"),
    (re.compile(r"``([^`]{1,999})``"), r"\1"),
    (re.compile(rf"`({_WORDS})\s*+<[^`>]{{1,999}}+>`__?"), r"\1"),
    (re.compile(r"`([^`]{1,999})`_{0,2}"), r"\1"),
    (re.compile(r"\*\*(\S[^*]{0,999})\*\*"), r"\1"),
    (re.compile(r"\*(\S[^*]{0,999})\*"), r"\1"),
    (re.compile(r"\|(\S[^|\n]{0,99}\S)\|_{0,2}"), r"\1"),
    (re.compile(r"(?<=\w)__?(?=\W|$)"), ""),
    (re.compile(r"::$"), ":"),
)


def rst_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read a file: its text without markup, and the first title, else its first line with words."""
    source, damage = read_text(path, max_text, decoding)
    lines = source.splitlines()
    title = next((strip_marks(line) for line, next_line in pairwise(lines) if _is_title(line, next_line)), "")
    text = "\n".join(_visible_lines(lines)).strip()
    if not text:
        raise Unreadable(EMPTY)
    return {"text": text, "title": first_line(title) or first_line(text), **note_damage(damage)}


def strip_marks(line: str) -> str:
    """Remove the inline markup of a line.

    >>> strip_marks("See :ref:`the guide <guide>` and ``csrf_token``, *always* `here <https://a.b>`_::")
    'See the guide and csrf_token, always here:'
    """
    for mark, replacement in _INLINE:
        line = mark.sub(replacement, line)
    return line


def _is_title(line: str, next_line: str) -> bool:
    return (
        bool(_LINE.fullmatch(next_line))
        and any(map(str.isalnum, line))
        and len(next_line.rstrip()) >= len(line.rstrip())
    )


def _visible_lines(lines: list[str]) -> Iterator[str]:
    """Yield the visible lines."""
    hidden_indent = -1  # how far a line is indented whose block is not shown; -1 outside of one
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if hidden_indent >= 0 and line.strip() and indent <= hidden_indent:
            hidden_indent = -1
        if hidden_indent >= 0 or _LINE.fullmatch(line) or _TABLE.fullmatch(line):
            continue
        explicit = _EXPLICIT.match(line)
        if explicit is None:
            if not (indent and _FIELD.fullmatch(line)):  # an option of a directive that is shown
                yield strip_marks(line)
            continue
        body = explicit["what"] or ""
        note, directive = _NOTE.match(body), _DIRECTIVE.match(body)
        if note:
            yield strip_marks(note["text"])
        elif directive and directive["name"] in SHOWN:
            if directive["argument"] and "code" not in directive["name"]:
                yield strip_marks(directive["argument"])
        else:
            hidden_indent = indent
