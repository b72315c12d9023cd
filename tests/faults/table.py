"""One small idf table, since the general one takes a second to build."""

from pathlib import Path

from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from support.empty_index import WORDS


def small_table(folder: Path) -> Path:
    """Make a folder with the table of the words that texts are made of, and return it."""
    tables = folder / "tables"
    Tables(tables).use(Table.build("en", 10_000, {word: 10.0 * at for at, word in enumerate(WORDS, 1)}, "a test"))
    return tables
