"""The packaged idf tables, in a folder of their own."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ibidem_ingest.idf.store import Tables


@cache
def general_tables() -> Tables:
    """Return the packaged tables; each is built once in a process, since that takes half a second."""
    return Tables(Path(_folder().name))


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="ibidem-tables-")
