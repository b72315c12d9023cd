"""Search of an index in an SQLite file: flows without requests, since the file answers at once.

Words are translated to FTS5, filters to conditions on a document. A collapsed search ranks all matches, and the best of
each group is kept.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import orjson
from typing_extensions import override
from xxhash import xxh3_128_hexdigest

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import query as queries
from ibidem_engines import stored_groups
from ibidem_engines.engine import EngineSearch, LookupResult, Ranking, SignatureLookup, StoredDocument
from ibidem_engines.query import NOW, Phrase, Place, Query, ReadView, Words
from ibidem_engines.requests import RequestFlow, answered
from ibidem_engines.sqlite.file import SqliteFile, Value, as_json
from ibidem_engines.stored_groups import BY_GROUP, Collapsed, Collapsing, FacetCount, GroupHit, Hit, Members
from ibidem_ingest.dates import iso_date
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import LONG_FIELDS, LookupField

_IN = "in {list}"
_META = f"""exists (select 1 from json_each(d.meta) m where m.key = ? and (
    case m.type when 'true' then 'true' when 'false' then 'false' else cast(m.value as text) end {_IN}
    or m.type = 'array' and exists (select 1 from json_each(m.value) e where cast(e.value as text) {_IN})))"""  # noqa: S608 - made of constants


# A condition on a document, with the documents table as `d`, and the values of its question marks.
Condition = tuple[str, tuple[Value, ...]]


def expression(words: Query | Words | None) -> str:
    """Convert required and excluded words into an FTS5 expression; empty if no word is required.

    >>> from ibidem_engines.query import parse_query
    >>> expression(parse_query('grain OR wheat "export duty" -rice'))
    '("grain" OR "wheat") AND ("export duty") NOT ("rice")'
    """
    if words is None or not words.all_of:
        return ""
    required = " AND ".join(_join_or(entry) for entry in words.all_of)
    return f"{required} NOT {_join_or(words.none_of)}" if words.none_of else required


def conditions(query: Query | None) -> Condition:
    """Convert a query's filters into conditions, each after `and`, and its exclusions if it has no words."""
    if query is None:
        return "", ()
    by_field: defaultdict[str, list[str]] = defaultdict(list)
    for each in query.filters:
        by_field[each.field].append(each.value)
    parts = [_any_of(name, values) for name, values in by_field.items()]
    excluded = [_any_of(each.field, [each.value]) for each in query.excluded]
    parts += [(f"not coalesce({sql}, 0)", values) for sql, values in excluded]
    if query.none_of and not query.all_of:
        parts.append(("d.place not in (select rowid from {texts} where {texts} match ?)", (_join_or(query.none_of),)))
    return "".join(f" and {sql}" for sql, _ in parts), tuple(chain(*(values for _, values in parts)))


def _join_or(parts: Sequence[Phrase | Words]) -> str:
    expressions = (_phrase(each) if isinstance(each, Phrase) else f"({expression(each)})" for each in parts)
    return f"({' OR '.join(expressions)})"


def _phrase(phrase: Phrase) -> str:
    """Quote a phrase; inside quotation marks, no other character is special for FTS5.

    >>> _phrase(Phrase("duty on export", slop=5))
    'NEAR("duty" "on" "export", 6)'
    """
    column = f"{phrase.field} : " if phrase.field else ""
    text = phrase.text.replace('"', " ").replace("\0", " ")
    words = text.split()
    if phrase.slop is not None and words:
        # FTS5 counts what is between the first and the last word, the other words of the phrase too.
        between = phrase.slop + max(0, len(words) - 2)
        quoted = " ".join(f'"{word}"' for word in words)
        return f"{column}NEAR({quoted}, {between})"
    return f'{column}"{text}"{" *" if phrase.prefix else ""}'


def _any_of(field: str, values: Sequence[str]) -> Condition:
    """Return the condition that a field has one of some values."""
    if field == "date":
        dates = [_date(value) for value in values]
        return f"({' or '.join(sql for sql, _ in dates)})", tuple(chain(*(bounds for _, bounds in dates)))
    listed = as_json([value == "true" for value in values] if field in queries.FLAGS else values)
    if field in ("id", "source", "language", *queries.MEMBERSHIPS):
        return f"d.{field} {_IN}", (listed,)
    return _META, (field.removeprefix("meta."), listed, listed)


