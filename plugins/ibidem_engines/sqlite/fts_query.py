"""Translation of queries to SQL: words to FTS5, filters to conditions on a document."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from ibidem_engines.query import FLAGS, MEMBERSHIPS, Filter, Phrase, Query, Words, days
from ibidem_engines.sqlite.file import Value

_META = """exists (select 1 from json_each(d.meta) m where m.key = ? and (
    case m.type when 'true' then 'true' when 'false' then 'false' else cast(m.value as text) end = ?
    or m.type = 'array' and exists (select 1 from json_each(m.value) e where cast(e.value as text) = ?)))"""
_IN = "in (select value from json_each(?))"
_ANY_META = _META.replace("end = ?", f"end {_IN}").replace("as text) = ?", f"as text) {_IN}")
# Conditions on fields of which any number of values may be asked for.
_LISTED = {"id": f"d.id {_IN}", "thread": f"d.thread {_IN}", "work": f"d.work {_IN}"}


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions on a document, for `where … and …` with the documents table as `d`."""

    sql: str  # conditions, each with `and` before it; empty when there are none
    values: tuple[Value, ...]  # values of its question marks


def expression(query: Query | None) -> str:
    """Convert the words of a query into an FTS5 expression; empty if there are none.

    >>> from ibidem_engines.query import parse_query
    >>> expression(parse_query('grain OR wheat "export duty" -rice'))
    '("grain" OR "wheat") AND ("export duty") NOT ("rice")'
    """
    return "" if query is None else _match_expression(query)


def conditions(query: Query | None) -> Conditions:
    """Convert a query's filters into conditions, and its exclusions if it has no words."""
    if query is None:
        return Conditions("", ())
    filters: dict[str, list[Filter]] = {}
    for condition in query.filters:
        filters.setdefault(condition.field, []).append(condition)
    by_field = [_any_of(name, some) for name, some in filters.items()]
    exclusions = [_condition(condition) for condition in query.excluded]
    sql = "".join(f" and ({' or '.join(each.sql for each in group)})" for group in by_field)
    values = tuple(value for group in by_field for each in group for value in each.values)
    sql += "".join(f" and not coalesce({each.sql}, 0)" for each in exclusions)
    values += tuple(value for each in exclusions for value in each.values)
    if query.none_of and not query.all_of:
        sql += ' and d.place not in (select rowid from "ibidem.{index}.texts" where "ibidem.{index}.texts" match ?)'
        values += (_join_or(query.none_of),)
    return Conditions(sql, values)


def _match_expression(words: Query | Words) -> str:
    """Convert required and excluded words; empty if no word is required."""
    expression = " AND ".join(_join_or(entry) for entry in words.all_of)
    return f"{expression} NOT {_join_or(words.none_of)}" if expression and words.none_of else expression


def _join_or(parts: Sequence[Phrase | Words]) -> str:
    """Join conditions by `or`."""
    expressions = (_phrase(each) if isinstance(each, Phrase) else f"({_match_expression(each)})" for each in parts)
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


def _condition(filter_: Filter) -> Conditions:
    if filter_ == Filter("date", ""):
        return Conditions("d.first is null", ())
    if filter_.field == "date":
        first, last = days(filter_.value)
        return Conditions(
            "(d.last >= ? or ? is null) and (d.first <= ? or ? is null) and d.first is not null",
            (first, first, last, last),
        )
    if filter_.field in FLAGS:
        return Conditions(f"d.{filter_.field} = ?", (int(filter_.value == "true"),))
    if filter_.field in ("id", "source", "language", *MEMBERSHIPS):
        return Conditions(f"d.{filter_.field} = ?", (filter_.value,))
    return Conditions(_META, (filter_.field.removeprefix("meta."), filter_.value, filter_.value))


def _any_of(field: str, filters: Sequence[Filter]) -> list[Conditions]:
    """Return alternative conditions: one for each value, or a single one for fields with many values."""
    listed = orjson.dumps([each.value for each in filters]).decode()
    if len(filters) == 1 or (field not in _LISTED and not field.startswith("meta.")):
        return [_condition(each) for each in filters]
    if field in _LISTED:
        return [Conditions(_LISTED[field], (listed,))]
    return [Conditions(_ANY_META, (field.removeprefix("meta."), listed, listed))]
