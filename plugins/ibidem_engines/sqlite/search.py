"""Search of an index in an SQLite file: flows without requests, since the file answers at once.

A collapsed search ranks all matches, and the best of each group is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson
from typing_extensions import override

from ibidem_engines import stored_groups
from ibidem_engines.cursor import NOW, Place, ReadView
from ibidem_engines.engine import EngineSearch, LookupResult, Ranking, SignatureLookup, StoredDocument
from ibidem_engines.query import Query
from ibidem_engines.requests import RequestFlow, answered
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import Selection, choose, find, newest_place, read_places
from ibidem_engines.sqlite.write import as_json
from ibidem_engines.words import mark, passage, searched_phrases
from ibidem_ingest.dates import iso_date
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError

MAX_HITS = 10_000
# Hits read beyond a window, so that equal ranks at its end can be ordered by id without ranking all once more.
MARGIN = 200

_TIED = """select r.place, r.rank from ({ranked}) r join "ibidem.{index}.documents" i on i.place = r.place
    where r.rank = ? order by i.id limit ?"""
_BY_ID = """select d.id, d.version, d.idf, d.source, d.language, d.date, d.url, d.given, d.meta,
    coalesce(json_extract(w.entry, '$[0]'), t.title), coalesce(json_extract(w.entry, '$[1]'), t.text),
    d.origin
    from "ibidem.{index}.documents" d join "ibidem.{index}.texts" t on t.rowid = d.place
    left join "ibidem.{index}.ledger" w on w.ledger = 'written' and w.key = d.id
    where d.id in (select value from json_each(?))"""
_LONG = """select d.id, l.value from "ibidem.{index}.documents" d join "ibidem.{index}.long" l on l.place = d.place
    where d.id in (select value from json_each(?))"""
_MEMBERSHIPS = f"""select id, {", ".join(stored_groups.FIELDS)} from "ibidem.{{index}}.documents"
    where id in (select value from json_each(?))"""  # noqa: S608 - made of constants
_DATES = """select id, date from "ibidem.{index}.documents"
    where date <> '' and id in (select value from json_each(?))"""

RankedPlaces = list[tuple[int, float]]

_ORDERS: dict[stored_groups.Order, str] = {
    "relevance": "rank, id",
    "newest": "last is null, last desc, ibidem_time_of_day(date) desc, rank, id",
    "oldest": "first is null, first, ibidem_time_of_day(date), rank, id",
}
_RANKED = """with found as materialized ({found}), ranked as (
    select d.place, found.rank, d.id, d.date, d.first, d.last, d."group" as name, d.lead,
        coalesce(nullif(d."group", ''), char(0) || d.id) as one
    from found join "ibidem.{index}.documents" d on d.place = found.place),
    numbered as (select *, row_number() over (partition by one order by {order}) as number from ranked)"""
_PACKED = '(select d.packed from "ibidem.{index}.documents" d where d.place = numbered.place)'
_HEADS = f"""select place, id, {_PACKED}, rank, name, lead from numbered
    where number = 1 order by {{order}} limit ? offset ?"""  # noqa: S608 - made of constants
_MEMBERS = f"""select place, id, {_PACKED}, rank, name, lead from numbered
    where number <= ? and name in (select value from json_each(?)) order by {{order}}"""  # noqa: S608 - made of constants
_MATCH_COUNTS = """with found as materialized ({found})
    select count(*), count(distinct coalesce(nullif(d."group", ''), char(0) || d.id)), max(-found.rank)
    from found join "ibidem.{index}.documents" d on d.place = found.place"""
_MATCH_SIZES = """with found as materialized ({found}) select d."group", count(*)
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where d."group" in (select value from json_each(?)) group by d."group" """
_MATCHING_LEADS = """with found as materialized ({found}) select d.place, d.id, d.packed, found.rank, d."group", d.lead
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where d.lead and d."group" in (select value from json_each(?))"""
_COVERAGE = """select (select count(*) from "ibidem.{index}.documents"),
    (select count(*) from "ibidem.{index}.documents" where "group" = ''),
    (select count(*) from "ibidem.{index}.documents" where place > ? and lead)"""

_FACETS = """with found as materialized ({found}) select {value} as value, count(*),
    count(distinct coalesce(nullif(d."group", ''), char(0) || d.id))
    from found join "ibidem.{index}.documents" d on d.place = found.place
    where value is not null and value <> '' group by value order by {order} limit ?"""
_YEAR = "strftime('%Y', '1980-01-01', d.first || ' days')"
YEARS = 10_000

Rows = Iterable[tuple[int, str, bytes | None, float, str, int]]


@dataclass(frozen=True, slots=True)
class SqliteSearch(EngineSearch):
    """One query to a file; ranked by bm25, with double weight for titles."""

    file: SqliteFile  # file of the index
    query: Query | None = None  # for what; None: for everything

    @property
    def _ranked(self) -> Query:
        return Query() if self.query is None else self.query

    def _own(self, ids: Sequence[tuple[str, str]]) -> list[str]:
        return [name for index, name in ids if index == self.file.index]

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        """Read the top of the ranking.

        The view ends with the newest document, so that what is written later stays out; scores follow the index.
        """
        file = self.file
        if not 1 <= size <= MAX_HITS:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {MAX_HITS}")
        with file.reading():
            newest = newest_place(file, view)
            total, ranked_places = _rank(file, choose(self._ranked, newest), size)
            documents = read_places(file, [place for place, _ in ranked_places], leads=False)
        score = {place: -rank for place, rank in ranked_places}
        hits = [stored_groups.Hit(file.index, name, score[place], packed, place) for place, name, packed in documents]
        return answered(Ranking(sorted(hits, key=lambda hit: -hit.score)[:size], total, ReadView(newest)))

    @override
    def grouped(self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW) -> RequestFlow[None]:
        return answered(None)

    def fetch(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[list[StoredDocument]]:
        own_ids = self._own(ids)
        with self.file.reading():
            rows = self.file.run(_BY_ID, (as_json(own_ids),)).fetchall()
        in_title, in_text = searched_phrases(self.query, "title"), searched_phrases(self.query, "text")
        found: dict[str, StoredDocument] = {}
        for name, version, idf, source, language, date, url, given, meta, title, text, origin in rows:
            own_version = None if given is None else version
            document = Document(name, text, title, date, source, url, language, own_version, orjson.loads(meta), origin)
            snippets = (passage(text, in_text),)
            found[name] = StoredDocument(self.file.index, document, version, idf, snippets, mark(title, in_title))
        return answered([found[name] for name in own_ids if name in found])

    def dates(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], str]]:
        with self.file.reading():
            rows = self.file.run(_DATES, (as_json(self._own(ids)),)).fetchall()
        return answered({(self.file.index, name): date for name, value in rows if (date := iso_date(value))})

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        return answered(find(self.file, searches, self.query))

    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
        with self.file.reading():
            rows = self.file.run(_LONG, (as_json(self._own(ids)),)).fetchall()
        return answered({(self.file.index, name): value for name, value in rows})

    def coverage(self, settled_marks: stored_groups.Marks) -> RequestFlow[stored_groups.Coverage]:
        with self.file.reading():
            row = self.file.run(_COVERAGE, (settled_marks.get(stored_groups.ShardRef(self.file.index), 0),)).fetchone()
        return answered(stored_groups.Coverage(*row))

    def collapse(
        self, place: Place, size: int, how: stored_groups.Collapsing = stored_groups.BY_GROUP
    ) -> RequestFlow[stored_groups.Collapsed]:
        file = self.file
        with file.reading():
            newest = newest_place(file, how.view)
            selection = choose(self._ranked, newest)
            ranked = _fill_ranked(_HEADS, selection, how.order)
            heads = file.run(ranked, (*selection.values, size, place.start)).fetchall()
            documents, count, best = file.run(_fill(_MATCH_COUNTS, selection), selection.values).fetchone()
        counts = stored_groups.MatchCounts(documents, count, exact=True)
        return answered(stored_groups.Collapsed(_hits(file, heads), counts, best, view=ReadView(newest)))

    def members(
        self, groups: Sequence[str], limit: int, how: stored_groups.Collapsing = stored_groups.BY_GROUP
    ) -> RequestFlow[stored_groups.Members]:
        names, file = as_json(list(groups)), self.file
        with file.reading():
            selection = choose(self._ranked, newest_place(file, how.view))
            rows = file.run(_fill_ranked(_MEMBERS, selection, how.order), (*selection.values, limit, names)).fetchall()
            sizes = dict(file.run(_fill(_MATCH_SIZES, selection), (*selection.values, names)).fetchall())
        return answered(stored_groups.Members(_hits(file, rows), sizes))

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, stored_groups.Hit]]:
        with self.file.reading():
            selection = choose(self._ranked, newest_place(self.file, NOW))
            values = (*selection.values, as_json(list(groups)))
            rows = self.file.run(_fill(_MATCHING_LEADS, selection), values).fetchall()
        return answered({each.group: each.hit for each in _hits(self.file, rows)})

    def memberships(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], stored_groups.Values]]:
        with self.file.reading():
            rows = self.file.run(_MEMBERSHIPS, (as_json(self._own(ids)),)).fetchall()
        return answered(
            {(self.file.index, name): dict(zip(stored_groups.FIELDS, row, strict=True)) for name, *row in rows}
        )


def facets(file: SqliteFile, query: Query, limit: int) -> stored_groups.Facets:
    """Count the documents and groups of each source, language and year among the matches."""
    with file.reading():
        selection = choose(query, newest_place(file, NOW))

        def count_facet(value: str, order: str, count: int) -> list[stored_groups.FacetCount]:
            statement = _fill(_FACETS, selection).replace("{value}", value).replace("{order}", order)
            return [
                stored_groups.FacetCount(*row) for row in file.run(statement, (*selection.values, count)).fetchall()
            ]

        frequent = "count(*) desc, value"
        return stored_groups.Facets(
            sources=count_facet("d.source", frequent, limit),
            languages=count_facet("d.language", frequent, limit),
            years=count_facet(_YEAR, "value desc", YEARS),
        )


def _rank(file: SqliteFile, selection: Selection, size: int) -> tuple[int, RankedPlaces]:
    """Count the matches, and read the first positions with their ranks, including ties with the last one."""
    top: RankedPlaces = file.run(
        f"{selection.sql()} order by rank limit ?", (*selection.values, size + MARGIN)
    ).fetchall()
    if len(top) < size + MARGIN:
        return len(top), top
    (total,) = file.run(selection.count, selection.values).fetchone()
    last = top[size - 1][1]
    if top[-1][1] > last:
        return total, [(place, rank) for place, rank in top if rank <= last]
    tied = _TIED.replace("{ranked}", selection.sql())
    better = [(place, rank) for place, rank in top if rank < last]
    return total, better + file.run(tied, (*selection.values, last, size - len(better))).fetchall()


def _fill(statement: str, selection: Selection) -> str:
    return statement.replace("{found}", selection.sql())


def _fill_ranked(statement: str, selection: Selection, order: stored_groups.Order) -> str:
    return (_fill(_RANKED, selection) + statement).replace("{order}", _ORDERS[order])


def _hits(file: SqliteFile, rows: Rows) -> list[stored_groups.GroupHit]:
    return [
        stored_groups.GroupHit(stored_groups.Hit(file.index, name, -rank, packed, place), group, -rank, bool(lead))
        for place, name, packed, rank, group, lead in rows
    ]
