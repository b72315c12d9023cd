"""Fixtures of these tests."""

from pathlib import Path

import pytest

from ibidem_ingest.idf.store import Tables
from support.command_line import tables_folder

__all__ = ["tables_folder"]


@pytest.fixture(scope="session")
def tables(tables_folder: Path) -> Tables:
    """An English table."""
    return Tables(tables_folder)
