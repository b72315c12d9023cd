"""Members of threads and works in a window: the thread or work of each document, and the order within.

A thread is shown as a tree: a mail below the one that it answers, among several answers the inclusive ones first. The
mail on top is the one that answers no other of the list. A work is shown with its last version on top, the others below
it, the later ones first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem.grouped_search.window import MemberOrder
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import Membership
from ibidem_engines.stored_groups import Values
from ibidem_mail.memberships import Memberships, ThreadMember, WorkMember, membership_reason

# Remedy where no document is of a thread or a work.
COMMANDS: Mapping[Membership, str] = {
    "thread": "find and store the threads of mails with: ibidem regroup --threads",
    "version": "find and store the versions of works with: ibidem regroup --versions",
}


@dataclass(frozen=True, eq=False, slots=True)
class WindowMembers:
    """The stored threads or works of the documents of a window."""

    kind: Membership
    names: Sequence[DocumentRef]  # index and id of each row
    stored: Sequence[Values]  # their stored values
    days: Sequence[int]  # first day of each row's date; a large number without one

    @property
    def is_ordered(self) -> bool:
        """Whether the document on top is the current one."""
        return self.kind == "version"

    def head(self, rows: int) -> "WindowMembers":
        """Return the first rows."""
        return replace(self, names=self.names[:rows], days=self.days[:rows], stored=self.stored[:rows])

    def thread(self, row: int) -> ThreadMember | None:
        """Return a row's place in a thread, if threads are grouped."""
        return Memberships.read(self.stored[row]).thread if self.kind == "thread" else None

    def work(self, row: int) -> WorkMember | None:
        """Return a row's place in a work, if works are grouped."""
        return Memberships.read(self.stored[row]).work if self.kind == "version" else None

    def set_name(self, row: int) -> str:
        """Return the thread or work of a row; empty for other documents."""
        return str(self.stored[row].get("thread" if self.kind == "thread" else "work") or "")

    def top(self, rows: Sequence[int]) -> int:
        """Return the row to show on top: the first mail in the tree of answers, or the last version."""
        if self.kind == "version":
            return min(rows, key=self._age)
        ids = {self.names[row][1] for row in rows}
        return min(rows, key=lambda row: (self.parent(row) in ids, self.parent(row) != "", self.days[row], row))

    def order(self, rows: Sequence[int], top: int) -> MemberOrder:
        """Return the rows of a thread or work in display order."""
        others = [row for row in rows if row != top]
        if self.kind == "version":
            newest = sorted(others, key=self._age)
            return MemberOrder(tuple(newest), {}, dict.fromkeys(newest, 1))
        depths = self._tree(others, top)
        places = {row: place for place, row in enumerate(depths)}
        first = sorted(others, key=lambda row: (not self.is_inclusive(row), places[row]))
        return MemberOrder(tuple(first), places, depths)

    def mark(self, row: int, others: Sequence[int] | None) -> dict[str, Any]:
        """Return what the hit of a row says of it; a lead gets the other rows of its group."""
        if (thread := self.thread(row)) is not None:
            mark: dict[str, Any] = {"inclusive": thread.inclusive, "parent": thread.parent or None}
            return mark if others is None else mark | {"families": self.families((row, *others))}
        work = self.work(row)
        return {} if work is None else {"edition": work.edition, "current": work.current}

    def why(self, row: int) -> dict[str, Any] | None:
        """Return why a row belongs to its thread or work, also in words."""
        why: dict[str, Any] | None = None
        if (thread := self.thread(row)) is not None:
            why = {"signature": "thread", "by": thread.by or None, "parent": thread.parent or None}
        elif (work := self.work(row)) is not None:
            why = {"signature": "version", "by": work.by or None, "edition": work.edition}
        return why and why | {"phrase": membership_reason(why)}

    def stats(self, ranked: int) -> dict[str, Any]:
        """Return how many of the ranked rows have a place; the remedy if none has."""
        rows = range(ranked)
        placed = sum(bool(self.set_name(row)) for row in rows)
        families = {"families": self.families(rows)} if self.kind == "thread" and placed else {}
        return {"placed": placed} | families | ({} if placed or not ranked else {"remedy": COMMANDS[self.kind]})

    def parent(self, row: int) -> str:
        """Return the id of the mail that a row answers or is attached to; empty at a root."""
        thread = self.thread(row)
        return thread.parent if thread else ""

    def is_inclusive(self, row: int) -> bool:
        """Return whether no other mail of the thread contains the whole mail."""
        thread = self.thread(row)
        return bool(thread and thread.inclusive)

    def family(self, row: int) -> str:
        """Return the id of a row's family: of the mail it is attached to, else its own."""
        thread = self.thread(row)
        return thread.parent if thread and thread.is_attached else self.names[row][1]

    def families(self, rows: Iterable[int]) -> int:
        """Count the families among rows."""
        return len({(self.set_name(row), self.family(row)) for row in rows})

    def _age(self, row: int) -> tuple[int, bool, int]:
        """Return the sort key of versions, the last version first."""
        work = self.work(row)
        return (-work.edition, not work.current, row) if work else (0, True, row)

    def _tree(self, rows: Sequence[int], top: int) -> Mapping[int, int]:
        """Return the depth of each row, in tree order; rows that answer no other row are right below the top."""
        by_id = {self.names[row][1]: row for row in reversed(rows)}
        below: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows:
            above = by_id.get(self.parent(row), top)
            below[top if above == row else above].append(row)
        for answers in below.values():
            answers.sort(key=lambda row: (self.parent(row) != self.names[top][1], *self._rank(row)), reverse=True)
        depths: dict[int, int] = {}
        waiting = [(row, 1) for row in below.pop(top, ())]
        while waiting:
            row, depth = waiting.pop()
            depths[row] = depth
            waiting += [(each, depth + 1) for each in below.pop(row, ())]
        return depths | {row: 1 for row in rows if row not in depths}  # in a cycle the top is itself a parent

    def _rank(self, row: int) -> tuple[bool, int, int]:
        """Return the sort key of answers to one mail."""
        return not self.is_inclusive(row), self.days[row], row
