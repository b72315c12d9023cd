"""Reading an SQLite file: rank, fetch and scan documents, by queries that `fts_query` translates."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import Info, Ranking, StoredDocument
from ibidem_engines.highlighting import mark, passage, searched_phrases
from ibidem_engines.query import Filter, Query
from ibidem_engines.spelling import MAX_WORDS, spellings
from ibidem_engines.sqlite.file import LAYOUT, SqliteFile, Value
from ibidem_engines.sqlite.fts_query import conditions, expression
from ibidem_engines.sqlite.tables import as_json, word
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.dates import iso_date
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError

MAX_HITS = 10_000
# Hits read beyond a window, so that equal ranks at its end can be ordered by id without ranking all once more.
MARGIN = 200

_NEWEST = (1 << 63) - 1
_BM25 = 'bm25("ibidem.{index}.texts", 2.0, 1.0)'
_TIED = """select r.place, r.rank from ({ranked}) r join "ibidem.{index}.documents" i on i.place = r.place
    where r.rank = ? order by i.id limit ?"""
_BY_PLACE = """select place, id, packed from "ibidem.{index}.documents"
    where place in (select value from json_each(?)) and lead >= ? order by id"""
_BY_ID = """select d.id, d.version, d.idf, d.source, d.language, d.date, d.url, d.given, d.meta, t.title, t.text,
    d.origin
    from "ibidem.{index}.documents" d join "ibidem.{index}.texts" t on t.rowid = d.place
    where d.id in (select value from json_each(?))"""
_LONG = """select d.id, l.value from "ibidem.{index}.documents" d join "ibidem.{index}.long" l on l.place = d.place
    where d.id in (select value from json_each(?))"""
_DATES = """select id, date from "ibidem.{index}.documents"
    where date <> '' and id in (select value from json_each(?))"""
_SLICE = """select d.place, d.id, d.packed from "ibidem.{index}.documents" d
    where d.place > ? and d.place <= ?{limits} order by d.place limit ?"""
_CARRYING = 'select rowid from "ibidem.{index}.keys" where "ibidem.{index}.keys" match ?'
_COUNTS = 'select idf, signed, count(*) from "ibidem.{index}.documents" group by idf, signed'

RankedPlaces = list[tuple[int, float]]


def window(file: SqliteFile, query: Query, size: int, view: ReadView, exclude: Collection[str] = ()) -> Ranking:
    """Read the top of the ranking; see `Engine.search`.

    The view ends with the newest document, so that what is written later stays out; scores follow the index.
    """
    if not 1 <= size <= MAX_HITS:
        raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {MAX_HITS}")
    with file.reading():
        newest = newest_place(file, view)
        total, ranked_places = _rank(file, choose(query, newest, exclude), size)
        documents = read_places(file, [place for place, _ in ranked_places], leads=False)
    score = {place: -rank for place, rank in ranked_places}
    hits = [Hit(file.index, name, score[place], packed, place) for place, name, packed in documents]
    return Ranking(sorted(hits, key=lambda hit: -hit.score)[:size], total, ReadView(newest))


def newest_place(file: SqliteFile, view: ReadView) -> int:
    """Return the newest position that a ranking reads: that of the view, or the current one."""
    if view.newest is not None:
        return view.newest
    return file.run('select max(place) from "ibidem.{index}.documents"').fetchone()[0] or 0


def count_given_up(file: SqliteFile) -> int:
    """Count the positions freed by deletions and rewrites; the number only grows.

    The last place ever given is kept apart: that of the newest document falls when this one is deleted.
    """
    statement = """select value - (select count(*) from "ibidem.{index}.documents")
        from "ibidem.{index}.state" where name = 'place'"""
    return int(file.run(statement).fetchone()[0])


def fetch(file: SqliteFile, ids: Sequence[tuple[str, str]], query: Query | None) -> list[StoredDocument]:
    """Read documents; see `Engine.fetch`."""
    expression(query)
    own_ids = [name for index, name in ids if index == file.index]
    with file.reading():
        rows = {row[0]: row for row in file.run(_BY_ID, (as_json(own_ids),))}
    in_title, in_text = searched_phrases(query, "title"), searched_phrases(query, "text")
    documents = {name: document(row) for name, row in rows.items()}
    return [
        StoredDocument(
            file.index,
            documents[name],
            version=rows[name][1],
            idf=rows[name][2],
            snippets=(passage(documents[name].text, in_text),),
            title=mark(documents[name].title, in_title),
        )
        for name in own_ids
        if name in documents
    ]


def long_signatures(file: SqliteFile, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Read long signatures; see `Engine.long_signatures`."""
    own_ids = [name for index, name in ids if index == file.index]
    with file.reading():
        return {(file.index, name): value for name, value in file.run(_LONG, (as_json(own_ids),))}


