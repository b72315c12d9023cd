"""Leader clustering of a portion of documents, where all earlier leads are settled.

Documents are taken in the order of writing. Each joins the first lead that it duplicates, or becomes a lead; it is
compared with leads alone, so there are no chains. A portion is settled against the leads before it, which no longer
change, and within itself. So any cut into portions gives the same groups as one pass over all documents.

Manual decisions on pairs are followed, unless one of the texts has changed since.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from ibidem_dedupe.decision import decide
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.pairs import find_candidates

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
        """Sort key of rows."""
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
"""Returns the level at which two documents are duplicates; an empty string when they are not."""


class Find(Protocol):
    """Looks up settled leads."""

    def __call__(self, rows: Sequence[Row], *, copies: bool) -> Sequence[Row]:
        """Return the leads that share look-up keys with some documents, or that a manual decision declares the same.

        Args:
            rows: The documents.
            copies: Whether to return only leads with the same content.
        """


@dataclass(frozen=True, slots=True)
class Rules:
    """Policy and overrides that a portion is grouped by.

    Args:
        policy: The figures.
        judge: The decision for a pair, manual decisions included.
        overridden_names: Documents with a manual decision.
    """

    policy: Policy
    judge: Judge
    overridden_names: frozenset[Name] = frozenset()

    def first_join(self, row: Row, leads: Iterable[Row]) -> Join | None:
        """Return the join of a row with the first of some leads that it duplicates."""
        for lead in leads:
            if level := self.judge(row, lead):
                return Join(row, lead, level)
        return None

    def key(self, row: Row) -> Hashable:
        """Return a key that is equal for documents that duplicate the same leads."""
        packed = row.packed
        if packed is None or row.name in self.overridden_names:
            return row.name
        dates = (packed.date_from, packed.date_to) if self.policy.window_days is not None else ()
        return packed.scheme, packed.content, packed.guard, packed.title, packed.idf, dates

    def candidates(self, rows: Sequence[Row], leads: Sequence[Row]) -> list[list[int]]:
        """Return for each row the leads that may be its duplicates, ascending; of the rows themselves earlier ones."""
        columns = _columns(rows)
        places = find_candidates(columns, columns if leads is rows else _columns(leads), self.policy)
        if self.overridden_names and leads:
            lead_places = {at for at, lead in enumerate(leads) if lead.name in self.overridden_names}
            places = [
                sorted(lead_places.union(row_places)) if row.name in self.overridden_names else row_places
                for row, row_places in zip(rows, places, strict=True)
            ]
        return places


def group_portion(portion: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Group a portion.

    Args:
        portion: Documents with words, in the order of writing.
        find: Looks up the leads before it.
        rules: Policy and overrides.

    Returns:
        The joins; all other documents are leads.
    """
    first: dict[Hashable, Row] = {}
    for row in portion:
        first.setdefault(rules.key(row), row)
    joins = {each.row.name: each for each in _join_copies(list(first.values()), find, rules)}
    remainder = [row for row in first.values() if row.name not in joins]
    for at in range(0, len(remainder), AT_ONCE):
        joins |= {each.row.name: each for each in _join_settled(remainder[at : at + AT_ONCE], find, rules)}
    joins |= {each.row.name: each for each in _join_rows([row for row in remainder if row.name not in joins], rules)}
    for row in portion:
        original = first[rules.key(row)]
        if original is not row:
            lead = joins[original.name].lead if original.name in joins else original
            if join := rules.first_join(row, [lead]):
                joins[row.name] = join
    return [joins[row.name] for row in portion if row.name in joins]


