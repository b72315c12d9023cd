"""Members of threads and works in a window: the thread or work of each document, and the order within.

A thread is shown as a tree: a mail below the one that it answers, among several answers the inclusive ones first. The
mail on top is the one that answers no other of the list. A work is shown with its last version on top, the others below
it, the later ones first.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import Membership
from ibidem_engines.stored_groups import NO_MEMBERSHIPS, Memberships, ThreadMember, WorkMember


@dataclass(frozen=True, slots=True)
class MemberOrder:
    """The order of a thread or work below the document on top."""

    # Rows of the others: inclusive mails, or later versions, first, so that these are shown where few are.
    rows: tuple[int, ...]
    places: Mapping[int, int]  # place of each in the list
    depths: Mapping[int, int]  # how deep each is indented, from 1


@dataclass(frozen=True, eq=False, slots=True)
class WindowMembers:
    """The stored threads and works of the documents of a window."""

    kind: Membership  # `thread` or `version`
    names: Sequence[DocumentRef]  # index and id of each row
    stored: Mapping[DocumentRef, Memberships]  # the memberships of documents
    days: Sequence[int]  # first day of each row's date; a large number without one

    def head(self, rows: int) -> "WindowMembers":
        """Return the first rows."""
        return replace(self, names=self.names[:rows], days=self.days[:rows])

    def thread(self, row: int) -> ThreadMember | None:
        """Return a row's place in a thread, if threads are grouped."""
        return self.stored.get(self.names[row], NO_MEMBERSHIPS).thread if self.kind == "thread" else None

    def work(self, row: int) -> WorkMember | None:
        """Return a row's place in a work, if works are grouped."""
        return self.stored.get(self.names[row], NO_MEMBERSHIPS).work if self.kind == "version" else None

    def set_name(self, row: int) -> str:
        """Return the thread or work of a row; empty for other documents."""
        thread, work = self.thread(row), self.work(row)
        return thread.thread if thread else work.work if work else ""

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

    def families(self, rows: Sequence[int]) -> int:
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