def _date(value: str) -> Condition:
    if not value:
        return "d.first is null", ()
    first, last = queries.days(value)
    overlap = "(d.last >= ? or ? is null) and (d.first <= ? or ? is null) and d.first is not null"
    return overlap, (first, first, last, last)


LAST_PLACE = (1 << 63) - 1
# Documents, or leads alone, by position, in the order of ids.
_BY_PLACE = "select place, id, packed from {documents} where place in {list} and lead >= ? order by id"


def newest_place(file: SqliteFile, view: ReadView) -> int:
    """Return the newest position that a ranking reads: that of the view, or the current one."""
    if view.newest is not None:
        return view.newest
    return file.run("select max(place) from {documents}").fetchone()[0] or 0


class Selection(NamedTuple):
    """The matching documents as SQL: the part after `from`, and its parameters."""

    place: str  # the column that holds the place
    rank: str  # the expression that ranks (less is better)
    from_clause: str  # tables and conditions
    values: tuple[Value, ...]  # the bound values

    def sql(self, rank: str = "") -> str:
        return f"select {self.place} as place, {rank or self.rank} as rank from {self.from_clause}"  # noqa: S608 - values are bound

    def read(self, columns: str, rest: str = "") -> str:
        """Return the statement that reads columns of the matches, which are in the tables `found` and `d`."""
        return f"""with found as materialized ({self.sql()}) select {columns}
            from found join {{documents}} d on d.place = found.place {rest}"""  # noqa: S608 - values are bound


def choose(query: Query | None, newest: int) -> Selection:
    """Build the selection of a query's matches up to a position; tables are joined only for filters."""
    words, (limits, values) = expression(query), conditions(query)
    if not words:
        return Selection("d.place", "0.0", f"{{documents}} d where d.place <= ?{limits}", (newest, *values))
    join = " join {documents} d on d.place = t.rowid" if limits else ""
    tables = f"{{texts}} t{join} where {{texts}} match ? and t.rowid <= ?{limits}"
    return Selection("t.rowid", "bm25({texts}, 2.0, 1.0)", tables, (words, newest, *values))


_PLAIN = re.compile(r"[0-9a-z:]+", re.ASCII)


def word(value: str) -> str:
    """Return a value as one word, hashed if the tokenizer would split it, as it may an id."""
    return value if _PLAIN.fullmatch(value) else f"x:{xxh3_128_hexdigest(value.encode())}"


ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
)


def spellings(word: str) -> set[str]:
    """Return all words at edit distance one from a word, with the letters of its alphabet.

    >>> {"grain", "gain", "rain"} <= spellings("gran") | spellings("garin") | spellings("grin") | spellings("rgain")
    True
    >>> spellings("an")
    set()
    """
    if not queries.MIN_LETTERS <= len(word) <= queries.MAX_LETTERS:
        return set()
    letters = "".join(alphabet for alphabet in ALPHABETS if set(alphabet) & set(word)) or "".join(sorted(set(word)))
    parts = [(word[:position], word[position:]) for position in range(len(word) + 1)]
    # A letter more, one less, or another one in its place; or two that changed places.
    found = {head + letter + tail[more:] for head, tail in parts for letter in ("", *letters) for more in (0, 1)}
    found |= {head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1}
    return found - {word}


_WITH_VALUE = "select rowid from {keys} where {keys} match ? order by rowid limit ?"
_LEADS_WITH_VALUE = """select rowid from {keys} where {keys} match ? and rowid <= ?
    and (select lead from {documents} where place = {keys}.rowid)
    order by rowid limit ?"""
_COUNT = "select count(*) from {keys} where {keys} match ? and rowid <> ?"
_OWN = "select id, place from {documents} where id in {list}"


