"""Stored groups, threads and works in SQLite: columns of each document."""

from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import override

from ibidem_engines import stored_groups
from ibidem_engines.engine import SignatureLookup
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.sqlite.search import find
from ibidem_engines.sqlite.write import as_json, move

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
# The positions freed by deletions and rewrites; the last one ever given is kept apart, so that the number only grows.
_GIVEN_UP = """select value - (select count(*) from "ibidem.{index}.documents")
    from "ibidem.{index}.state" where name = 'place'"""
_SIZES = """select "group", count(*) from "ibidem.{index}.documents"
    where not lead and "group" > ? group by "group" order by "group" limit ?"""
_PACKED_BY_ID = 'select id, packed from "ibidem.{index}.documents" where id in (select value from json_each(?))'
_HAS_THREADS = 'select exists (select 1 from "ibidem.{index}.documents" where thread is not null)'
_WRITE = 'update "ibidem.{index}.documents" set {columns} where id = ?'
SLICE = 1_000
LAST_PLACE = 2**63 - 1
MAX_LEADS = 10_000  # leads that are read for one class of values of one document


class SqliteGroups(stored_groups.StoredGroups):
    """The groups of an index in SQLite; see `StoredGroups`."""

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    def parts(self) -> list[stored_groups.ShardRef]:
        return [stored_groups.ShardRef(self.index)]

    def uuids(self) -> Mapping[str, str]:
        return {}

    @override
    def newest(self, marks: stored_groups.Marks | None = None) -> dict[stored_groups.ShardRef, int]:
        """Return the last assigned position, even if its document was deleted."""
        with self._file.reading():
            (last_place,) = self._file.run(_LAST).fetchone()
        return {stored_groups.ShardRef(self.index): int(last_place)}

    def deletions(self) -> int:
        with self._file.reading():
            return int(self._file.run(_GIVEN_UP).fetchone()[0])

    def leads(self, seq_range: stored_groups.SeqNoRange, size: int) -> list[stored_groups.GroupedDocument]:
        return self._rows(_LEADS, (seq_range.after, seq_range.end, size))

    def documents(self, seq_range: stored_groups.SeqNoRange, size: int) -> list[stored_groups.GroupedDocument]:
        return self._rows(_DOCUMENTS, (seq_range.after, seq_range.end, size))

    def count_leads(self, seq_range: stored_groups.SeqNoRange) -> int:
        with self._file.reading():
            (count,) = self._file.run(_COUNT_LEADS, (seq_range.after, seq_range.end)).fetchone()
        return int(count)

    def with_value(self, keys: Sequence[stored_groups.LeadKeys], end: stored_groups.Marks) -> list[stored_groups.Hit]:
        # The caller compares the lengths of the hits.
        searches = [SignatureLookup(each.values, each.min_shared, limit=MAX_LEADS) for each in keys]
        results = find(self._file, searches, None, last_lead=end[stored_groups.ShardRef(self.index)])
        return list({hit.id: hit for each in results for hit in each.hits}.values())

    def members(
        self, groups: Sequence[str], excluded: Sequence[tuple[str, str]] = (), *, lead: bool | None = None
    ) -> Iterator[list[stored_groups.GroupedDocument]]:
        last_name, flags = 0, (0, 1) if lead is None else (int(lead), int(lead))
        excluded_ids = as_json([name for index, name in excluded if index == self.index])
        while rows := self._rows(_OF_GROUPS, (as_json(list(groups)), last_name, excluded_ids, *flags, SLICE)):
            yield rows
            last_name = rows[-1].name.order

    def read(
        self, ids: Sequence[tuple[str, str]], end: stored_groups.Marks | None = None
    ) -> list[stored_groups.GroupedDocument]:
        last_place = LAST_PLACE if end is None else end[stored_groups.ShardRef(self.index)]
        return self._rows(_BY_ID, (as_json([name for index, name in ids if index == self.index]), last_place))

    def assign(self, changes: Sequence[stored_groups.Assignment]) -> list[bool]:
        """Assign groups; a document that becomes a lead moves to a new position."""
        with self._file.transaction():
            return [self._assign(each) for each in changes]

    def _assign(self, change: stored_groups.Assignment) -> bool:
        name, before = change.document.name, (change.document.group, int(change.document.lead))
        values = (change.group, int(change.lead), name.id, name.order, *before)
        is_written = self._file.run(_JOIN, values).rowcount > 0
        if is_written and change.lead and not change.settled:
            move(self._file, name.order)
        return is_written

    def counts(self) -> stored_groups.GroupCounts:
        with self._file.reading():
            return stored_groups.GroupCounts(*self._file.run(_COUNTS).fetchone())

    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        last_name = ""
        while True:
            with self._file.reading():
                rows = self._file.run(_SIZES, (last_name, size)).fetchall()
            if not rows:
                return
            yield dict(rows)
            last_name = rows[-1][0]

    def prepare_memberships(self) -> None:
        """Do nothing: every file of this layout has the columns."""

    def has_threads(self) -> bool:
        with self._file.reading():
            return bool(self._file.run(_HAS_THREADS).fetchone()[0])

    def write_memberships(self, changes: Sequence[stored_groups.MembershipChange]) -> int:
        with self._file.transaction():
            rows = self._file.run(_PACKED_BY_ID, (as_json([each.name[1] for each in changes]),)).fetchall()
            stored = {(self.index, name): stored_groups.hash_packed(packed) for name, packed in rows}
            same = [each for each in changes if stored.get(each.name) == each.text_hash]
            for change in same:
                columns = ", ".join(f"{name} = ?" for name in change.values)
                values = [each if isinstance(each, str | int) else None for each in change.values.values()]
                self._file.run(_WRITE.replace("{columns}", columns), (*values, change.name[1]))
        return len(same)

    def _rows(self, statement: str, values: Row) -> list[stored_groups.GroupedDocument]:
        with self._file.reading():
            rows = self._file.run(statement, values).fetchall()
        return [
            stored_groups.GroupedDocument(
                stored_groups.Name(self.index, name, place), packed or b"", group, bool(lead), (place, 0)
            )
            for name, place, packed, group, lead in rows
        ]
