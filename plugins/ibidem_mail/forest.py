"""Threads of a collection of mails: the tree of each, the inclusive mails, and the contained ones.

A mail is inclusive where no other mail of its thread holds all that it says and all that is attached to it: the end
of a branch, an attachment that was dropped, a quotation that was altered or cut. Whoever reads the inclusive mails has
read everything.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibidem_mail.containment import Alteration, alterations, holds
from ibidem_mail.parents import By, Parents, break_circles

MAX_HOLDERS = 200  # mails that are named as holding one; of more, the nearest are


@dataclass(frozen=True, slots=True)
class ThreadedMail:
    """A mail in its thread."""

    thread: str  # id of the first mail of the thread
    id: str  # its own id
    parent: str | None  # id of the mail that it answers; None at a root
    by: By | None  # what says so; None at a root
    inclusive: bool  # whether no other mail of the thread holds all of it
    contained_in: Sequence[str]  # ids of the mails that do


@dataclass(frozen=True, eq=False, slots=True)
class Forest:
    """The threads of a collection."""

    parents: Parents  # the mails, and what each answers
    parent: Sequence[int | None]  # the parent of each, without circles
    thread: Sequence[int]  # the number of the first mail of its thread, of each
    holders: Sequence[Sequence[int]]  # numbers of the mails that hold each whole, the nearest first

    @classmethod
    def grow(cls, parents: Parents) -> "Forest":
        """Build the threads from parents."""
        mails = parents.mails
        order = [(mail.time if mail.time is not None else float("inf"), at) for at, mail in enumerate(mails)]
        parent = list(parents.parent)
        for number in break_circles(parent, order):
            parent[number] = None
        return cls(parents, parent, _threads(parents, parent, order), _holders(parents, parent))

    def rows(self) -> Iterator[ThreadedMail]:
        """Yield the mails thread by thread, in the order of time."""
        mails = self.parents.mails
        members = self.members()
        for thread, numbers in members.items():
            for number in numbers:
                parent, holders = self.parent[number], self.holders[number]
                yield ThreadedMail(
                    mails[thread].id,
                    mails[number].id,
                    None if parent is None else mails[parent].id,
                    None if parent is None else self.parents.by[number],
                    not holders,
                    [mails[each].id for each in holders],
                )

    def members(self) -> Mapping[int, Sequence[int]]:
        """Return the mails of each thread by time; mails without a date come last."""
        members: defaultdict[int, list[int]] = defaultdict(list)
        mails = self.parents.mails
        for number in sorted(range(len(mails)), key=lambda at: (mails[at].time is None, mails[at].time or 0.0, at)):
            members[self.thread[number]].append(number)
        return members

    def altered(self) -> Iterator[tuple[str, str, Sequence[Alteration]]]:
        """Yield each answer that alters its quotation: id of the quoted mail, its own id, and the words."""
        mails = self.parents.mails
        for number, parent in enumerate(self.parent):
            if parent is not None and number not in self.holders[parent]:
                changes = alterations(mails[parent], mails[number])
                if changes:
                    yield mails[parent].id, mails[number].id, changes


def _threads(parents: Parents, parent: Sequence[int | None], order: Sequence[tuple[float, int]]) -> list[int]:
    """Join mails that answer each other or the same missing mail; returns the first of each thread."""
    root = list(range(len(parent)))

    def find(position: int) -> int:
        while root[position] != position:
            root[position] = root[root[position]]
            position = root[position]
        return position

    missing: dict[str, int] = {}
    for number, mail in enumerate(parents.mails):
        above = parent[number]
        others = [missing.setdefault(name, number) for name in (*mail.ancestors, mail.message_id) if name]
        for other in others if above is None else [*others, above]:
            a, b = find(number), find(other)
            first, second = (a, b) if order[a] <= order[b] else (b, a)
            root[second] = first
    return [find(number) for number in range(len(root))]


def _holders(parents: Parents, parent: Sequence[int | None]) -> list[list[int]]:
    """Find the mails that contain each mail: among its direct and indirect answers, and its copies."""
    children: list[list[int]] = [[] for _ in parent]
    for number, above in enumerate(parent):
        if above is not None:
            children[above].append(number)
    holders: list[list[int]] = [[] for _ in parent]
    for number in _upwards(parent, children):
        mail = parents.mails[number]
        found: dict[int, None] = {}
        waiting = list(children[number])
        for child in waiting:
            if child not in found and holds(parents.mails[child], mail):
                found[child] = None
                found.update(dict.fromkeys(holders[child]))
                waiting += children[child]
            if len(found) > MAX_HOLDERS:
                break
        holders[number] = list(found)[:MAX_HOLDERS]
    _add_copies(parents, holders)
    return holders


def _upwards(parent: Sequence[int | None], children: Sequence[Sequence[int]]) -> list[int]:
    """Return all mails, answers before the mails they answer."""
    order = [number for number, above in enumerate(parent) if above is None]
    for number in order:
        order += children[number]
    return order[::-1]


def _add_copies(parents: Parents, holders: list[list[int]]) -> None:
    """Make the first copy of a mail the container of the others: one message, in two mailboxes."""
    first: dict[str, int] = {}
    for number, mail in enumerate(parents.mails):
        copy = first.setdefault(mail.message_id, number) if mail.message_id else number
        if copy != number and holds(parents.mails[copy], mail):
            holders[number] = [*holders[number], copy][:MAX_HOLDERS]
