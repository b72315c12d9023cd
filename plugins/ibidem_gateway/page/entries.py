"""Entries and facets of the result list: groups, members, differences, and the counts beside them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ibidem.comparison.word_diff import Piece, shorten, word_diff
from ibidem.grouped_search import response
from ibidem.grouped_search.api import Entry, Group, Response, SearchResult, duplicate_reason, format_count, read_groups
from ibidem_engines.engine import Engine
from ibidem_engines.query import HIGHLIGHT
from ibidem_engines.stored_groups import FacetCount, Facets
from ibidem_gateway.page.state import PageState, printable, written_date

MAX_SOURCES = 12  # sources that are listed
OPEN, CLOSE = HIGHLIGHT

Kind = Literal["same", "word", "lead", "duplicate", "gap", "page", "unread"]


class TextPiece(NamedTuple):
    text: str  # what it says
    # `same`: plain; `word`: a word of the query; `lead` or `duplicate`: only in one of two; `gap`: left out; `page` and
    # `unread`: notes on a difference.
    kind: Kind = "same"


def split_marks(passage: str) -> list[TextPiece]:
    """Split a passage at the highlighting marks.

    >>> [(each.text, each.kind) for each in split_marks(f"the {OPEN}court{CLOSE} held")]
    [('the ', 'same'), ('court', 'word'), (' held', 'same')]
    """
    head, *parts = " ".join(passage.split()).split(OPEN)
    text_pieces = [TextPiece(printable(head))]
    for part in parts:
        word, _, tail = part.partition(CLOSE)
        text_pieces += [TextPiece(printable(word), "word"), TextPiece(printable(tail))]
    return [each for each in text_pieces if each.text]


def text_pieces(pieces: Sequence[Piece]) -> list[TextPiece]:
    """Split a difference into pieces, with long runs of words shortened."""
    return [TextPiece("…" if piece.kind == "gap" else printable(shorten(piece.words)), piece.kind) for piece in pieces]


WEB = ("http", "https")  # schemes of addresses that are made links; any other is shown as text


@dataclass(frozen=True, slots=True)
class PageEntry(Entry):
    # The words that differ from its lead; None if that is read when the group is opened.
    differs: Sequence[TextPiece] | None = ()

    @property
    def heading(self) -> Sequence[TextPiece]:
        """Its title, or its id, with the query's words marked."""
        return split_marks(self.title)

    @property
    def about(self) -> Sequence[str]:
        """Date and source, if known."""
        return [written_date(printable(part)) for part in self.facts]

    @property
    def url(self) -> str:
        """The web address at which it was published; empty if there is none."""
        return web_address(self.field("url"))

    @property
    def excerpt(self) -> Sequence[TextPiece]:
        """A passage with the query's words marked."""
        return split_marks(self.passage)

    @property
    def reason(self) -> str:
        """Reason why it is a duplicate, without the name of its lead; empty for a lead."""
        return printable(duplicate_reason(self.mark).lstrip(":; "))

    @property
    def lead_id(self) -> str:
        return str(self.lead["_id"])


@dataclass(frozen=True, slots=True)
class PageGroup(Group):
    lead: PageEntry
    duplicates: Sequence[PageEntry]
    opened: bool  # whether the duplicates are shown without a click

    @property
    def id(self) -> str:
        return str(self.lead.mark.get("group", ""))

    @property
    def size(self) -> int:
        return len(self.duplicates) + self.hidden

    @property
    def count_text(self) -> str:
        """Number of duplicates, or of further mails or versions, in words."""
        return format_count(self.size, self.noun if self.noun == "duplicate" else f"further {self.noun}")


# Processor seconds in which the differences of a page's open groups are read; the browser asks for the others.
BUDGET = 0.02


