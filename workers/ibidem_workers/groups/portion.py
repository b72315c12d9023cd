"""Which lead each document of a portion joins: leader grouping, where all earlier leads are settled.

Documents are taken in the order of writing. Each joins the first lead that it duplicates, or becomes a lead; it is
compared with leads alone, so there are no chains. A portion is settled against the leads before it, which no longer
change, and within itself. So portions give what one pass over all documents gives, however they are cut.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.pairs import possible

Name = tuple[str, str]
"""Index and id of a document."""

AT_ONCE = 250
"""Documents whose candidates are held at once."""


@dataclass(frozen=True, eq=False)
class Row:
    """A document that is grouped.

    Args:
        name: Its index and id.
        order: Number of the write that it comes from.
        value: Its packed signatures.
    """

    name: Name
    order: int
    value: bytes

    @cached_property
    def packed(self) -> Packed | None:
        """Its signatures; None when they are damaged."""
        return unpack(self.value)

    @property
    def rank(self) -> tuple[int, Name]:
        """What rows are ordered by."""
        return self.order, self.name


@dataclass(frozen=True, slots=True)
class Join:
    """A document joins a lead.

    Args:
        row: The document.
        lead: The lead that it was compared with.
        level: At which level the two are duplicates.
    """

    row: Row
    lead: Row
    level: str


Judge = Callable[[Row, Row], str]
"""Tells the level at which two documents are duplicates; an empty string where they are none."""


class Find(Protocol):
    """Looks up settled leads."""

    def __call__(self, rows: Sequence[Row], *, copies: bool) -> Sequence[Row]:
        """Return the leads that carry values of some documents, and those that were declared the same as one.

        Args:
            rows: The documents.
            copies: Whether only leads with the very same content are wanted.
        """


@dataclass(frozen=True, slots=True)
class Rules:
    """What a portion is grouped by.

    Args:
        policy: The figures.
        judge: The decision for a pair, manual decisions included.
        apart: Documents about which readers said something.
    """

    policy: Policy
    judge: Judge
    apart: frozenset[Name] = frozenset()

    def first(self, row: Row, leads: Iterable[Row]) -> Join | None:
        """Return the join of a row with the first of some leads that it duplicates."""
        for lead in leads:
            if level := self.judge(row, lead):
                return Join(row, lead, level)
        return None

    def key(self, row: Row) -> Hashable:
        """Return what two documents have in common that are duplicates of the very same leads."""
        packed = row.packed
        if packed is None or row.name in self.apart:
            return row.name
        dates = (packed.date_from, packed.date_to) if self.policy.window_days is not None else ()
        return packed.scheme, packed.content, packed.guard, packed.title, packed.idf, dates

    def candidates(self, rows: Sequence[Row], leads: Sequence[Row]) -> list[list[int]]:
        """Name for each row the leads that may be its duplicates, ascending."""
        places = possible(_columns(rows), _columns(leads), self.policy)
        if self.apart and leads:
            named = {at for at, lead in enumerate(leads) if lead.name in self.apart}
            places = [
                sorted(named.union(some)) if row.name in self.apart else some
                for row, some in zip(rows, places, strict=True)
            ]
        return places


def grouped(portion: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Group a portion.

    Args:
        portion: Documents with words, in the order of writing.
        find: Looks among the leads before it.
        rules: What decides.

    Returns:
        Who joins whom; the others are leads.
    """
    first: dict[Hashable, Row] = {}
    for row in portion:
        first.setdefault(rules.key(row), row)
    joins = {each.row.name: each for each in _copies(list(first.values()), find, rules)}
    left = [row for row in first.values() if row.name not in joins]
    for at in range(0, len(left), AT_ONCE):
        joins |= {each.row.name: each for each in _among_settled(left[at : at + AT_ONCE], find, rules)}
    joins |= {each.row.name: each for each in _within([row for row in left if row.name not in joins], rules)}
    for row in portion:
        like = first[rules.key(row)]
        if like is not row:
            lead = joins[like.name].lead if like.name in joins else like
            if join := rules.first(row, [lead]):
                joins[row.name] = join
    return [joins[row.name] for row in portion if row.name in joins]


def _copies(rows: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Let rows join settled leads that are like them in all that decides."""
    like: dict[Hashable, Row] = {}
    for lead in sorted(find(rows, copies=True), key=_rank):
        like.setdefault(rules.key(lead), lead)
    copies = (rules.first(row, [like[key]]) for row in rows if (key := rules.key(row)) in like)
    return [join for join in copies if join]


def _among_settled(rows: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Let rows join the first of the settled leads that they duplicate."""
    leads = sorted(find(rows, copies=False), key=_rank)
    some = zip(rows, rules.candidates(rows, leads), strict=True)
    joined = (rules.first(row, (leads[at] for at in places)) for row, places in some)
    return [join for join in joined if join]


def _within(rows: Sequence[Row], rules: Rules) -> list[Join]:
    """Group rows among themselves."""
    joins: dict[int, Join] = {}
    for at, places in enumerate(rules.candidates(rows, rows)):
        leads = (rows[place] for place in places if place < at and place not in joins)
        if join := rules.first(rows[at], leads):
            joins[at] = join
    return list(joins.values())


def _columns(rows: Sequence[Row]) -> PackedColumns:
    return PackedColumns.of([row.value for row in rows])


def _rank(row: Row) -> tuple[int, Name]:
    return row.rank
