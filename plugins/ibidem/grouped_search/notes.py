"""Notes on the query of an answer: ignored parts, and documents that a filter excludes implicitly."""

from dataclasses import replace

from ibidem.grouped_search.response import Json
from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_engines.spelling import did_you_mean


def query_notes(engine: Engine, query: Query, view: ReadView, matched: int) -> Json:
    """Return the notes of a response on its query."""
    suggestion = did_you_mean(engine, query) if not matched and query.native is None else ""
    notes: Json = {"not_understood": list(query.notes), "did_you_mean": suggestion}
    if any(each.field == "language" for each in query.filters):
        notes["without_language"] = count_lacking(engine, query, "language", view)
    return notes


def count_lacking(engine: Engine, query: Query, name: str, view: ReadView) -> int:
    """Count the documents that match all but the conditions on a field, and lack that field."""
    others = tuple(each for each in query.filters if each.field != name)
    return engine.search(replace(query, filters=(*others, Filter(name, ""))), 1, view).total
