"""Response in the engine's own format, so that existing clients keep working."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibidem.dedupe.overrides import DocumentRef, Override
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.window import Window
from ibidem.grouped_search.groups import Group
from ibidem_engines.engine import Hit, StoredDocument
from ibidem_ingest.errors import UsageError

Json = dict[str, Any]
"""What is written as JSON."""

DUPLICATES = "duplicates"
"""Under which name a lead carries its duplicates."""


@dataclass(frozen=True, eq=False, slots=True)
class ResponseRenderer:
    """What a page is made of.

    Args:
        window: The grouped hits.
        groups: The page's groups.
        request: How to show them.
        stored: The documents that are shown as hits hold them, by index and id.
        outside: Documents that a scope found and that do not match the query.
        only_counted: How many further copies of a group's text match, by the group's id.
        through: Rows of stored leads, with which the documents of a group were compared, by the row of its first.
    """

    window: Window
    groups: Sequence[Group]
    request: DedupeRequest
    stored: Mapping[DocumentRef, Json]
    outside: frozenset[DocumentRef] = field(default_factory=frozenset)
    only_counted: Mapping[str, int] = field(default_factory=dict)
    through: Mapping[int, int] = field(default_factory=dict)

    def hits(self) -> list[Json]:
        """Return the list: in `indent` duplicates follow their lead, in `collapse` they are inside it."""
        if self.request.mode == "collapse":
            return [self.collapsed(group) for group in self.groups]
        return [self.entry(group, row) for group in self.groups for row in group.listed]

    def collapsed(self, group: Group) -> Json:
        """Return a lead that carries its duplicates as native collapse does, itself left out."""
        inner = [self.entry(group, row) for row in group.listed[1:]]
        total = {"value": group.size - 1, "relation": "eq"}
        hits = {"total": total, "max_score": None, "hits": inner}
        lead = self.entry(group, group.lead)
        if DUPLICATES in lead.get("inner_hits", {}):
            raise UsageError(
                f"inner_hits named {DUPLICATES!r} do not go with dedupe=collapse", "give them another name"
            )
        return lead | {"inner_hits": {**lead.get("inner_hits", {}), DUPLICATES: {"hits": hits}}}

    def entry(self, group: Group, row: int) -> Json:
        """Return one hit with what the layer says of it."""
        name = self.window.name(row)
        score = self.window.hits[row].score if row < self.window.ranked else None
        return to_hit(self.window.hits[row], self.stored.get(name), score) | {"_dedupe": self.mark(group, row)}

    def mark(self, group: Group, row: int) -> Json:
        """Return the `_dedupe` object of a hit."""
        mark: Json = {
            "group": group.id,
            "indent": int(row != group.lead),
            "size": group.size,
            "shown": 1 + group.shown,
            "hidden": group.size - 1 - group.shown,
            "level": None,
            "score": None,
            "of": None,
            "why": None,
        }
        notes = list(self.spoken(group, row))
        if row != group.lead:
            mark |= self.reason(group, row, notes)
        elif group.id in self.only_counted:
            mark["only_counted"] = self.only_counted[group.id]
        if self.window.name(row) in self.outside:
            mark["outside"] = True
        if self.window.name(row) not in self.stored:
            notes.append("no longer in the index")
        return mark | ({"notes": notes} if notes else {})

    def reason(self, group: Group, row: int, notes: list[str]) -> Json:
        """Return why a duplicate is one: against the lead that is shown, else against the first occurrence."""
        of = group.lead
        evidence = self.window.evidence(row, of)
        if evidence is None:
            notes.append(f"would not pass against {self.window.hits[of].id} alone")
            of = self.through.get(group.first, group.first)
            evidence = self.window.evidence(row, of) if row != of else None
        known = group.first in self.through and of not in (group.lead, row)
        through = {"through": self.window.hits[of].id} if known else {}
        if evidence is None:
            return through
        return through | {
            "level": evidence.level,
            "score": evidence.score,
            "of": self.window.hits[of].id,
            "why": dict(evidence.why) if self.request.explain else None,
        }

    def spoken(self, group: Group, row: int) -> Iterator[str]:
        """Yield what manual decisions say of a hit beyond its evidence."""
        for other, word, holds in self.window.spoken.about(row):
            named = self.window.hits[other].id
            theirs = self.window.group_id(int(self.window.grouping.lead[other]))
            if holds and word.verdict == "same" and theirs != group.id:
                yield f"declared same as {named}, group {theirs}"
            elif self.request.explain:
                yield override_note(word, named, holds=holds)


def override_note(word: Override, named: str, *, holds: bool) -> str:
    """Write a manual decision as a note.

    >>> override_note(Override(("i", "1"), ("i", "2"), "not", "Ada", "other court", "2026-01-05"), "2", holds=True)
    'declared not a duplicate of 2 by Ada, 2026-01-05: other court'
    """
    verdict = "the same as" if word.verdict == "same" else "not a duplicate of"
    by = ", ".join(part for part in (word.author and f"by {word.author}", word.date) if part)
    note = " ".join(part for part in (f"declared {verdict} {named}", by) if part)
    note += f": {word.reason}" if word.reason else ""
    return note if holds else f"{note} (stale: a text has changed since)"


def to_hit(hit: Hit, stored: Json | None, score: float | None) -> Json:
    """Return a hit without anything of the layer's.

    Args:
        hit: Its place.
        stored: The document as a hit holds it; None when it has gone since the ranking was read.
        score: The ranking's score; None for what the ranking does not hold.
    """
    held = {"_source": {}} if stored is None else stored
    shown = {"_index": hit.index, "_id": hit.id, "_score": score} | held
    shown["_score"] = score
    return shown | ({"sort": list(hit.sort)} if hit.sort else {})


def to_source(stored: StoredDocument) -> Json:
    """Write a document as a hit holds it."""
    marked = {"title": [stored.title] if stored.title else [], "text": list(stored.snippets)}
    highlight = {field: passages for field, passages in marked.items() if passages}
    return {"_source": stored.document.as_record()} | ({"highlight": highlight} if highlight else {})
