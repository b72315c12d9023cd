"""Spelling suggestions from the terms of an index in SQLite."""

from collections.abc import Sequence

from ibidem_engines.spelling import MOST_WORDS, spellings
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.records import as_json

_TABLE = """create virtual table if not exists temp."ibidem.{index}.terms"
    using fts5vocab(main, "ibidem.{index}.texts", row)"""
_TERMS = 'select term, doc from temp."ibidem.{index}.terms" where term in (select value from json_each(?))'


def suggest(file: SqliteFile, words: Sequence[str]) -> dict[str, str]:
    """Find spellings; see `Engine.suggest`."""
    near = {word: spellings(word) for word in words[:MOST_WORDS]}
    with file.reading():
        file.run(_TABLE)
        documents: dict[str, int] = dict(file.run(_TERMS, (as_json([*near, *set().union(*near.values())]),)))
    known = {word: [each for each in some if each in documents] for word, some in near.items() if word not in documents}
    return {word: min(some, key=lambda term: (-documents[term], term)) for word, some in known.items() if some}