def find(
    file: SqliteFile, searches: Sequence[SignatureLookup], query: Query | None, last_lead: int | None = None
) -> list[LookupResult]:
    """Look up values; see `Engine.find`, and `StoredGroups.with_value` for the leads up to a position."""
    with file.reading():
        own_places = dict(file.run(_OWN, (as_json([each.own_id for each in searches]),)).fetchall())
        allowed_places = None
        if query is not None:
            selection = choose(query, LAST_PLACE)
            allowed_places = {place for place, _ in file.run(selection.sql("0.0"), selection.values)}

        @cache
        def with_value(value: str, limit: int) -> list[int]:
            """Read the positions of documents with a value, in ascending order."""
            leads = () if last_lead is None else (last_lead,)
            rows = file.run(_LEADS_WITH_VALUE if leads else _WITH_VALUE, (f'"{word(value)}"', *leads, limit))
            return [place for (place,) in rows]

        answers = [_answer(file, each, own_places.get(each.own_id, 0), with_value, allowed_places) for each in searches]
        places = set(chain.from_iterable(found for found, _, _ in answers))
        documents = file.run(_BY_PLACE, (as_json(list(places)), int(last_lead is not None))).fetchall()
    hits = [Hit(file.index, name, 0.0, packed, place) for place, name, packed in documents]
    number = {hit.order: at for at, hit in enumerate(hits)}  # ordered by id
    return [
        LookupResult([hits[at] for at in sorted(number[place] for place in found if place in number)], capped, copies)
        for found, capped, copies in answers
    ]


def _answer(
    file: SqliteFile,
    search: SignatureLookup,
    own_place: int,
    with_value: Callable[[str, int], list[int]],
    allowed_places: set[int] | None,
) -> tuple[set[int], list[LookupField], int]:
    """Return the positions of documents with the values of a search, the capped fields, and the copies."""

    def counting(places: set[int]) -> set[int]:
        places.discard(own_place)
        return places if allowed_places is None else places & allowed_places

    found: set[int] = set()
    capped: list[LookupField] = []
    copies = 0
    for name, listed in search.values.items():
        min_shared, limit = search.min_shared.get(name, 1), search.hit_limit(name)
        # Positions ascend: the first few of each value contain the first few of all, plus the own one and one more.
        read_limit = limit + 2 if min_shared <= 1 and allowed_places is None else -1
        values = list(dict.fromkeys(listed))
        places_by_value = [with_value(value, read_limit) for value in values]
        if name in LONG_FIELDS:
            places_by_value = [each for each in places_by_value if len(counting(set(each))) <= limit]
        counts = Counter(chain.from_iterable(places_by_value))
        places = counting({place for place, count in counts.items() if count >= min_shared})
        found.update(places if len(places) <= limit else sorted(places)[:limit])
        if name == "content":
            copies = len(places)
            if copies > limit and allowed_places is None:  # not all were read
                words = {f'"{word(value)}"' for value in values}
                copies = sum(file.run(_COUNT, (each, own_place)).fetchone()[0] for each in words)
        elif len(places) > limit or len(places_by_value) < len(values):
            capped.append(name)
    return found, capped, copies


MAX_HITS = 10_000
# Hits read beyond a window, so that equal ranks at its end can be ordered by id without ranking all once more.
MARGIN = 200

_TIED = """select r.place, r.rank from ({ranked}) r join {documents} i on i.place = r.place
    where r.rank = ? order by i.id limit ?"""
_BY_ID = """select d.id, d.version, d.source, d.language, d.date, d.url, d.given, d.meta,
    coalesce(json_extract(w.entry, '$[0]'), t.title), coalesce(json_extract(w.entry, '$[1]'), t.text),
    d.origin
    from {documents} d join {texts} t on t.rowid = d.place
    left join {ledger} w on w.ledger = 'written' and w.key = d.id
    where d.id in {list}"""
_LONG = """select d.id, l.value from {documents} d join {long} l on l.place = d.place
    where d.id in {list}"""
_MEMBERSHIPS = f"""select id, {", ".join(stored_groups.FIELDS)} from {{documents}}
    where id in {{list}}"""  # noqa: S608 - made of constants