def _join_copies(rows: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Join rows to settled leads that have the same key."""
    leads: dict[Hashable, Row] = {}
    for lead in sorted(find(rows, copies=True), key=_rank):
        leads.setdefault(rules.key(lead), lead)
    copies = (rules.first_join(row, [leads[key]]) for row in rows if (key := rules.key(row)) in leads)
    return [join for join in copies if join]


def _join_settled(rows: Sequence[Row], find: Find, rules: Rules) -> list[Join]:
    """Join rows to the first of the settled leads that they duplicate."""
    leads = sorted(find(rows, copies=False), key=_rank)
    candidates = zip(rows, rules.candidates(rows, leads), strict=True)
    joins = (rules.first_join(row, (leads[at] for at in places)) for row, places in candidates)
    return [join for join in joins if join]


def _join_rows(rows: Sequence[Row], rules: Rules) -> list[Join]:
    """Group rows among themselves."""
    joins: dict[int, Join] = {}
    for at, places in enumerate(rules.candidates(rows, rows)):
        leads = (rows[place] for place in places if place < at and place not in joins)
        if join := rules.first_join(rows[at], leads):
            joins[at] = join
    return list(joins.values())


def _columns(rows: Sequence[Row]) -> PackedColumns:
    return PackedColumns.decode([row.value for row in rows])


def _rank(row: Row) -> tuple[int, Name]:
    return row.rank


@dataclass(frozen=True, slots=True)
class Override:
    """A manual decision on a pair.

    Args:
        a: One document.
        b: The other.
        verdict: `same` or `not`.
        contents: Content hashes of both at the time; empty where none was noted.
    """

    a: Name
    b: Name
    verdict: str
    contents: tuple[str, str]

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Override":
        """Read a record of the ledger."""
        (index_a, a), (index_b, b) = entry["a"], entry["b"]
        contents = str(entry.get("content_a", "")), str(entry.get("content_b", ""))
        return cls((index_a, a), (index_b, b), str(entry["verdict"]), contents)

    def applies(self, row: Row, other: Row) -> bool:
        """Return whether neither text has changed since the decision."""
        contents = dict(zip((self.a, self.b), self.contents, strict=True))
        return all(each.packed is not None and has_content(each.packed, contents[each.name]) for each in (row, other))


@dataclass(frozen=True, slots=True)
class Overrides:
    """All manual decisions.

    Args:
        by_pair: The decision on each pair.
    """

    by_pair: Mapping[frozenset[Name], Override]

    @classmethod
    def read(cls, engine: Engine) -> "Overrides":
        """Read the overrides of an index."""
        read = [Override.read(entry) for _, entry in engine.get_records("overrides")]
        return cls({frozenset((each.a, each.b)): each for each in read})

    @property
    def names(self) -> frozenset[Name]:
        """The documents with a manual decision."""
        return frozenset(name for pair in self.by_pair for name in pair)

    def verdict(self, row: Row, other: Row) -> str:
        """Return the verdict on a pair; empty when there is none."""
        override = self.by_pair.get(frozenset((row.name, other.name)))
        return override.verdict if override and override.applies(row, other) else ""

    def partners(self, row: Row) -> set[Name]:
        """Return the documents that were declared the same as a document."""
        return {
            name
            for pair, override in self.by_pair.items()
            if row.name in pair and override.verdict == "same"
            for name in pair - {row.name}
        }

    def judge(self, policy: Policy) -> Judge:
        """Return the decision on pairs: by overrides, and by signatures where there is none."""

        def level(row: Row, lead: Row) -> str:
            verdict = self.verdict(row, lead) if self.by_pair else ""
            if verdict == "not":
                return ""
            if row.packed is None or lead.packed is None:
                return ""
            evidence = decide(row.packed, lead.packed, policy)
            return evidence.level if evidence else policy.level if verdict == "same" else ""

        return level


def has_content(packed: Packed, content: str) -> bool:
    """Return whether a document has the content of a hash; a missing hash, or one of another scheme, matches any."""
    return not content.startswith(f"ch{packed.scheme}:") or content == content_key(packed)


def index_overrides(overrides: Iterable[Override] = ()) -> Overrides:
    """Return manual decisions by pair."""
    return Overrides({frozenset((each.a, each.b)): each for each in overrides})
