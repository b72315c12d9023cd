"""Entries of the result list for the template: leads, their duplicates, reasons, differences and passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from ibidem.comparison.html import printable
from ibidem.comparison.word_diff import shorten, word_diff
from ibidem.grouped_search.explanations import (
    Response,
    ResponseHit,
    duplicate_reason,
    format_count,
    groups,
    uncounted_copies,
)
from ibidem_engines.engine import HIGHLIGHT

OPEN, CLOSE = HIGHLIGHT

Kind = Literal["same", "word", "lead", "duplicate", "gap"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of text.

    Args:
        text: What it says.
        kind: `same`: plain; `word`: a word of the query; `lead` or `duplicate`: only in one of two; `gap`: left out.
    """

    text: str
    kind: Kind = "same"


def marked(passage: str) -> list[Stretch]:
    """Cut a passage at the marks around the query's words.

    Args:
        passage: A snippet or title.

    >>> [(each.text, each.kind) for each in marked(f"the {OPEN}court{CLOSE} held")]
    [('the ', 'same'), ('court', 'word'), (' held', 'same')]
    """
    head, *rest = " ".join(passage.split()).split(OPEN)
    stretches = [Stretch(printable(head))]
    for part in rest:
        word, _, after = part.partition(CLOSE)
        stretches += [Stretch(printable(word), "word"), Stretch(printable(after))]
    return [each for each in stretches if each.text]


def differing(lead: str, duplicate: str) -> list[Stretch]:
    """Return what differs between two texts, with a few common words around it; empty when no word does.

    Args:
        lead: The one text.
        duplicate: The other.
    """
    return [
        Stretch("…" if piece.kind == "gap" else printable(shorten(piece.words)), piece.kind)
        for piece in word_diff(lead, duplicate)
    ]


PASSAGE = 300
WEB = ("http", "https")
"""Schemes of addresses that are made links; any other stands as text."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document in the list.

    Args:
        id: Its id.
        title: Its title, or its id, with the query's words marked.
        about: Date and source, each apart: one that is written from right to left moves no other.
        url: Where it was published; empty when that is no address of the web.
        passage: A passage with the query's words marked.
        level: The level at which it is a duplicate; empty for a lead.
        reason: Why it is one.
        differs: What differs from its lead.
        lead: The id of the lead that it is under; empty for a lead.
    """

    id: str
    title: Sequence[Stretch]
    about: Sequence[str]
    url: str
    passage: Sequence[Stretch] = ()
    level: str = ""
    reason: str = ""
    differs: Sequence[Stretch] = ()
    lead: str = ""

    @property
    def named(self) -> str:
        """Its id as a part of an address."""
        return urlencode({"id": self.id})

    @property
    def pair(self) -> str:
        """It and its lead as a part of an address."""
        return urlencode({"a": self.lead, "b": self.id})


@dataclass(frozen=True, slots=True)
class Group:
    """A lead and its duplicates.

    Args:
        number: Its place in the list.
        id: The group's id.
        lead: The document that leads.
        duplicates: Those that are shown below it.
        hidden: How many are not shown.
        further: How many copies were counted besides, in words.
        opened: Whether they are seen at once.
    """

    number: int
    id: str
    lead: Entry
    duplicates: Sequence[Entry]
    hidden: int
    further: str
    opened: bool

    @property
    def size(self) -> int:
        """How many documents are similar to its lead."""
        return len(self.duplicates) + self.hidden

    @property
    def told(self) -> str:
        """How many duplicates there are, in words."""
        return format_count(self.size, "duplicate")


def listed(response: Response, first: int) -> list[Group]:
    """Make the groups of a page.

    Args:
        response: As `presentation.md` lays it down, with `explain`.
        first: The number of the page's first group.
    """
    opened = response["dedupe"]["mode"] != "collapse"
    return [
        group_of(number, lead, inside(lead) or duplicates, opened=opened)
        for number, (lead, duplicates) in enumerate(groups(response["hits"]["hits"]), first)
    ]


def inside(lead: ResponseHit) -> Sequence[ResponseHit]:
    """Return the duplicates that a collapsed lead carries."""
    hits: Sequence[ResponseHit] = lead.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())
    return hits


def group_of(number: int, lead: ResponseHit, duplicates: Sequence[ResponseHit], *, opened: bool) -> Group:
    """Make a group of its hits."""
    mark = lead.get("_dedupe", {})
    return Group(
        number=number,
        id=str(mark.get("group", "")),
        lead=leading(lead),
        duplicates=[duplicate(hit, lead) for hit in duplicates],
        hidden=int(mark.get("size", 1)) - 1 - len(duplicates),
        further=uncounted_copies(lead),
        opened=opened,
    )


def leading(hit: ResponseHit) -> Entry:
    """Describe a lead."""
    passages = hit.get("highlight", {}).get("text") or [text_of(hit)[:PASSAGE]]
    return Entry(hit["_id"], title(hit), about(hit), url(hit), marked(str(passages[0])))


def duplicate(hit: ResponseHit, lead: ResponseHit) -> Entry:
    """Describe a duplicate."""
    mark: Mapping[str, Any] = hit["_dedupe"]
    return Entry(
        id=hit["_id"],
        title=title(hit),
        about=about(hit),
        url=url(hit),
        level=str(mark["level"] or "joined"),
        reason=printable(duplicate_reason(mark).lstrip(":; ")),
        differs=() if mark["level"] == "partial" else differing(text_of(lead), text_of(hit)),
        lead=lead["_id"],
    )


def title(hit: ResponseHit) -> list[Stretch]:
    """Return a hit's title with the query's words marked, or its id when it has none."""
    titles = hit.get("highlight", {}).get("title") or [hit.get("_source", {}).get("title")]
    return marked(str(titles[0] or hit["_id"]))


def about(hit: ResponseHit) -> list[str]:
    """Return date and source of a hit, as far as it has them."""
    source = hit.get("_source", {})
    return [printable(str(part)) for part in (source.get("date"), source.get("source")) if part]


def url(hit: ResponseHit) -> str:
    """Return where a document was published, when that is an address of the web.

    >>> url({"_source": {"url": "javascript:alert(1)"}}), url({"_source": {"url": "https://example.org/a"}})
    ('', 'https://example.org/a')
    """
    return web_address(str(hit.get("_source", {}).get("url") or ""))


def web_address(typed: str) -> str:
    """Return an address when a browser may be sent there, else nothing."""
    try:
        parts = urlsplit(typed.strip())
    except ValueError:
        return ""
    return typed.strip() if parts.scheme in WEB and parts.netloc else ""


def text_of(hit: ResponseHit) -> str:
    """Return a hit's text."""
    return str(hit.get("_source", {}).get("text", ""))