def dates(file: SqliteFile, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Read dates; see `Engine.dates`."""
    own_ids = [name for index, name in ids if index == file.index]
    with file.reading():
        rows = file.run(_DATES, (as_json(own_ids),)).fetchall()
    return {(file.index, name): date for name, value in rows if (date := iso_date(value))}


def scan(file: SqliteFile, filters: Sequence[Filter], size: int) -> Iterator[list[Hit]]:
    """Scan the index up to its newest document; see `Engine.scan`."""
    if size < 1:
        raise UsageError(f"a slice of {size} documents is not possible", "use 1 or more")
    limits = conditions(Query(filters=tuple(filters)))
    statement = _SLICE.replace("{limits}", limits.sql)
    with file.reading():
        (newest,) = file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
    last_place = 0
    while True:
        with file.reading():
            rows = file.run(statement, (last_place, newest, *limits.values, size)).fetchall()
        if not rows:
            return
        yield [Hit(file.index, name, 0.0, packed, place) for place, name, packed in rows]
        last_place = rows[-1][0]


def info(file: SqliteFile) -> Info:
    """Describe the file; see `Engine.info`."""
    state = file.state()
    if state.get("layout") != LAYOUT:
        return Info("sqlite", sqlite3.sqlite_version, bool(state), 0, 0, _schema(state), {})
    with file.reading(any_schema=True):
        counts = file.run(_COUNTS).fetchall()
    tables: dict[str, int] = {}
    for idf, _, count in counts:
        if idf:
            tables[idf] = tables.get(idf, 0) + count
    documents = sum(count for _, _, count in counts)
    unsigned_count = sum(count for _, is_signed, count in counts if not is_signed)
    schema = _schema(state) if documents > unsigned_count else ()
    return Info("sqlite", sqlite3.sqlite_version, bool(state), documents, unsigned_count, schema, tables)


def read_places(file: SqliteFile, places: Iterable[int], *, leads: bool) -> list[tuple[int, str, bytes | None]]:
    """Read position, id and packed signatures of documents, or of leads only, by position, ordered by id."""
    return file.run(_BY_PLACE, (as_json(list(places)), int(leads))).fetchall()


def matching_places(file: SqliteFile, query: Query) -> set[int]:
    """Read the positions of all matching documents."""
    selection = choose(query, _NEWEST)
    return {place for place, _ in file.run(selection.sql("0.0"), selection.values)}


@dataclass(frozen=True, slots=True)
class Selection:
    """The matching documents as SQL: the part after `from`, and its parameters."""

    place: str  # the column that holds the place
    rank: str  # the expression that ranks (less is better)
    from_clause: str  # tables and conditions
    values: tuple[Value, ...]  # the bound values

    def sql(self, rank: str = "") -> str:
        """Build the statement that returns positions with their ranks."""
        return f"select {self.place} as place, {rank or self.rank} as rank from {self.from_clause}"  # noqa: S608 - values are bound

    @property
    def count(self) -> str:
        """Build the counting statement."""
        return f"select count(*) from {self.from_clause}"  # noqa: S608 - values are bound


def choose(query: Query, newest: int, exclude: Collection[str] = ()) -> Selection:
    """Build the selection of a query's matches up to a position; tables are joined only for filters."""
    words, limits = expression(query), conditions(query)
    place = "t.rowid" if words else "d.place"
    left_out = f" and {place} not in ({_CARRYING})" if exclude else ""
    contents = [" OR ".join(f'"{word(value)}"' for value in exclude)] if exclude else []
    if not words:
        tables = f'"ibidem.{{index}}.documents" d where d.place <= ?{limits.sql}{left_out}'
        return Selection(place, "0.0", tables, (newest, *limits.values, *contents))
    join = ' join "ibidem.{index}.documents" d on d.place = t.rowid' if limits.sql else ""
    condition = f'"ibidem.{{index}}.texts" match ? and t.rowid <= ?{limits.sql}{left_out}'
    tables = f'"ibidem.{{index}}.texts" t{join} where {condition}'
    return Selection(place, _BM25, tables, (words, newest, *limits.values, *contents))


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


def document(row: tuple[str, int, str, str, str, str, str, int | None, str, str, str, str]) -> Document:
    """Build a document from its rows; its state is the version that was read."""
    name, version, _, source, language, date, url, has_version, meta, title, text, origin = row
    own_version = None if has_version is None else version
    return Document(name, text, title, date, source, url, language, own_version, orjson.loads(meta), origin)


def _schema(state: dict[str, Value]) -> tuple[str, ...]:
    return (str(state["schema"]),) if "schema" in state else ()


_TABLE = """create virtual table if not exists temp."ibidem.{index}.terms"
    using fts5vocab(main, "ibidem.{index}.texts", row)"""
_TERMS = 'select term, doc from temp."ibidem.{index}.terms" where term in (select value from json_each(?))'


def suggest(file: SqliteFile, words: Sequence[str]) -> dict[str, str]:
    """Find spellings; see `Engine.suggest`."""
    spellings_by_word = {word: spellings(word) for word in words[:MAX_WORDS]}
    with file.reading():
        file.run(_TABLE)
        documents: dict[str, int] = dict(
            file.run(_TERMS, (as_json([*spellings_by_word, *set().union(*spellings_by_word.values())]),))
        )
    suggestions = {
        word: [each for each in group if each in documents]
        for word, group in spellings_by_word.items()
        if word not in documents
    }
    return {word: min(group, key=lambda term: (-documents[term], term)) for word, group in suggestions.items() if group}
