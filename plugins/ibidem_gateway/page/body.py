"""Text of a document as the page shows it: page breaks, the query's words, and folded quotations of mails."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ibidem.grouped_search.explanations import format_count
from ibidem_engines.engine import HIGHLIGHT
from ibidem_engines.query import Phrase
from ibidem_engines.words import mark
from ibidem_gateway.page.comparison import PagedText
from ibidem_gateway.page.rendering import printable
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import is_mail
from ibidem_mail.forest import BodySection, body_sections

OPEN, CLOSE = HIGHLIGHT
_MARKS = re.compile(f"([{OPEN}{CLOSE}])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text."""

    text: str  # what it says
    page: int = 0  # number of the page that begins before it, from 1; 0 when none does
    match: int = 0  # number of the match that it belongs to, from 1; 0 when it is no word of the query
    first: bool = False  # whether it begins its match: one that goes over a page break has several pieces


def pieces(text: str, phrases: Sequence[Phrase] = ()) -> Iterator[Piece]:
    """Split a text at its page breaks and at the words of a query.

    >>> [(each.text, each.match) for each in pieces("The duty on grain.", [Phrase("duty")])]
    [('The ', 0), ('duty', 1), (' on grain.', 0)]
    """
    marked_text = mark(text, phrases) if phrases else text
    number, in_mark = 0, False
    for span in PagedText.read(marked_text).stretches(0, len(marked_text)):
        page, first = span.page, False
        if page:
            yield Piece("", page)
        for part in _MARKS.split(span.text):
            if part in (OPEN, CLOSE):
                in_mark = first = part == OPEN
                number += in_mark
            elif part:
                yield Piece(part, match=number if in_mark else 0, first=first)
                first = False


MAX_SECTIONS = 1_000  # sections of a body up to which its quotations are folded

OPEN_LINES = 4  # lines of a quotation that stays open where the author writes below it


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a section's text."""

    pieces: Sequence[Piece]  # the text, with matches of the query
    is_altered: bool = False  # whether it was put in place of other words
    original: str = ""  # these words


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section of a document's text."""

    kind: str  # `new`, `quoted` or `signature`
    fragments: Sequence[Fragment]  # its text
    author: str = ""  # whose text is quoted; empty if nothing says so
    lines: str = ""  # number of quoted lines, in words
    altered: str = ""  # how many places are altered, in words; empty if none is
    opened: bool = True  # whether a quotation is shown without a click


def shown_sections(document: Document, ancestors: Sequence[Document], phrases: Sequence[Phrase]) -> list[ShownSection]:
    """Return the sections of a document's text; only mails have more than one."""
    whole = BodySection("new", 0, len(document.text))
    sections = [whole]
    if is_mail(document.meta):
        found = body_sections(document.text, [each.text for each in ancestors])
        sections = found if 0 < len(found) <= MAX_SECTIONS else sections
    matches, shown = 0, []
    for at, section in enumerate(sections):
        fragments = list(_fragments(document.text, section, phrases, matches))
        last = max((piece.match for each in fragments for piece in each.pieces), default=matches)
        answered = any(each.kind == "new" for each in sections[at + 1 :])
        author = find_author(section.author, ancestors)
        shown.append(_show(section, author, fragments, has_match=last > matches, is_answered=answered))
        matches = max(matches, last)
    return shown


def find_author(heading: str, ancestors: Sequence[Document]) -> str:
    """Return the author of a quotation: that of the mail named in its heading, else the heading's own text.

    >>> find_author("On 3 May 2004, Ann wrote", [Document("a", "", source="Ann <ann@example.org>")])
    'Ann <ann@example.org>'
    """
    if not heading:
        return ancestors[0].source if ancestors else ""
    names = ((each.source.partition("<")[0].strip(" \"'").lower(), each.source) for each in ancestors)
    return next((source for name, source in names if name and name in heading.lower()), heading)


def _show(
    section: BodySection, author: str, fragments: Sequence[Fragment], *, has_match: bool, is_answered: bool
) -> ShownSection:
    """Describe a section; a quotation is open if it is altered, has a match, or is short and answered below it."""
    if section.kind != "quoted":
        return ShownSection(section.kind, fragments)
    altered = len(section.changes)
    return ShownSection(
        section.kind,
        fragments,
        printable(author),
        format_count(section.lines, "line"),
        f"altered in {format_count(altered, 'place')}" if altered else "",
        opened=bool(altered) or has_match or (is_answered and section.lines <= OPEN_LINES),
    )


def _fragments(text: str, section: BodySection, phrases: Sequence[Phrase], matches: int) -> Iterator[Fragment]:
    """Yield the text of a section, split at altered words and matches."""
    end = section.start + len(text[section.start : section.end].rstrip("\n"))
    at = section.start
    cuts = [(change.start, change.end, change.original) for change in section.changes if change.end <= end]
    for start, stop, original in [*cuts, (end, end, "")]:
        for begin, finish, was in ((at, start, None), (start, stop, original)):
            if begin < finish:
                found = [
                    replace(piece, match=piece.match + matches) if piece.match else piece
                    for piece in pieces(text[begin:finish], phrases)
                ]
                matches = max((piece.match for piece in found), default=matches) or matches
                yield Fragment(found, was is not None, was or "")
        at = max(at, stop)
