"""Fixtures of the gateway's tests: a small index of leases, and a gateway in front of it."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from starlette.testclient import TestClient

from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_gateway.app import make_gateway
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records
from servers.indices import remove_indices
from servers.kinds import CLUSTERS
from support.command_line import filled_folder, run
from support.leases import LEASES

__all__ = ["filled_folder", "run"]

HERE = "http://127.0.0.1"


def fill(engine: Engine, tables: Tables) -> None:
    engine.create()
    engine.write(list(records(LEASES, tables)))
    engine.refresh()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, tables: Tables) -> Path:
    """A file with a filled index."""
    path = tmp_path_factory.mktemp("filled") / "index.sqlite"
    with closing(open_engine(f"sqlite:///{path}", Settings().index)) as engine:
        fill(engine, tables)
    return path


@pytest.fixture
def settings(tmp_path: Path, filled: Path, tables: Tables) -> Settings:
    """Settings of a SQLite index of one's own that is filled."""
    shutil.copytree(filled.parent, tmp_path, dirs_exist_ok=True)
    return Settings(engine=f"sqlite:///{tmp_path}/{filled.name}", tables=tables.folder)


@pytest.fixture
def index(settings: Settings) -> Iterator[Engine]:
    """The index of these settings, past the gateway."""
    with closing(open_engine(settings.engine, settings.index)) as engine:
        yield engine


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Each client of one request would read all certificates of the machine anew, and none is asked for here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


Serve = Callable[..., TestClient]


@pytest.fixture
def serve(settings: Settings) -> Iterator[Serve]:
    """Starts the gateway over the leases, with settings of one's own."""
    clients: list[TestClient] = []

    def start(**changes: object) -> TestClient:
        client = TestClient(make_gateway(settings.changed(**changes)), base_url=HERE, raise_server_exceptions=False)
        clients.append(client)
        client.__enter__()
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask an engine that is away again at once."""
    monkeypatch.setattr(ClusterClient, "wait", lambda *_: None)


@pytest.fixture
def client(serve: Serve) -> TestClient:
    """The gateway over the leases, as it is with nothing set."""
    return serve()


@dataclass(frozen=True)
class Leases:
    kind: str  # which of the two it is
    settings: Settings  # those of the index

    @property
    def index(self) -> str:
        """The index's name."""
        return self.settings.index

    @property
    def url(self) -> str:
        """The engine itself, past the gateway."""
        return self.settings.engine.partition("+")[2]


@pytest.fixture(scope="session", params=CLUSTERS)
def leases(request: pytest.FixtureRequest, tables: Tables) -> Iterator[Leases]:
    """The leases in each of the two, under a name that no other run uses."""
    address: str = request.getfixturevalue(request.param)
    settings = Settings(engine=address, index=f"leases-{secrets.token_hex(4)}", tables=tables.folder)
    with closing(open_engine(address, settings.index)) as engine:
        fill(engine, tables)
    yield Leases(request.param, settings)
    remove_indices(address, settings.index)


@pytest.fixture(scope="session")
def gateway(leases: Leases) -> Iterator[str]:
    """The address of the gateway before the leases."""
    with run_gateway(leases.settings) as url:
        yield url
