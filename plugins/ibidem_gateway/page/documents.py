"""Documents of the inspect page: a document's duplicates with their texts, and the timeline."""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Response
from pydantic import Field

from ibidem.comparison.word_diff import page_breaks
from ibidem.grouped_search.api import format_count
from ibidem.index.documents import Duplicate, Inspection, find_overrides, read_document
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.query import HIGHLIGHT, Phrase, mark
from ibidem_gateway.dependencies import CallersEngine, StrictQuery, WithContext
from ibidem_gateway.page.comparison import cut_pages
from ibidem_gateway.page.state import ListQuery, html, printable, written_date
from ibidem_ingest.dates import interval, iso_day
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument
from ibidem_ingest.mail.head import is_mail
from ibidem_mail.forest import BodySection, body_sections

MAX_DUPLICATES = 200  # duplicates that the page shows


class Copy(NamedTuple):
    document: Document
    title: str  # its title, or its id
    about: Sequence[str]  # date and source, if known
    found: Duplicate  # what makes it one


def read_copies(engine: Engine, inspection: Inspection) -> Sequence[Copy]:
    duplicates = inspection.duplicates[:MAX_DUPLICATES]
    fetched = engine.fetch([(each.index, each.id) for each in duplicates])
    read = {(each.index, each.document.id): each.document for each in fetched}
    return [
        Copy(
            document,
            printable(document.title or document.id),
            [printable(part) for part in (written_date(document.date), document.source) if part],
            each,
        )
        for each in duplicates
        if (document := read.get((each.index, each.id)))
    ]


WIDTH, LEFT, RIGHT, LINE = 720, 180, 20, 26
MAX_SOURCES = 15
OTHERS = "other sources"
# Around a part that may be written from right to left, where no element can be.
ISOLATE, POP = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


class Point(NamedTuple):
    x: float  # from the left
    y: float  # from above
    id: str
    label: str  # title, date and source


class Timeline(NamedTuple):
    """Points by date and source."""

    points: Sequence[Point]  # the documents with a date
    rows: Sequence[tuple[str, float]]  # names of sources, and the distance of each from the top
    begin: str  # the first day
    end: str  # the last
    height: int  # height of the picture
    undated: int  # how many documents have no date
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT


def timeline(document: Document, copies: Sequence[Document]) -> Timeline | None:
    """Build the timeline of a document and its copies; None unless their dates differ."""
    dated = [
        (day, each)
        for each in (document, *copies)
        if each.date and (day := interval(each.date)[0]) is not None  # its first day
    ]
    first, last = min((day for day, _ in dated), default=0), max((day for day, _ in dated), default=0)
    if first == last:
        return None
    names = list(dict.fromkeys(each.source or "no source" for _, each in sorted(dated, key=lambda entry: entry[0])))
    labels = names if len(names) <= MAX_SOURCES else [*names[: MAX_SOURCES - 1], OTHERS]
    row = {name: labels.index(name) if name in labels else len(labels) - 1 for name in names}
    return Timeline(
        points=[
            Point(
                x=round(LEFT + (WIDTH - LEFT - RIGHT) * (day - first) / (last - first), 1),
                y=LINE * (row[each.source or "no source"] + 1),
                id=each.id,
                label=" · ".join(
                    f"{ISOLATE}{part}{POP}"  # for bidirectional text
                    for part in (each.title or each.id, written_date(each.date), each.source)
                    if part
                ),
            )
            for day, each in dated
        ],
        rows=[(name, LINE * (number + 1)) for number, name in enumerate(labels)],
        begin=written_date(iso_day(first)),
        end=written_date(iso_day(last)),
        height=LINE * (len(labels) + 2),
        undated=1 + len(copies) - len(dated),
    )


MAX_TITLES = 500  # decisions of which the titles are read; the later ones are named by id

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)


class Titled(NamedTuple):
    id: str
    title: str  # its title, or its id


class Decision(NamedTuple):
    a: Titled
    b: Titled  # the other
    verdict: str  # `same` or `not`; `none`: it was taken back
    override: Override | None = None  # the decision as it is stored; None if it was taken back


class ShownDecisions(StrictQuery):
    said: str = Field(default="", description="The most recent decision.")
    about: list[str] = Field(default=[], max_length=2, description="The two documents of that decision.")


