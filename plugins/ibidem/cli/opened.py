"""The settings and the engine of a command."""

from collections.abc import Iterator
from contextlib import contextmanager

from ibidem_engines.engine import Engine
from ibidem_engines.opening import open_engine
from ibidem_workers.settings import Settings, load


@contextmanager
def opened_engine(settings: Settings | None = None) -> Iterator[Engine]:
    """Open the engine that the settings name, and close it in the end.

    Args:
        settings: The settings; read from the environment and files when None.
    """
    settings = settings or load()
    engine = open_engine(settings.address, settings.index)
    try:
        yield engine
    finally:
        engine.close()
