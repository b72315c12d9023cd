"""Engines to run the contract over."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import gettempdir

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from servers.indices import empty_indices, remove_indices
from servers.kinds import ENGINES


@pytest.fixture(params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of an empty engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/folder/index.sqlite"
    return str(request.getfixturevalue(request.param))


@pytest.fixture(scope="session")
def tidy() -> Iterator[set[tuple[str, str]]]:
    """The servers and indexes that the tests have made; they are removed when all is done."""
    indexes: set[tuple[str, str]] = set()
    yield indexes
    for address, index in indexes:
        with turn(address):  # other processes may still be at their tests
            remove_indices(address, index)


@contextmanager
def turn(address: str) -> Iterator[None]:
    """Take a turn at the indexes of a server that several processes of one run share."""
    name = f"ibidem-tests-{address.rpartition(':')[2].partition('/')[0]}.lock"
    with (Path(gettempdir()) / name).open("w") if not address.startswith("sqlite") else nullcontext() as file:
        if file:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def alone(address: str) -> Iterator[None]:
    """A test's turn at the index of a server."""
    with turn(address):
        yield


@pytest.fixture
def absent(request: pytest.FixtureRequest, alone: None, address: str, tidy: set[tuple[str, str]]) -> Iterator[Engine]:
    """An engine whose index was never made.

    Making an index takes a server half a second, so one that a test has used is emptied for the next.
    """
    engine = open_engine(address, "news")
    if not address.startswith("sqlite"):
        tidy.add((address, "news"))
        (empty_indices if "engine" in request.fixturenames else remove_indices)(address)
    yield engine
    engine.close()
