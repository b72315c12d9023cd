"""Fixtures of the tests of the workers: an empty SQLite index, a file queue, and one folder of idf tables."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from support.leases import english_tables, rank_counts

WORDS = [
    "people",
    "united",
    "states",
    "order",
    "form",
    "more",
    "perfect",
    "union",
    "establish",
    "justice",
    "insure",
    "domestic",
    "tranquility",
]


@pytest.fixture(scope="session")
def tables_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small English table, since the general one takes a second to build."""
    folder = tmp_path_factory.mktemp("tables")
    english_tables(folder, rank_counts(WORDS))
    return folder


@pytest.fixture
def settings(tmp_path: Path, tables_folder: Path) -> Settings:
    return Settings(
        engine=f"sqlite:////{tmp_path}/index.sqlite",
        broker=f"filesystem:////{tmp_path}/queue",
        tables=tables_folder,
        concurrency=2,
        patience=1,
    )


@pytest.fixture(scope="session")
def empty_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "index.sqlite"
    engine = open_engine(f"sqlite:////{path}", "ibidem")
    engine.create()
    engine.close()
    return path


@pytest.fixture
def engine(settings: Settings, empty_index: Path, tmp_path: Path) -> Iterator[Engine]:
    shutil.copy(empty_index, tmp_path)
    engine = open_engine(settings.engine, settings.index)
    yield engine
    engine.close()
