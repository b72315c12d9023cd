"""Stored groups in SQLite: two columns of each document.

A collapsed search ranks all matches, and the best of each group is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from typing_extensions import override

from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.engine import SignatureLookup
from ibidem_engines.query import Query
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.sqlite.lookup import find
from ibidem_engines.sqlite.read import Selection, choose, count_given_up, newest_place
from ibidem_engines.sqlite.tables import as_json, lookup_values, words
from ibidem_engines.stored_groups import (
    Assignment,
    Collapsed,
    FacetCount,
    Facets,
    GroupCounts,
    GroupedDocument,
    GroupHit,
    Hit,
    LeadKeys,
    Marks,
    MatchCounts,
    Members,
    Name,
    Order,
    Place,
    SeqNoRange,
    ShardRef,
    StoredGroups,
)

_LEADS = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where place > ? and place <= ? and lead order by place limit ?"""
_DOCUMENTS = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where place > ? and place <= ? order by place limit ?"""
_COUNT_LEADS = 'select count(*) from "ibidem.{index}.documents" where place > ? and place <= ? and lead'
_OF_GROUPS = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where "group" in (select value from json_each(?)) and place > ?
    and id not in (select value from json_each(?)) and lead between ? and ? order by place limit ?"""
_BY_ID = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where id in (select value from json_each(?)) and place <= ? order by place"""
_JOIN = """update "ibidem.{index}.documents" set "group" = ?, lead = ?
    where id = ? and place = ? and "group" = ? and lead = ?"""
_COUNTS = 'select count(*), coalesce(sum(lead), 0), coalesce(sum(not signed), 0) from "ibidem.{index}.documents"'
_LAST = """select value from "ibidem.{index}.state" where name = 'place'"""
_SIZES = """select "group", count(*) from "ibidem.{index}.documents"
    where not lead and "group" > ? group by "group" order by "group" limit ?"""
SLICE = 1_000
LAST_PLACE = 2**63 - 1
MAX_LEADS = 10_000  # leads that are read for one class of values of one document


_NEXT = """update "ibidem.{index}.state" set value = value + 1 where name = 'place' returning value"""
_SIGNED = """select d.packed, l.value from "ibidem.{index}.documents" d
    left join "ibidem.{index}.long" l on l.place = d.place where d.place = ?"""
_FORGET_KEYS = 'insert into "ibidem.{index}.keys" ("ibidem.{index}.keys", rowid, key) values (\'delete\', ?, ?)'
_KEYS = 'insert into "ibidem.{index}.keys" (rowid, key) values (?, ?)'
_MOVED = (
    'update "ibidem.{index}.documents" set place = ? where place = ?',
    'update "ibidem.{index}.long" set place = ? where place = ?',
    'update "ibidem.{index}.texts" set rowid = ? where rowid = ?',
)


class SqliteGroups(StoredGroups):
    """The groups of an index in SQLite; see `StoredGroups`."""

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    @override
    def parts(self) -> list[ShardRef]:
        return [ShardRef(self.index)]

    @override
    def uuids(self) -> Mapping[str, str]:
        return {}

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return the last assigned position, even if its document was deleted."""
        with self._file.reading():
            (last_place,) = self._file.run(_LAST).fetchone()
        return {ShardRef(self.index): int(last_place)}

    @override
    def deletions(self) -> int:
        with self._file.reading():
            return count_given_up(self._file)

    @override
    def leads(self, seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        return self._rows(_LEADS, (seq_range.after, seq_range.end, size))

    @override
    def documents(self, seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        return self._rows(_DOCUMENTS, (seq_range.after, seq_range.end, size))

    @override
    def count_leads(self, seq_range: SeqNoRange) -> int:
        with self._file.reading():
            (count,) = self._file.run(_COUNT_LEADS, (seq_range.after, seq_range.end)).fetchone()
        return int(count)

    @override
    def with_value(self, keys: Sequence[LeadKeys], end: Marks) -> list[Hit]:
        searches = [_search(each) for each in keys]
        results = find(self._file, searches, None, last_lead=end[ShardRef(self.index)])
        return list({hit.id: hit for each in results for hit in each.hits}.values())

    @override
    def members(
        self, groups: Sequence[str], excluded: Sequence[tuple[str, str]] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        last_name, flags = 0, (0, 1) if lead is None else (int(lead), int(lead))
        excluded_ids = as_json([name for index, name in excluded if index == self.index])
        while rows := self._rows(_OF_GROUPS, (as_json(list(groups)), last_name, excluded_ids, *flags, SLICE)):
            yield rows
            last_name = rows[-1].name.order

    @override
    def read(self, ids: Sequence[tuple[str, str]], end: Marks | None = None) -> list[GroupedDocument]:
        last_place = LAST_PLACE if end is None else end[ShardRef(self.index)]
        return self._rows(_BY_ID, (as_json([name for index, name in ids if index == self.index]), last_place))

    @override
    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Assign groups; a document that becomes a lead moves to a new position."""
        with self._file.transaction():
            return [self._assign(each) for each in changes]

    def _assign(self, change: Assignment) -> bool:
        name, before = change.document.name, (change.document.group, int(change.document.lead))
        values = (change.group, int(change.lead), name.id, name.order, *before)
        is_written = self._file.run(_JOIN, values).rowcount > 0
        if is_written and change.lead and not change.settled:
            _move(self._file, name.order)
        return is_written

    @override
    def counts(self) -> GroupCounts:
        with self._file.reading():
            return GroupCounts(*self._file.run(_COUNTS).fetchone())

    @override
    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        last_name = ""
        while True:
            with self._file.reading():
                rows = self._file.run(_SIZES, (last_name, size)).fetchall()
            if not rows:
                return
            yield dict(rows)
            last_name = rows[-1][0]

    def _rows(self, statement: str, values: Row) -> list[GroupedDocument]:
        with self._file.reading():
            rows = self._file.run(statement, values).fetchall()
        return [
            GroupedDocument(Name(self.index, name, place), packed or b"", group, bool(lead), (place, 0))
            for name, place, packed, group, lead in rows
        ]


def _search(keys: LeadKeys) -> SignatureLookup:
    """Build the look-up for one document; the caller compares the lengths of the hits."""
    values = dict(keys.values) | {lookup_field: each.values for lookup_field, each in keys.several.items()}
    return SignatureLookup(
        values, {lookup_field: each.min_shared for lookup_field, each in keys.several.items()}, limit=MAX_LEADS
    )


def _move(file: SqliteFile, place: int) -> None:
    """Move a document to the next position, inside an open transaction."""
    (packed, long_value) = file.run(_SIGNED, (place,)).fetchone()
    key = words(lookup_values(packed, long_value or b"")) if packed else ""
    (number,) = file.run(_NEXT).fetchone()
    for statement in _MOVED:
        file.run(statement, (number, place))
    if key:
        file.run(_FORGET_KEYS, (place, key))
        file.run(_KEYS, (number, key))


_ORDERS: dict[Order, str] = {
    "relevance": "rank, id",
    "newest": "last is null, last desc, ibidem_time_of_day(date) desc, rank, id",
    "oldest": "first is null, first, ibidem_time_of_day(date), rank, id",
}
_RANKED = """with found as materialized ({found}), ranked as (
    select d.place, found.rank, d.id, d.date, d.first, d.last, d."group" as name,
        coalesce(nullif(d."group", ''), char(0) || d.id) as one
    from found join "ibidem.{index}.documents" d on d.place = found.place),
    numbered as (select *, row_number() over (partition by one order by {order}) as number from ranked)"""
_PACKED = '(select d.packed from "ibidem.{index}.documents" d where d.place = numbered.place)'
_HEADS = f"""select place, id, {_PACKED}, rank, name from numbered
    where number = 1 order by {{order}} limit ? offset ?"""  # noqa: S608 - made of constants
_MEMBERS = f"""select place, id, {_PACKED}, rank, name from numbered
    where number <= ? and name in (select value from json_each(?)) order by {{order}}"""  # noqa: S608 - made of constants
_MATCH_COUNTS = """with found as materialized ({found})
    select count(*), count(distinct coalesce(nullif(d."group", ''), char(0) || d.id)), coalesce(sum(d."group" = ''), 0),
    coalesce(sum(d.lead and d.place > ?), 0), coalesce(sum(not d.signed), 0),
    coalesce(sum(d.signed and substr(d.packed, 3, 4) in (x'01000000', x'02000000', x'03000000', x'04000000')), 0),
    max(-found.rank)
    from found join "ibidem.{index}.documents" d on d.place = found.place"""
_MATCH_SIZES = """with found as materialized ({found}) select d."group", count(*)
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where d."group" in (select value from json_each(?)) group by d."group" """
_MATCHING_LEADS = """with found as materialized ({found}) select d.place, d.id, d.packed, found.rank, d."group"
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where d.lead and d."group" in (select value from json_each(?))"""
_TABLES = """with found as materialized ({found}) select d.idf, count(*)
    from found join "ibidem.{index}.documents" d on d.place = found.place where d.idf <> '' group by d.idf"""

_FACETS = """with found as materialized ({found}) select {value} as value, count(*),
    count(distinct coalesce(nullif(d."group", ''), char(0) || d.id))
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where value is not null and value <> '' group by value order by {order} limit ?"""
_YEAR = "strftime('%Y', '1980-01-01', d.first || ' days')"
YEARS = 10_000

Rows = Iterable[tuple[int, str, bytes | None, float, str]]


def collapse(  # noqa: PLR0913 - those of `EngineSearch.collapse`
    file: SqliteFile, query: Query, place: Place, size: int, *, settled_marks: Marks, order: Order, view: ReadView
) -> Collapsed:
    """Rank the matches with one hit per stored group, and count groups and documents."""
    with file.reading():
        newest = newest_place(file, view)
        selection = choose(query, newest)
        heads = file.run(_fill_ranked(_HEADS, selection, order), (*selection.values, size, place.start)).fetchall()
        counts, best = _counts(file, selection, settled_marks)
    return Collapsed(_hits(file, heads), counts, best, view=ReadView(newest))


def members(  # noqa: PLR0913, PLR0917 - those of `EngineSearch.members`
    file: SqliteFile, query: Query, groups: Sequence[str], limit: int, order: Order, view: ReadView
) -> Members:
    """Find the matching members of stored groups, the best first, and the sizes of the groups."""
    names = as_json(list(groups))
    with file.reading():
        selection = choose(query, newest_place(file, view))
        rows = file.run(_fill_ranked(_MEMBERS, selection, order), (*selection.values, limit, names)).fetchall()
        sizes = dict(file.run(_fill(_MATCH_SIZES, selection), (*selection.values, names)).fetchall())
    return Members(_hits(file, rows), sizes)


def leads(file: SqliteFile, query: Query, groups: Sequence[str]) -> dict[str, Hit]:
    """Find the matching leads of stored groups, by group name."""
    with file.reading():
        selection = choose(query, newest_place(file, NOW))
        rows = file.run(_fill(_MATCHING_LEADS, selection), (*selection.values, as_json(list(groups)))).fetchall()
    return {each.group: each.hit for each in _hits(file, rows)}


def facets(file: SqliteFile, query: Query, limit: int) -> Facets:
    """Count the documents and groups of each source, language and year among the matches."""
    with file.reading():
        selection = choose(query, newest_place(file, NOW))

        def count_facet(value: str, order: str, count: int) -> list[FacetCount]:
            statement = _fill(_FACETS, selection).replace("{value}", value).replace("{order}", order)
            return [FacetCount(*row) for row in file.run(statement, (*selection.values, count)).fetchall()]

        frequent = "count(*) desc, value"
        return Facets(
            sources=count_facet("d.source", frequent, limit),
            languages=count_facet("d.language", frequent, limit),
            years=count_facet(_YEAR, "value desc", YEARS),
        )


def _counts(file: SqliteFile, selection: Selection, settled_marks: Marks) -> tuple[MatchCounts, float | None]:
    """Count the matches, and find the highest score."""
    mark = settled_marks.get(ShardRef(file.index), 0)
    row = file.run(_fill(_MATCH_COUNTS, selection), (*selection.values, mark)).fetchone()
    documents, groups, ungrouped, unsettled, unsigned, short_count, best = row
    tables = dict(file.run(_fill(_TABLES, selection), selection.values).fetchall())
    counts = MatchCounts(
        documents=documents,
        groups=groups,
        exact=True,
        ungrouped=ungrouped,
        unsettled=unsettled,
        unsigned=unsigned,
        short_count=short_count,
        tables=tables,
    )
    return counts, best


def _fill(statement: str, selection: Selection) -> str:
    return statement.replace("{found}", selection.sql())


def _fill_ranked(statement: str, selection: Selection, order: Order) -> str:
    return (_fill(_RANKED, selection) + statement).replace("{order}", _ORDERS[order])


def _hits(file: SqliteFile, rows: Rows) -> list[GroupHit]:
    return [
        GroupHit(Hit(file.index, name, -rank, packed, place), group, -rank) for place, name, packed, rank, group in rows
    ]