def page_groups(response: Response, first: int, budget: float = BUDGET) -> list[PageGroup]:
    deadline = thread_time() + budget
    is_open = response["dedupe"]["mode"] != "collapse"

    def duplicate(entry: Entry) -> PageEntry:
        reads = (is_open and thread_time() < deadline) or entry.level in ("partial", "thread")
        pieces = word_diff(*entry.texts) if reads and entry.texts else ()
        return PageEntry(entry.hit, entry.lead, text_pieces(pieces) if reads else None)

    return [
        PageGroup(
            group.number, PageEntry(group.lead.hit, group.lead.hit), list(map(duplicate, group.duplicates)), is_open
        )
        for group in read_groups(response["hits"]["hits"], first, inside=True)
    ]


def web_address(typed: str) -> str:
    """Return an address if it is safe to link to, else an empty string."""
    try:
        parts = urlsplit(typed.strip())
    except ValueError:
        return ""
    return typed.strip() if parts.scheme in WEB and parts.netloc else ""


def has_more(response: Any, state: PageState) -> bool:
    account = response["dedupe"]
    if account["mode"] == "off":
        return bool(state.page * state.size < account["documents"]["matched"])
    pages_follow = state.page * state.size < account["groups"]["in_window"]
    return bool(
        pages_follow or (not account["groups"]["exact"] and state.sort == "relevance" and not account.get("limited"))
    )


class FacetChoice(NamedTuple):
    """A facet value to filter a list by."""

    name: str  # the value
    address: str  # the list with it, or without it when it is chosen already
    documents: int  # how many examined documents have it
    groups: int  # in how many groups
    chosen: bool  # whether the list is narrowed to it


class Choices(NamedTuple):
    """All facet values to filter a list by."""

    sources: Sequence[FacetChoice] = ()  # sources, the most frequent first
    languages: Sequence[FacetChoice] = ()  # languages, the most frequent first
    years: Sequence[FacetChoice] = ()  # years, the latest first
    without_source: int = 0  # documents without a source, if all sources are listed


def count_choices(engine: Engine, result: SearchResult, state: PageState) -> Choices:
    """Count the facet values of a list: over all matches if groups are stored, else of the window."""
    account = result.response["dedupe"]
    is_stored = account.get("by", "window") != "window"
    if is_stored:
        facets, documents = engine.facets(state.query(), MAX_SOURCES), account["documents"]["matched"]
    else:
        facets = window_facets(engine, result.facets)
        documents = account["documents"]["in_window"] - account["unsigned"]

    def choices(some: Sequence[FacetCount], address: Callable[[str], str], chosen: Sequence[str]) -> list[FacetChoice]:
        return [
            FacetChoice(printable(each.value), address(each.value), each.documents, each.groups, each.value in chosen)
            for each in some
        ]

    sources = choices(facets.sources, partial(state.toggle, "source"), state.source)
    languages = choices(facets.languages, partial(state.toggle, "language"), state.language)
    rest = documents - sum(each.documents for each in sources)
    return Choices(
        sources=sources,
        languages=languages if not is_stored or len(languages) > 1 or state.language else (),
        years=choices(facets.years, lambda year: state.address(date=year if year != state.date else ""), [state.date]),
        without_source=max(0, rest) if 0 < len(sources) < MAX_SOURCES else 0,
    )


def window_facets(engine: Engine, facets: response.Facets) -> Facets:
    """Read the values of a window's facets, and add up the counts of equal ones."""
    sources, tables = facets.get("sources", ())[:MAX_SOURCES], facets.get("tables", ())
    names = [(each["index"], each["id"]) for each in (*sources, *tables)]
    documents_by_name = {(each.index, each.document.id): each.document for each in engine.fetch(names)} if names else {}

    def count_values(name: str, buckets: Sequence[response.Json]) -> list[FacetCount]:
        all_documents, groups = Counter[str](), Counter[str]()
        for each in buckets:
            document = documents_by_name.get((each["index"], each["id"]))
            if document is not None and (value := str(getattr(document, name))):
                all_documents[value] += each["documents"]
                groups[value] += each["groups"]
        return [FacetCount(value, count, groups[value]) for value, count in all_documents.most_common()]

    years = [FacetCount(str(each["year"]), each["documents"], each["groups"]) for each in facets.get("years", ())]
    return Facets(count_values("source", sources), count_values("language", tables), years)
