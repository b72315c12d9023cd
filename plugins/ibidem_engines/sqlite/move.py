"""Give a document in SQLite a new sequence number, as if it had been written again."""

from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.keys import values_of, words

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


def move(file: SqliteFile, place: int) -> None:
    """Give a document the next place, inside the transaction that is open."""
    (packed, long) = file.run(_SIGNED, (place,)).fetchone()
    key = words(values_of(packed, long or b"")) if packed else ""
    (new,) = file.run(_NEXT).fetchone()
    for statement in _MOVED:
        file.run(statement, (new, place))
    if key:
        file.run(_FORGET_KEYS, (place, key))
        file.run(_KEYS, (new, key))