RankedPlaces = list[tuple[int, float]]

_ORDERS: dict[stored_groups.Order, str] = {
    "relevance": "rank, id",
    "newest": "last is null, last desc, ibidem_time_of_day(date) desc, rank, id",
    "oldest": "first is null, first, ibidem_time_of_day(date), rank, id",
}
_ONE = """coalesce(nullif(d."group", ''), char(0) || d.id)"""  # a document without a group is one of its own
_PACKED = "(select d.packed from {documents} d where d.place = numbered.place)"
_COVERAGE = """select (select count(*) from {documents}),
    (select count(*) from {documents} where "group" = ''),
    (select count(*) from {documents} where place > ? and lead)"""

YEARS = 10_000


@dataclass(frozen=True, slots=True)
class SqliteSearch(EngineSearch):
    """One query to a file; ranked by bm25, with double weight for titles."""

    file: SqliteFile  # file of the index
    query: Query | None = None  # for what; None: for everything

    def _read(self, statement: str, ids: Sequence[DocumentRef]) -> dict[DocumentRef, list[Any]]:
        """Read values of those of some documents that are in the index, by index and id."""
        own_ids = as_json([name for index, name in ids if index == self.file.index])
        return {(self.file.index, name): values for name, *values in self.file.read(statement, (own_ids,))}

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        """Read the top of the ranking.

        The view ends with the newest document, so that what is written later stays out; scores follow the index.
        """
        file = self.file
        if not 1 <= size <= MAX_HITS:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {MAX_HITS}")
        with file.reading():
            newest = newest_place(file, view)
            total, ranked_places = _rank(file, choose(self.query, newest), size)
            documents = file.run(_BY_PLACE, (as_json([place for place, _ in ranked_places]), 0)).fetchall()
        score = {place: -rank for place, rank in ranked_places}
        hits = [Hit(file.index, name, score[place], packed, place) for place, name, packed in documents]
        return answered(Ranking(sorted(hits, key=lambda hit: -hit.score)[:size], total, ReadView(newest)))

    @override
    def grouped(self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW) -> RequestFlow[None]:
        return answered(None)

    def fetch(self, ids: Sequence[DocumentRef]) -> RequestFlow[list[StoredDocument]]:
        in_title, in_text = queries.searched_phrases(self.query, "title"), queries.searched_phrases(self.query, "text")
        found: dict[DocumentRef, StoredDocument] = {}
        for ref, values in self._read(_BY_ID, ids).items():
            version, source, language, date, url, given, meta, title, text, origin = values
            own_version, meta = None if given is None else version, orjson.loads(meta)
            document = Document(ref[1], text, title, date, source, url, language, own_version, meta, origin)
            snippets = (queries.passage(text, in_text),)
            found[ref] = StoredDocument(self.file.index, document, version, snippets, queries.mark(title, in_title))
        return answered([found[ref] for ref in ids if ref in found])

    def dates(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, str]]:
        found = self._read("select id, date from {documents} where date <> '' and id in {list}", ids).items()
        return answered({ref: date for ref, (value,) in found if (date := iso_date(value))})

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        return answered(find(self.file, searches, self.query))

    def long_signatures(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, bytes]]:
        return answered({ref: value for ref, (value,) in self._read(_LONG, ids).items()})

    def coverage(self, settled_marks: stored_groups.Marks) -> RequestFlow[stored_groups.Coverage]:
        settled = settled_marks.get(stored_groups.ShardRef(self.file.index), 0)
        (row,) = self.file.read(_COVERAGE, (settled,))
        return answered(stored_groups.Coverage(*row))

    def collapse(self, place: Place, size: int, how: Collapsing = BY_GROUP) -> RequestFlow[Collapsed]:
        file = self.file
        with file.reading():
            newest = newest_place(file, how.view)
            selection = choose(self.query, newest)
            ranked = _numbered(selection, how.order, "number = 1", "limit ? offset ?")
            heads = file.run(ranked, (*selection.values, size, place.start)).fetchall()
            totals = selection.read(f"count(*), count(distinct {_ONE}), max(-found.rank)")
            documents, count, best = file.run(totals, selection.values).fetchone()
        counts = stored_groups.MatchCounts(documents, count, exact=True)
        return answered(Collapsed(_hits(file, heads), counts, best, view=ReadView(newest)))

    def members(self, groups: Sequence[str], limit: int, how: Collapsing = BY_GROUP) -> RequestFlow[Members]:
        names, file = as_json(list(groups)), self.file
        with file.reading():
            selection = choose(self.query, newest_place(file, how.view))
            numbered = _numbered(selection, how.order, "number <= ? and name in {list}")
            rows = file.run(numbered, (*selection.values, limit, names)).fetchall()
            counts = selection.read('d."group", count(*)', 'where d."group" in {list} group by d."group"')
            sizes = dict(file.run(counts, (*selection.values, names)).fetchall())
        return answered(Members(_hits(file, rows), sizes))

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        with self.file.reading():
            selection = choose(self.query, newest_place(self.file, NOW))
            columns = 'd.place, d.id, d.packed, found.rank, d."group", d.lead'
            statement = selection.read(columns, 'where d.lead and d."group" in {list}')
            rows = self.file.run(statement, (*selection.values, as_json(list(groups)))).fetchall()
        return answered({each.group: each.hit for each in _hits(self.file, rows)})

    def memberships(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
        found = self._read(_MEMBERSHIPS, ids).items()
        return answered({ref: dict(zip(stored_groups.FIELDS, values, strict=True)) for ref, values in found})


def facets(file: SqliteFile, query: Query, limit: int) -> stored_groups.Facets:
    """Count the documents and groups of each source, language and year among the matches."""
    counts: list[list[FacetCount]] = []
    frequent = "count(*) desc, value"
    with file.reading():
        selection = choose(query, newest_place(file, NOW))
        for value, order, most in (
            ("d.source", frequent, limit),
            ("d.language", frequent, limit),
            ("strftime('%Y', '1980-01-01', d.first || ' days')", "value desc", YEARS),
        ):
            condition = f"where value is not null and value <> '' group by value order by {order} limit ?"
            statement = selection.read(f"{value} as value, count(*), count(distinct {_ONE})", condition)
            rows = file.run(statement, (*selection.values, most))
            counts.append([FacetCount(*row) for row in rows])
    return stored_groups.Facets(*counts)


def _rank(file: SqliteFile, selection: Selection, size: int) -> tuple[int, RankedPlaces]:
    """Count the matches, and read the first positions with their ranks, including ties with the last one."""
    ranked = f"{selection.sql()} order by rank limit ?"
    top: RankedPlaces = file.run(ranked, (*selection.values, size + MARGIN)).fetchall()
    if len(top) < size + MARGIN:
        return len(top), top
    (total,) = file.run(f"select count(*) from ({selection.sql('0.0')})", selection.values).fetchone()  # noqa: S608 - values are bound
    last = top[size - 1][1]
    if top[-1][1] > last:
        return total, [(place, rank) for place, rank in top if rank <= last]
    tied = _TIED.replace("{ranked}", selection.sql())
    better = [(place, rank) for place, rank in top if rank < last]
    return total, better + file.run(tied, (*selection.values, last, size - len(better))).fetchall()


def _numbered(selection: Selection, order: stored_groups.Order, condition: str, limits: str = "") -> str:
    """Return the statement that reads matches by their number within their group, in rank order."""
    number = f"row_number() over (partition by {_ONE} order by {_ORDERS[order]}) as number"
    matches = selection.read(f'd.place, rank, id, date, first, last, "group" as name, lead, {number}')
    return f"""select place, id, {_PACKED}, rank, name, lead from ({matches}) numbered
        where {condition} order by {_ORDERS[order]} {limits}"""  # noqa: S608 - made of constants


def _hits(file: SqliteFile, rows: Iterable[tuple[int, str, bytes | None, float, str, int]]) -> list[GroupHit]:
    return [
        GroupHit(Hit(file.index, name, -rank, packed, place), group, -rank, bool(lead))
        for place, name, packed, rank, group, lead in rows
    ]
