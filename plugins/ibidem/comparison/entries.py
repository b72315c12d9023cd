"""Hits of a response as entries of a list for people: groups, each with its lead and the duplicates below it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem.comparison.word_diff import Piece, word_diff
from ibidem.grouped_search.explanations import ResponseHit, duplicate_reason, groups

PASSAGE = 300  # characters of a text that are shown where no passage of it is marked


@dataclass(frozen=True, slots=True)
class Entry:
    hit: ResponseHit
    lead: ResponseHit  # the hit that leads its group: its own, or the one above it

    @property
    def id(self) -> str:
        return str(self.hit["_id"])

    @property
    def index(self) -> str:
        return str(self.hit.get("_index", ""))

    @property
    def mark(self) -> Mapping[str, Any]:
        """Position of the document in its group: `_dedupe` of the response."""
        mark: Mapping[str, Any] = self.hit.get("_dedupe", {})
        return mark

    def field(self, name: str) -> str:
        """Return a field of the document as text; empty if missing."""
        return str(self.hit.get("_source", {}).get(name) or "")

    @property
    def title(self) -> str:
        """Title with the query's words marked; the id if there is no title."""
        titles = self.hit.get("highlight", {}).get("title") or [self.field("title")]
        return str(titles[0] or self.id)

    @property
    def facts(self) -> list[str]:
        """Date and source, and the place among the mails or versions, if known."""
        return [value for value in (self.field("date"), self.field("source"), self.position_label) if value]

    @property
    def position_label(self) -> str:
        """Place among the mails of a thread or the versions of a work: inclusive, or which version; else empty."""
        if "edition" in self.mark:
            return f"version {self.mark['edition']}" + (", current" if self.mark["current"] else "")
        return "inclusive" if self.mark.get("inclusive") else ""

    @property
    def depth(self) -> int:
        return int(self.mark.get("indent", 0))

    @property
    def passage(self) -> str:
        """The best passage with the query's words marked, or the beginning of the text."""
        return str((self.hit.get("highlight", {}).get("text") or [self.field("text")[:PASSAGE]])[0])

    @property
    def level(self) -> str:
        """Level of the duplicate; `joined` if only a manual decision or another member joined it."""
        return str(self.mark["level"] or "joined")

    @property
    def evidence(self) -> str:
        """Reason why the document is a duplicate, without the name of its lead; empty for a lead."""
        return duplicate_reason(self.mark).lstrip(":; ")

    @property
    def evidence_with_lead(self) -> str:
        """Reason why the document is a duplicate, with the name of the lead, as text to follow the level."""
        return duplicate_reason(self.mark, " ".join(str(self.lead["_source"].get("title") or self.lead["_id"]).split()))

    @property
    def difference(self) -> Sequence[Piece]:
        """Words that differ from the lead; empty if the two only share a part."""
        if self.mark["level"] in ("partial", "thread"):
            return ()
        return word_diff(Entry(self.lead, self.lead).field("text"), self.field("text"))


@dataclass(frozen=True, slots=True)
class Group:
    """A lead and its duplicates."""

    number: int  # its place in the list
    lead: Entry  # the document that leads
    duplicates: Sequence[Entry]  # the duplicates listed below it

    @property
    def hidden(self) -> int:
        return int(self.lead.mark.get("size", 1)) - 1 - len(self.duplicates)

    @property
    def noun(self) -> str:
        """Word for the other members of the group."""
        mark = self.lead.mark
        return "mail" if "families" in mark else "version" if "edition" in mark else "duplicate"


def read_groups(hits: Sequence[ResponseHit], first: int = 1, *, inside: bool = False) -> Iterator[Group]:
    for number, (lead, duplicates) in enumerate(groups(hits), first):
        collapsed = lead.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()) if inside else ()
        members = collapsed or duplicates
        yield Group(number, Entry(lead, lead), [Entry(hit, lead) for hit in members])
