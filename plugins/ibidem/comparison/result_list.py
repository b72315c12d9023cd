"""View model of a result list: leads with their duplicates, as the terminal, the page and the export show them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem.comparison.word_diff import Piece, word_diff
from ibidem.grouped_search.explanations import ResponseHit, duplicate_reason, groups, hit_title, uncounted_copies

PASSAGE = 300
"""Characters of a text that are shown where no passage of it is marked."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the list.

    Args:
        hit: Its hit.
        lead: The hit that leads its group: its own, or the one above it.
    """

    hit: ResponseHit
    lead: ResponseHit

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.hit["_id"])

    @property
    def mark(self) -> Mapping[str, Any]:
        """Its place in the group, `_dedupe` of the response."""
        mark: Mapping[str, Any] = self.hit.get("_dedupe", {})
        return mark

    def field(self, name: str) -> str:
        """Return a field of the document as text; empty when it has none."""
        return str(self.hit.get("_source", {}).get(name) or "")

    @property
    def title(self) -> str:
        """Its title with the query's words marked, or its id when it has none."""
        titles = self.hit.get("highlight", {}).get("title") or [self.field("title")]
        return str(titles[0] or self.id)

    @property
    def facts(self) -> list[str]:
        """Its date and source, as far as it has them."""
        return [value for value in (self.field("date"), self.field("source")) if value]

    @property
    def passage(self) -> str:
        """The best passage with the query's words marked, or the beginning of its text."""
        return str((self.hit.get("highlight", {}).get("text") or [self.field("text")[:PASSAGE]])[0])

    @property
    def level(self) -> str:
        """The level at which it is a duplicate; `joined` where only a reader or another member put it there."""
        return str(self.mark["level"] or "joined")

    @property
    def evidence(self) -> str:
        """Why it is a duplicate, without the name of its lead; empty for a lead."""
        return duplicate_reason(self.mark).lstrip(":; ")

    @property
    def evidence_with_lead(self) -> str:
        """Why it is a duplicate of the lead, by name, as it follows the level."""
        return duplicate_reason(self.mark, hit_title(self.lead))

    @property
    def difference(self) -> Sequence[Piece]:
        """The words that differ from the lead's; none where the two share a part only."""
        if self.mark["level"] == "partial":
            return ()
        return word_diff(Entry(self.lead, self.lead).field("text"), self.field("text"))


@dataclass(frozen=True, slots=True)
class Group:
    """A lead and its duplicates.

    Args:
        number: Its place in the list.
        lead: The document that leads.
        duplicates: Those that are listed below it.
    """

    number: int
    lead: Entry
    duplicates: Sequence[Entry]

    @property
    def hidden(self) -> int:
        """How many members of the group are not listed."""
        return int(self.lead.mark.get("size", 1)) - 1 - len(self.duplicates)

    @property
    def further(self) -> str:
        """How many copies were counted and not read, in words; empty for none."""
        return uncounted_copies(self.lead.hit)


def read_groups(hits: Sequence[ResponseHit], first: int = 1, *, inside: bool = False) -> Iterator[Group]:
    """Yield the groups of a response.

    Args:
        hits: The hits of the response, leads with their duplicates behind them.
        first: The number of the first group.
        inside: Whether the duplicates inside a collapsed lead are listed too.
    """
    for number, (lead, duplicates) in enumerate(groups(hits), first):
        members = (inside and duplicates_inside(lead)) or duplicates
        yield Group(number, Entry(lead, lead), [Entry(hit, lead) for hit in members])


def duplicates_inside(lead: ResponseHit) -> Sequence[ResponseHit]:
    """Return the duplicates that a collapsed lead carries."""
    hits: Sequence[ResponseHit] = lead.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())
    return hits
