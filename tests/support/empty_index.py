"""An empty index and a small idf table; a package whose tests ask servers has an `address` or `absent` of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.groups import follower
from support.leases import LEASE_WORDS, english_tables, rank_counts

PREAMBLE = (
    "We the People of the United States, in Order to form a more perfect Union, establish Justice, "
    "insure domestic Tranquility"
)
WORDS = [word.strip(",").lower() for word in PREAMBLE.split() if len(word) > 3]


@pytest.fixture(scope="session", autouse=True)
def sole_settler() -> Iterator[None]:
    """No other process takes a lease in the same moment, so that nothing is waited for, but where a test is of that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follower, "RACE_SECONDS", 0.0)
        yield


@pytest.fixture
def address(tmp_path: Path) -> str:
    """Address of an engine in a file that does not exist yet."""
    return f"sqlite:///{tmp_path}/index.sqlite"


@pytest.fixture
def absent(address: str) -> Iterator[Engine]:
    """An engine whose index was never made."""
    engine = open_engine(address, "news")
    yield engine
    engine.close()


@pytest.fixture
def engine(absent: Engine) -> Engine:
    """An engine with an empty index."""
    absent.create()
    return absent


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """A small English table of the leases' words and `WORDS`, since the general one takes a second to build."""
    return english_tables(tmp_path_factory.mktemp("tables"), rank_counts([*LEASE_WORDS, *WORDS]))


@pytest.fixture(scope="session")
def tables_folder(tables: Tables) -> Path:
    return tables.folder
