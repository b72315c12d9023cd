"""Parts of a mail's body: the author's text, quotations, their headings, and the signature.

A line belongs to one part. Marks (`>`) say how deep a line is quoted. Where a program marks nothing, a copied head or a
line of attribution begins a quotation that goes on to the end of what stands at the same depth. The rules look at the
place of a phrase, and never at one phrase alone. Time grows with the length of the text.

Own rules, and no library: `docs/figures/mail.md` has the figures of mail-parser-reply and email-reply-parser, which cut
a mail at its first quotation, so that answers between quoted lines are lost, and give no places.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ibidem_ingest.mail.footers import find_signatures
from ibidem_ingest.mail.headings import NAMED_PREFIX, heading, is_marked_itself, prefixed_end
from ibidem_ingest.mail.lines import Kind, Lines, count_marks, read_lines


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a body."""

    # `new` was written by the author of the mail, `quoted` by another, `heading` introduces a quotation (a line of
    # attribution, a copied head), `signature` is that of the mail itself, or the footer of its list.
    kind: Kind
    start: int  # its first character
    end: int  # the character behind its last
    # How deep it is quoted: 1 is the mail that is answered, 2 what that one quotes; 0 elsewhere. A heading has the
    # depth of what it introduces.
    depth: int = 0


def part(text: str) -> list[Part]:
    r"""Split a body into its parts.

    >>> for each in part("Yes.\n\nOn 3 May 2004, Ann wrote:\n> Is it due?\n-- \nBob\n"):
    ...     print(each)
    Part(kind='new', start=0, end=6, depth=0)
    Part(kind='heading', start=6, end=32, depth=1)
    Part(kind='quoted', start=32, end=45, depth=1)
    Part(kind='signature', start=45, end=53, depth=0)
    """
    if not text:
        return []
    lines = read_lines(text)
    _find_quotations(lines)
    find_signatures(lines)
    return list(_merge(lines))


def own_text(text: str) -> str:
    r"""Return the text of a mail's author; the whole text if it has no word.

    >>> own_text("Yes.\n> Is it due?\nToday.")
    'Yes.\nToday.'
    """
    own = "".join(text[each.start : each.end] for each in part(text) if each.kind == "new")
    return own if any(map(str.isalnum, own)) else text


def unmarked(text: str, piece: Part) -> str:
    r"""Return the text of a part without quote marks.

    >>> text = "> > Is it\n> > due?\n"
    >>> unmarked(text, part(text)[0])
    'Is it\ndue?\n'
    """
    body = text[piece.start : piece.end]
    return _MARKED.sub("", body) if piece.depth else body


_MARKED = re.compile(rf"^(?:(?:[ \t]{{0,3}}>)+|{NAMED_PREFIX.pattern})[ \t]?", re.MULTILINE)


def _find_quotations(lines: Lines) -> None:
    """Find the quotations in one pass; a stack holds the depths at which quotations without marks began."""
    open_at: list[int] = []
    names: set[str] = set()
    position, count = 0, len(lines)
    while position < count:
        mark, content = lines.marks[position], lines.contents[position]
        if not content.strip():
            lines.set(position, position + 1, "quoted" if mark or open_at else "new", mark + len(open_at))
            position += 1
            continue
        while open_at and open_at[-1] > mark:
            open_at.pop()
        first, end, opens = heading(lines, position)
        if end > position:
            is_marked = opens == "open" and is_marked_itself(lines, first)
            depth = mark + len(open_at) + (not is_marked)
            lines.set(first, end, "heading", depth)
            if opens == "open":
                open_at += [] if is_marked else [mark]
            elif opens:
                stop = prefixed_end(lines, end, opens)
                for line in range(end, stop):
                    lines.set(line, line + 1, "quoted", depth + count_marks(lines.contents[line]))
                end = stop
                names.update([opens] if opens.endswith(">") else [])
            position = end
            continue
        depth = mark + len(open_at) + (bool(names) and _named_prefix(content) in names)
        lines.set(position, position + 1, "quoted" if depth else "new", depth)
        position += 1


def _named_prefix(content: str) -> str:
    """Return the name before a quoted line, such as `Ann>`; empty if there is none."""
    match = NAMED_PREFIX.match(content)
    return match[0].strip() if match else ""


def _merge(lines: Lines) -> Iterator[Part]:
    """Merge adjacent lines of one kind and depth; empty lines belong to the lines before them."""
    start, kind, depth = 0, "", 0
    for position, content in enumerate(lines.contents):
        same = lines.kinds[position] == kind and lines.depths[position] == depth
        if not content.strip() or same:
            continue
        if kind:
            yield Part(kind, start, lines.starts[position], depth)  # type: ignore[arg-type]  # a kind since a line was seen
            start = lines.starts[position]
        kind, depth = lines.kinds[position], lines.depths[position]
    yield Part(kind or "new", start, len(lines.text), depth)  # type: ignore[arg-type]  # as above
