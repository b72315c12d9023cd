"""Collapsed search in SQLite: all matches are ranked, and the best of each group is kept."""

from collections.abc import Iterable, Sequence

from ibidem_engines.collapse import Collapsed, FacetCount, Facets, GroupHit, MatchCounts, Members, Order, Place
from ibidem_engines.engine import Hit
from ibidem_engines.query import Query
from ibidem_engines.reindex import Marks, ShardRef
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import Chosen, choose, pinned, write_cursor
from ibidem_engines.sqlite.records import as_json

_ORDERS: dict[Order, str] = {
    "relevance": "rank, id",
    "newest": "last is null, last desc, rank, id",
    "oldest": "first is null, first, rank, id",
}
_RANKED = """with found as materialized ({found}), ranked as (
    select d.place, found.rank, d.id, d.first, d.last, d."group" as name,
        coalesce(nullif(d."group", ''), char(0) || d.id) as one
    from found join "ibidem.{index}.documents" d on d.place = found.place),
    numbered as (select *, row_number() over (partition by one order by {order}) as number from ranked)"""
_PACKED = '(select d.packed from "ibidem.{index}.documents" d where d.place = numbered.place)'
_HEADS = f"""select place, id, {_PACKED}, rank, name from numbered
    where number = 1 order by {{order}} limit ? offset ?"""  # noqa: S608 - made of constants
_MEMBERS = f"""select place, id, {_PACKED}, rank, name from numbered
    where number <= ? and name in (select value from json_each(?)) order by {{order}}"""  # noqa: S608 - made of constants
_COUNTS = """with found as materialized ({found})
    select count(*), count(distinct coalesce(nullif(d."group", ''), char(0) || d.id)), coalesce(sum(d."group" = ''), 0),
    coalesce(sum(d.lead and d.place > ?), 0), coalesce(sum(not d.signed), 0),
    coalesce(sum(d.signed and substr(d.packed, 3, 4) in (x'01000000', x'02000000', x'03000000', x'04000000')), 0),
    max(-found.rank)
    from found join "ibidem.{index}.documents" d on d.place = found.place"""
_SIZES = """with found as materialized ({found}) select d."group", count(*)
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where d."group" in (select value from json_each(?)) group by d."group" """
_TABLES = """with found as materialized ({found}) select d.idf, count(*)
    from found join "ibidem.{index}.documents" d on d.place = found.place where d.idf <> '' group by d.idf"""

_FACETS = """with found as materialized ({found}) select {value} as value, count(*),
    count(distinct coalesce(nullif(d."group", ''), char(0) || d.id))
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where value is not null and value <> '' group by value order by {order} limit ?"""
_YEAR = "strftime('%Y', '1980-01-01', d.first || ' days')"
YEARS = 10_000

Found = Iterable[tuple[int, str, bytes | None, float, str]]


def collapse(  # noqa: PLR0913 - those of `CollapseEngine.collapse`
    file: SqliteFile, query: Query, place: Place, size: int, *, settled: Marks, order: Order, cursor: str
) -> Collapsed:
    """Rank what matches, one hit for each stored group, and count groups and documents."""
    with file.reading():
        newest = pinned(file, query, cursor)
        chosen = choose(query, newest)
        heads = file.run(_ranked(_HEADS, chosen, order), (*chosen.values, size, place.start)).fetchall()
        counts, best = _counts(file, chosen, settled)
    return Collapsed(_hits(file, heads), counts, best, cursor=write_cursor(file, query, newest))


def members(  # noqa: PLR0913, PLR0917 - those of `CollapseEngine.members`
    file: SqliteFile, query: Query, groups: Sequence[str], most: int, order: Order, cursor: str
) -> Members:
    """Find the members of stored groups that match, the best first, and the sizes of the groups."""
    names = as_json(list(groups))
    with file.reading():
        chosen = choose(query, pinned(file, query, cursor))
        rows = file.run(_ranked(_MEMBERS, chosen, order), (*chosen.values, most, names)).fetchall()
        sizes = dict(file.run(_written(_SIZES, chosen), (*chosen.values, names)).fetchall())
    return Members(_hits(file, rows), sizes)


def facets(file: SqliteFile, query: Query, most: int) -> Facets:
    """Count the documents and groups of each source, language and year among what matches."""
    with file.reading():
        chosen = choose(query, pinned(file, query, ""))

        def counted(value: str, order: str, limit: int) -> list[FacetCount]:
            statement = _written(_FACETS, chosen).replace("{value}", value).replace("{order}", order)
            return [FacetCount(*row) for row in file.run(statement, (*chosen.values, limit)).fetchall()]

        frequent = "count(*) desc, value"
        return Facets(
            sources=counted("d.source", frequent, most),
            languages=counted("d.language", frequent, most),
            years=counted(_YEAR, "value desc", YEARS),
        )


def _counts(file: SqliteFile, chosen: Chosen, settled: Marks) -> tuple[MatchCounts, float | None]:
    """Count what matches, and find the highest score."""
    done = settled.get(ShardRef(file.index), 0)
    row = file.run(_written(_COUNTS, chosen), (*chosen.values, done)).fetchone()
    documents, groups, ungrouped, unsettled, unsigned, short, best = row
    tables = dict(file.run(_written(_TABLES, chosen), chosen.values).fetchall())
    counts = MatchCounts(
        documents=documents,
        groups=groups,
        exact=True,
        ungrouped=ungrouped,
        unsettled=unsettled,
        unsigned=unsigned,
        short=short,
        tables=tables,
    )
    return counts, best


def _written(statement: str, chosen: Chosen) -> str:
    return statement.replace("{found}", chosen.sql())


def _ranked(statement: str, chosen: Chosen, order: Order) -> str:
    return (_written(_RANKED, chosen) + statement).replace("{order}", _ORDERS[order])


def _hits(file: SqliteFile, rows: Found) -> list[GroupHit]:
    return [
        GroupHit(Hit(file.index, name, -rank, packed, place), group, -rank) for place, name, packed, rank, group in rows
    ]
