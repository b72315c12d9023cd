"""Stored memberships in SQLite: columns of each document."""

from collections.abc import Sequence

from typing_extensions import override

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.requests import RequestFlow, answered
from ibidem_engines.sqlite.file import SqliteFile, Value
from ibidem_engines.sqlite.tables import as_json
from ibidem_engines.stored_groups import FIELDS, MembershipChange, MembershipStore, Values, hash_packed

_READ = f"""select id, {", ".join(FIELDS)} from "ibidem.{{index}}.documents"
    where id in (select value from json_each(?))"""  # noqa: S608 - made of constants
_PACKED = 'select id, packed from "ibidem.{index}.documents" where id in (select value from json_each(?))'
_HAS_THREADS = 'select exists (select 1 from "ibidem.{index}.documents" where thread is not null)'
_WRITE = 'update "ibidem.{index}.documents" set {columns} where id = ?'


class SqliteMemberships(MembershipStore):
    """The memberships of an index in SQLite; see `MembershipStore`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @override
    def prepare(self) -> None:
        """Do nothing: every file of this layout has the columns."""

    @override
    def has_threads(self) -> bool:
        with self._file.reading():
            return bool(self._file.run(_HAS_THREADS).fetchone()[0])

    @override
    def read(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Values]]:
        own_ids = as_json([name for index, name in names if index == self._file.index])
        with self._file.reading():
            rows = self._file.run(_READ, (own_ids,)).fetchall()
        return answered({(self._file.index, row[0]): dict(zip(FIELDS, row[1:], strict=True)) for row in rows})

    @override
    def write(self, changes: Sequence[MembershipChange]) -> int:
        with self._file.transaction():
            rows = self._file.run(_PACKED, (as_json([each.name[1] for each in changes]),)).fetchall()
            stored = {(self._file.index, name): hash_packed(packed) for name, packed in rows}
            same = [each for each in changes if stored.get(each.name) == each.text_hash]
            for each in same:
                self._write(each)
        return len(same)

    def _write(self, change: MembershipChange) -> None:
        columns = ", ".join(f"{name} = ?" for name in change.values)
        values: list[Value] = [each if isinstance(each, str | int) else None for each in change.values.values()]
        self._file.run(_WRITE.replace("{columns}", columns), (*values, change.name[1]))