def last_decision(engine: Engine, parameters: ListQuery | ShownDecisions) -> Decision | None:
    """Return the last decision, as named by the URL; None if there is none."""
    if not parameters.said or len(parameters.about) != 2:
        return None
    try:
        a, b = (read_document(engine, each) for each in parameters.about)
    except MissingDocument:
        return None
    first, second = (Titled(each.id, printable(each.title or each.id)) for each in (a, b))
    return Decision(first, second, parameters.said)


@router.get("/overrides")
def overrides(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownDecisions, Query()]) -> Response:
    """Show the decisions that a caller may read, with titles."""
    decisions = find_overrides(engine)
    found = engine.fetch(list(dict.fromkeys(name for each in decisions[:MAX_TITLES] for name in (each.a, each.b))))
    titles = {(each.index, each.document.id): printable(each.document.title or each.document.id) for each in found}
    named = {name: Titled(name[1], titles.get(name, name[1])) for each in decisions for name in (each.a, each.b)}
    return html(
        "page_overrides.html",
        decisions=[Decision(named[each.a], named[each.b], each.verdict, each) for each in decisions],
        overrides=context.settings.gateway_overrides,
        decision=last_decision(engine, parameters),
    )


OPEN, CLOSE = HIGHLIGHT
_MARKS = re.compile(f"([{OPEN}{CLOSE}])")


class Piece(NamedTuple):
    text: str  # what it says
    page: int = 0  # number of the page that begins before it, from 1; 0 when none does
    match: int = 0  # number of the match that it belongs to, from 1; 0 when it is no word of the query
    first: bool = False  # whether it begins its match: one that goes over a page break has several pieces


def pieces(text: str, phrases: Sequence[Phrase], numbers: Iterator[int]) -> Iterator[Piece]:
    """Split a text at its page breaks and at the words of a query, which get the next numbers.

    >>> [(each.text, each.match) for each in pieces("The duty on grain.", [Phrase("duty")], count(1))]
    [('The ', 0), ('duty', 1), (' on grain.', 0)]
    """
    marked_text = mark(text, phrases) if phrases else text
    number = 0
    for run in cut_pages(marked_text, page_breaks(marked_text), 0, len(marked_text)):
        if run.kind == "page":
            yield Piece("", int(run.text))
            continue
        first = False
        for part in _MARKS.split(run.text):
            if part in (OPEN, CLOSE):
                first = part == OPEN
                number = next(numbers) if first else 0
            elif part:
                yield Piece(part, match=number, first=first)
                first = False


MAX_SECTIONS = 1_000  # sections of a body up to which its quotations are folded

OPEN_LINES = 4  # lines of a quotation that stays open where the author writes below it


class Fragment(NamedTuple):
    """A piece of a section's text."""

    pieces: Sequence[Piece]  # the text, with matches of the query
    is_altered: bool = False  # whether it was put in place of other words
    original: str = ""  # these words


class ShownSection(NamedTuple):
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
    numbers, shown = count(1), []
    for at, section in enumerate(sections):
        fragments = list(_fragments(document.text, section, phrases, numbers))
        has_match = any(piece.match for each in fragments for piece in each.pieces)
        answered = any(each.kind == "new" for each in sections[at + 1 :])
        shown.append(
            ShownSection(
                section.kind,
                fragments,
                printable(find_author(section.author, ancestors)),
                format_count(section.lines, "line"),
                f"altered in {format_count(len(section.changes), 'place')}" if section.changes else "",
                # A quotation is open if it is altered, has a match, or is short and answered below it.
                opened=bool(section.changes) or has_match or (answered and section.lines <= OPEN_LINES),
            )
            if section.kind == "quoted"
            else ShownSection(section.kind, fragments)
        )
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


def _fragments(
    text: str, section: BodySection, phrases: Sequence[Phrase], numbers: Iterator[int]
) -> Iterator[Fragment]:
    """Yield the text of a section, split at altered words and matches."""
    end = section.start + len(text[section.start : section.end].rstrip("\n"))
    at = section.start
    cuts = [(change.start, change.end, change.original) for change in section.changes if change.end <= end]
    for start, stop, original in [*cuts, (end, end, "")]:
        if at < start:
            yield Fragment(list(pieces(text[at:start], phrases, numbers)))
        if start < stop:
            yield Fragment(list(pieces(text[start:stop], phrases, numbers)), is_altered=True, original=original)
        at = max(at, stop)
