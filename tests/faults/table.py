"""One small idf table, since the general one takes a second to build."""

from pathlib import Path

from support.empty_index import WORDS
from support.leases import english_tables, rank_counts


def small_table(folder: Path) -> Path:
    """Make a folder with the table of the words that texts are made of, and return it."""
    return english_tables(folder / "tables", rank_counts(WORDS)).folder
