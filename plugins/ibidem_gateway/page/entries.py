"""The result list for the template: its request, leads, their duplicates, reasons, differences and passages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from ibidem.comparison import result_list
from ibidem.comparison.html import printable
from ibidem.comparison.word_diff import Piece, shorten, word_diff
from ibidem.grouped_search.explanations import Response, format_count
from ibidem.grouped_search.stored import is_as_stored
from ibidem_core.errors import EngineError
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import HIGHLIGHT, Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint
from ibidem_gateway.page.rendering import written_date
from ibidem_gateway.page.state import PageState
from ibidem_ingest.errors import UsageError

OPEN, CLOSE = HIGHLIGHT

Kind = Literal["same", "word", "lead", "duplicate", "gap"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of text."""

    text: str  # what it says
    # `same`: plain; `word`: a word of the query; `lead` or `duplicate`: only in one of two; `gap`: left out.
    kind: Kind = "same"


def split_marks(passage: str) -> list[Stretch]:
    """Split a passage at the highlighting marks.

    >>> [(each.text, each.kind) for each in split_marks(f"the {OPEN}court{CLOSE} held")]
    [('the ', 'same'), ('court', 'word'), (' held', 'same')]
    """
    head, *parts = " ".join(passage.split()).split(OPEN)
    stretches = [Stretch(printable(head))]
    for part in parts:
        word, _, tail = part.partition(CLOSE)
        stretches += [Stretch(printable(word), "word"), Stretch(printable(tail))]
    return [each for each in stretches if each.text]


def diff(lead: str, duplicate: str) -> list[Stretch]:
    """Return the words that differ between two texts, with some context; empty if none differ."""
    return stretches(word_diff(lead, duplicate))


def stretches(pieces: Sequence[Piece]) -> list[Stretch]:
    """Split a difference into pieces, with long runs of words shortened."""
    return [Stretch("…" if piece.kind == "gap" else printable(shorten(piece.words)), piece.kind) for piece in pieces]


WEB = ("http", "https")  # schemes of addresses that are made links; any other is shown as text


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A document in the list."""

    id: str
    title: Sequence[Stretch]  # its title, or its id, with the query's words marked
    about: Sequence[str]  # date and source, each isolated for bidirectional text
    url: str  # the web address at which it was published; empty if there is none
    passage: Sequence[Stretch] = ()  # a passage with the query's words marked
    level: str = ""  # the level at which it is a duplicate; empty for a lead
    reason: str = ""  # why it is one
    # The words that differ from its lead; None if that is read when the group is opened.
    differs: Sequence[Stretch] | None = ()
    lead: str = ""  # the id of the lead that it is under; empty for a lead
    index: str = ""
    depth: int = 0  # how deep it is indented, from 1; 0 for a lead

    @property
    def pair(self) -> str:
        """The pair of the duplicate and its lead, as a query string."""
        return urlencode({"a": self.lead, "b": self.id})


@dataclass(frozen=True, slots=True)
class PageGroup:
    """A lead and its duplicates."""

    number: int  # its place in the list
    id: str  # the group's id
    lead: PageEntry  # the document that leads
    duplicates: Sequence[PageEntry]  # the duplicates shown below it
    hidden: int  # how many are not shown
    further: str  # how many more copies were counted, in words
    opened: bool  # whether they are shown without a click
    noun: str = "duplicate"  # what its other members are called

    @property
    def size(self) -> int:
        """Number of documents in the group."""
        return len(self.duplicates) + self.hidden

    @property
    def documents(self) -> Sequence[PageEntry]:
        """The lead and the shown duplicates."""
        return [self.lead, *self.duplicates]

    @property
    def count_text(self) -> str:
        """Number of duplicates, or of further mails or versions, in words."""
        return format_count(self.size, self.noun if self.noun == "duplicate" else f"further {self.noun}")


# Processor seconds in which the differences of a page's open groups are read; the browser asks for the others.
BUDGET = 0.02


def page_groups(response: Response, first: int, budget: float = BUDGET) -> list[PageGroup]:
    """Build the groups of a page."""
    deadline = thread_time() + budget
    is_open = response["dedupe"]["mode"] != "collapse"
    return [
        PageGroup(
            number=group.number,
            id=str(group.lead.mark.get("group", "")),
            lead=lead_entry(group.lead),
            duplicates=[duplicate(entry, reads=is_open and thread_time() < deadline) for entry in group.duplicates],
            hidden=group.hidden,
            further=group.further,
            opened=is_open,
            noun=group.noun,
        )
        for group in result_list.read_groups(response["hits"]["hits"], first, inside=True)
    ]


def lead_entry(entry: result_list.Entry) -> PageEntry:
    """Describe a lead."""
    return PageEntry(
        id=entry.id,
        title=split_marks(entry.title),
        about=byline(entry),
        url=url(entry),
        passage=split_marks(entry.passage),
        index=entry.index,
    )


def duplicate(entry: result_list.Entry, *, reads: bool) -> PageEntry:
    """Describe a duplicate."""
    return PageEntry(
        id=entry.id,
        title=split_marks(entry.title),
        about=byline(entry),
        url=url(entry),
        level=entry.level,
        reason=printable(entry.evidence),
        differs=stretches(entry.difference) if reads or entry.level in ("partial", "thread") else None,
        lead=str(entry.lead["_id"]),
        index=entry.index,
        depth=entry.depth,
    )


def byline(entry: result_list.Entry) -> list[str]:
    """Return date and source of a document, if known."""
    return [written_date(printable(part)) for part in entry.facts]


def url(entry: result_list.Entry) -> str:
    """Return the web address at which a document was published; empty if there is none.

    >>> [url(result_list.Entry({"_source": {"url": each}}, {})) for each in ("javascript:alert(1)", "https://example.org/a")]
    ['', 'https://example.org/a']
    """
    return web_address(entry.field("url"))


def web_address(typed: str) -> str:
    """Return an address if it is safe to link to, else an empty string."""
    try:
        parts = urlsplit(typed.strip())
    except ValueError:
        return ""
    return typed.strip() if parts.scheme in WEB and parts.netloc else ""


def list_request(engine: Engine, state: PageState) -> DedupeRequest:
    """Return the dedupe request of a list: by stored groups, if they are settled and no other option is set."""
    request = state.request()
    if state.by or request.mode == "off" or not has_stored_groups(engine, request):
        return request
    return replace(request, by="stored")


def has_stored_groups(engine: Engine, request: DedupeRequest) -> bool:
    """Return whether the groups of an index are settled under a request's policy, as far as the caller may read."""
    try:
        return request.passages is None and is_as_stored(
            request, GroupCheckpoint.read(engine.group_set(use_cache=True))
        )
    except (EngineError, UsageError):
        return False


def has_more(response: Any, state: PageState) -> bool:
    """Return whether the next page has any results."""
    account = response["dedupe"]
    if account["mode"] == "off":
        return bool(state.page * state.size < account["documents"]["matched"])
    pages_follow = state.page * state.size < account["groups"]["in_window"]
    return bool(
        pages_follow or (not account["groups"]["exact"] and state.sort == "relevance" and not account.get("limited"))
    )
