"""What the tests of the workers stand on: an empty SQLite index, a file queue, and one folder of idf tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_engines.engine import Engine
from ibidem_engines.opening import open_engine
from ibidem_workers.settings import Settings


@pytest.fixture(scope="session")
def tables_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture
def settings(tmp_path: Path, tables_folder: Path) -> Settings:
    return Settings(
        engine=f"sqlite:////{tmp_path}/index.sqlite",
        broker=f"filesystem:////{tmp_path}/queue",
        tables=tables_folder,
        concurrency=2,
        patience=1,
    )


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    yield engine
    engine.close()
