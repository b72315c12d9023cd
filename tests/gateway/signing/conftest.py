"""A signed index of each of the two, and the gateway before it that signs what is written."""

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from gateway.conftest import SERVERS
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine, open_reindex_source
from ibidem_ingest.idf.store import Tables
from servers.indices import ask, remove_indices
from support.gateway_server import run_gateway

ALL = {"gateway_paths": "all", "gateway_indexes": "*", "gateway_sign": True}


@dataclass(frozen=True)
class Signed:
    """A signed index behind a gateway that signs.

    Args:
        kind: Which of the two it is.
        settings: Those of the index.
        url: Address of the gateway.
    """

    kind: str
    settings: Settings
    url: str

    @property
    def index(self) -> str:
        return self.settings.index

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        content = body if isinstance(body, bytes) else None
        with httpx2.Client(timeout=60) as client:
            answer = client.request(
                method,
                f"{self.url}{path}",
                content=content,
                json=None if content is not None else body,
                headers={"content-type": "application/json"} | headers,
            )
        return answer.json()

    def source(self, id_: str) -> dict[str, Any]:
        source: dict[str, Any] = self.ask("GET", f"/{self.index}/_doc/{id_}")["_source"]
        return source

    def counted(self, name: str) -> float:
        metrics = httpx2.get(f"{self.url}/metrics").text
        lines = (line.rpartition(" ") for line in metrics.splitlines())
        return sum(float(value) for metric, _, value in lines if metric == name)


Start = Callable[..., Signed]


@pytest.fixture(scope="session", params=SERVERS)
def start(request: pytest.FixtureRequest, tables: Tables) -> Iterator[Start]:
    """Makes a signed index and starts a gateway before it."""
    address: str = request.getfixturevalue(request.param)
    indexes: list[str] = []
    running_ones: list[Any] = []

    def begin(mapping: object = None, **changes: Any) -> Signed:
        name = f"written-{secrets.token_hex(4)}"
        indexes.append(name)
        settings = Settings(engine=address, index=name, tables=tables.folder, concurrency=1).changed(
            **{**ALL, **changes}
        )
        if mapping is None:
            engine = open_engine(settings.address, name)
            engine.create()
            engine.close()
        else:
            ask(address, "PUT", f"/{name}", json.dumps(mapping))
            source = open_reindex_source(settings.address, name)
            source.prepare()
            source.close()
        context = run_gateway(settings)
        running_ones.append(context)
        return Signed(request.param, settings, context.__enter__())

    yield begin
    for each in running_ones:
        each.__exit__(None, None, None)
    for name in indexes:
        remove_indices(address, name)


@pytest.fixture(scope="session")
def signing_gateway(start: Start) -> Signed:
    """An index that ibidem made."""
    return start()
