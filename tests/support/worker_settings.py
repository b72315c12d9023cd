"""Fixtures of the tests of the workers: settings of a SQLite index, and the engine that they name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine


@pytest.fixture
def settings(tmp_path: Path, tables_folder: Path) -> Settings:
    return Settings(engine=f"sqlite:////{tmp_path}/index.sqlite", tables=tables_folder, concurrency=1, patience=1)


@pytest.fixture
def absent(settings: Settings) -> Iterator[Engine]:
    """An engine whose index, the one of the settings, was never made."""
    engine = open_engine(settings.engine, settings.index)
    yield engine
    engine.close()
