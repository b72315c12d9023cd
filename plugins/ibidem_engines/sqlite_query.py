"""A query as SQLite understands it: an FTS5 expression, and conditions on the documents table."""

from collections.abc import Sequence
from dataclasses import dataclass

from ibidem_engines.query import Filter, Phrase, Query, Words, days
from ibidem_engines.sqlite_file import Value
from ibidem_ingest.errors import UsageError

_META = """exists (select 1 from json_each(d.meta) m where m.key = ? and (
    case m.type when 'true' then 'true' when 'false' then 'false' else cast(m.value as text) end = ?
    or m.type = 'array' and exists (select 1 from json_each(m.value) e where cast(e.value as text) = ?)))"""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a document must fulfil, for `where … and …` with the documents table as `d`.

    Args:
        sql: Conditions, each with `and` before it; empty when there are none.
        values: What stands for its question marks.
    """

    sql: str
    values: tuple[Value, ...]


def expression(query: Query | None) -> str:
    """Write the words of a query as an FTS5 expression; empty when no word is asked for.

    >>> from ibidem_engines.query import parse_query
    >>> expression(parse_query('grain OR wheat "export duty" -rice'))
    '("grain" OR "wheat") AND ("export duty") NOT ("rice")'
    """
    if query is None:
        return ""
    if query.native is not None:
        raise UsageError(
            "SQLite has no query language of its own to hand a native query to",
            "type words, or set IBIDEM_ENGINE to a server that understands it",
        )
    return _written(query)


def conditions(query: Query | None) -> Conditions:
    """Write a query's filters as conditions, and its exclusions where no word is asked for."""
    if query is None:
        return Conditions("", ())
    by_field: dict[str, list[Conditions]] = {}
    for condition in query.filters:
        by_field.setdefault(condition.field, []).append(_condition(condition))
    refused = [_condition(condition) for condition in query.excluded]
    sql = "".join(f" and ({' or '.join(each.sql for each in some)})" for some in by_field.values())
    values = tuple(value for some in by_field.values() for each in some for value in each.values)
    sql += "".join(f" and not coalesce({each.sql}, 0)" for each in refused)
    values += tuple(value for each in refused for value in each.values)
    if query.none_of and not query.all_of:
        sql += ' and d.place not in (select rowid from "ibidem.{index}.texts" where "ibidem.{index}.texts" match ?)'
        values += (_any_of(query.none_of),)
    return Conditions(sql, values)


def _written(words: Query | Words) -> str:
    """Write what must and must not occur; empty where nothing must."""
    asked = " AND ".join(_any_of(entry) for entry in words.all_of)
    return f"{asked} NOT {_any_of(words.none_of)}" if asked and words.none_of else asked


def _any_of(parts: Sequence[Phrase | Words]) -> str:
    """Join parts."""
    return f"({' OR '.join(_phrase(each) if isinstance(each, Phrase) else f'({_written(each)})' for each in parts)})"


def _phrase(phrase: Phrase) -> str:
    """Write a phrase; inside quotation marks no character but the mark itself means anything to FTS5."""
    column = f"{phrase.field} : " if phrase.field else ""
    text = phrase.text.replace('"', " ").replace("\0", " ")
    return f'{column}"{text}"{" *" if phrase.prefix else ""}'


def _condition(asked: Filter) -> Conditions:
    if asked.field == "date":
        first, last = days(asked.value)
        return Conditions(
            "(d.last >= ? or ? is null) and (d.first <= ? or ? is null) and d.first is not null",
            (first, first, last, last),
        )
    if asked.field in ("id", "source", "language"):
        return Conditions(f"d.{asked.field} = ?", (asked.value,))
    return Conditions(_META, (asked.field.removeprefix("meta."), asked.value, asked.value))
