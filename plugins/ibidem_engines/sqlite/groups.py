"""Stored groups in SQLite: two columns of each document."""

from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import override

from ibidem_engines.engine import Hit, SignatureLookup
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.sqlite.keys import stored_words, values_of, words
from ibidem_engines.sqlite.lookup import Finder
from ibidem_engines.sqlite.records import as_json
from ibidem_engines.stored_groups import Assignment, GroupCounts, Grouped, StoredGroups, Wanted

_LEADS = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where place > ? and place <= ? and lead order by place limit ?"""
_OF_GROUPS = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where "group" in (select value from json_each(?)) and place > ?
    and id not in (select value from json_each(?)) and lead between ? and ? order by place limit ?"""
_BY_ID = """select id, place, packed, "group", lead from "ibidem.{index}.documents"
    where id in (select value from json_each(?)) and place <= ? order by place"""
_JOIN = 'update "ibidem.{index}.documents" set "group" = ?, lead = ? where id = ? and place = ?'
_COUNTS = 'select count(*), coalesce(sum(lead), 0), coalesce(sum(not signed), 0) from "ibidem.{index}.documents"'
_LAST = """select value from "ibidem.{index}.state" where name = 'place'"""
_COUNT = 'select count(*) from "ibidem.{index}.documents"'
_SIZES = """select "group", count(*) from "ibidem.{index}.documents"
    where not lead and "group" > ? group by "group" order by "group" limit ?"""
SLICE = 1_000
LAST_PLACE = 2**63 - 1
MOST = 10_000
"""Leads that are read for one class of values of one document."""


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
    """The groups of an index in SQLite; see `StoredGroups`.

    Args:
        file: The database file with the index.
    """

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file
        self._finder = Finder(file)

    @override
    def parts(self) -> list[ShardRef]:
        return [ShardRef(self.index)]

    @override
    def newest(self, since: Marks | None = None) -> dict[ShardRef, int]:
        """Give the last assigned place, whether or not its document is still there."""
        with self._file.reading():
            (last,) = self._file.run(_LAST).fetchone()
        return {ShardRef(self.index): int(last)}

    @override
    def deletions(self) -> int:
        """Count places that were given up, by deletion or by writing a document again."""
        with self._file.reading():
            (last,), (count,) = self._file.run(_LAST).fetchone(), self._file.run(_COUNT).fetchone()
        return int(last) - int(count)

    @override
    def leads(self, stretch: SeqNoRange, size: int) -> list[Grouped]:
        return self._rows(_LEADS, (stretch.after, stretch.upto, size))

    @override
    def carriers(self, wanted: Sequence[Wanted], upto: Marks) -> list[Hit]:
        searches = [_search(each) for each in wanted]
        results = self._finder.find(searches, None, leads_upto=upto[ShardRef(self.index)])
        return list({hit.id: hit for each in results for hit in each.hits}.values())

    @override
    def members(
        self, groups: Sequence[str], without: Sequence[str] = (), *, lead: bool | None = None
    ) -> Iterator[list[Grouped]]:
        after, flags = 0, (0, 1) if lead is None else (int(lead), int(lead))
        while some := self._rows(_OF_GROUPS, (as_json(list(groups)), after, as_json(list(without)), *flags, SLICE)):
            yield some
            after = some[-1].name.order

    @override
    def read(self, ids: Sequence[tuple[str, str]], upto: Marks | None = None) -> list[Grouped]:
        last = LAST_PLACE if upto is None else upto[ShardRef(self.index)]
        return self._rows(_BY_ID, (as_json([name for index, name in ids if index == self.index]), last))

    @override
    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Assign groups; a document that becomes a lead moves to a new place."""
        with self._file.writing():
            return [self._assigned(each) for each in changes]

    def _assigned(self, change: Assignment) -> bool:
        name = change.document.name
        done = self._file.run(_JOIN, (change.group, int(change.lead), name.id, name.order)).rowcount > 0
        if done and change.lead:
            _move(self._file, name.order)
        return done

    @override
    def counts(self) -> GroupCounts:
        with self._file.reading():
            return GroupCounts(*self._file.run(_COUNTS).fetchone())

    @override
    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        after = ""
        while True:
            with self._file.reading():
                rows = self._file.run(_SIZES, (after, size)).fetchall()
            if not rows:
                return
            yield dict(rows)
            after = rows[-1][0]

    def _rows(self, statement: str, values: Row) -> list[Grouped]:
        with self._file.reading():
            rows = self._file.run(statement, values).fetchall()
        return [
            Grouped(Name(self.index, name, place), packed or b"", group, bool(lead), (place, 0))
            for name, place, packed, group, lead in rows
        ]


def _search(wanted: Wanted) -> SignatureLookup:
    """Ask for what is wanted for one document; the lengths of what is found are left to who asks."""
    values = dict(wanted.values) | {clue: each.values for clue, each in wanted.several.items()}
    return SignatureLookup(values, {clue: each.least for clue, each in wanted.several.items()}, limit=MOST)


def _move(file: SqliteFile, place: int) -> None:
    """Give a document the next place, inside the transaction that is open."""
    (packed, long) = file.run(_SIGNED, (place,)).fetchone()
    before = stored_words(file, place, packed, long or b"") if packed else ""
    key = words(values_of(packed, long or b"")) if packed else ""
    (new,) = file.run(_NEXT).fetchone()
    for statement in _MOVED:
        file.run(statement, (new, place))
    if key:
        file.run(_FORGET_KEYS, (place, before))
        file.run(_KEYS, (new, key))
