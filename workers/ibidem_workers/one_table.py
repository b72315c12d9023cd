"""One idf table a language in an index: what is signed with two of them cannot be compared on rare words."""

from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.tables import Tables


def check_tables(engine: Engine, tables: Tables) -> None:
    """Refuse to add documents to an index that was signed with another table of the same language.

    A table that this folder does not hold cannot be judged; `ibidem doctor` names it.

    Args:
        engine: The index.
        tables: The folder of tables that workers sign with.

    Raises:
        UsageError: The index was signed with another table.
    """
    for name, documents in engine.info().tables.items():
        table = tables.named(name) if name else None
        now = tables.of(table.language) if table is not None else None
        if table is not None and now is not None and now.name != name:
            raise UsageError(
                f"index {engine.index!r} holds {documents:,} documents signed with the idf table {name}, "
                f"and {now.name} is now the one of {table.language!r}",
                f"sign them anew with: ibidem backfill --into NAME; or go back with: ibidem idf use {name}",
            )
