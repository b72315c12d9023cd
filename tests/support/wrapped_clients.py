"""Real clients of both servers, wrapped, over an index of signed stories."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import elasticsearch
import opensearchpy
import pytest

import ibidem
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_workers.batches import records
from servers.indices import remove_indices
from servers.kinds import CLUSTERS
from support.leases import english_tables
from support.windows import counts, documents

STORIES = documents(11, 40, 5)
INDEX = f"clients-{os.getpid()}"  # another in each session, since servers may be shared

# Of a test about what OpenSearch does not have.
ELASTICSEARCH_ALONE = pytest.mark.parametrize("kind", [CLUSTERS[1]], indirect=True)

CLIENTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "opensearch": (opensearchpy.OpenSearch, opensearchpy.AsyncOpenSearch),
    "elasticsearch": (elasticsearch.Elasticsearch, elasticsearch.AsyncElasticsearch),
}


@pytest.fixture(params=CLUSTERS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest, kind: str) -> str:
    return str(request.getfixturevalue(kind))


@pytest.fixture(scope="session")
def signed_records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    tables = english_tables(tmp_path_factory.mktemp("tables"), dict(counts(STORIES)))
    return list(records([replace(each, version=1) for each in STORIES], tables))


def fill_index(url: str, index: str, records: Sequence[Record]) -> Engine:
    remove_indices(url.partition("/?")[0], index)
    engine = open_engine(url, index)
    engine.create()
    engine.write(records)
    engine.refresh()
    return engine


def open_point(kind: str, client: Any, index: str) -> str:
    """Open a point in time as the kind of server has it; it goes by itself."""
    if kind == "opensearch":
        return str(client.create_pit(index=index, params={"keep_alive": "1m"})["pit_id"])
    return str(client.open_point_in_time(index=index, keep_alive="1m")["id"])


@pytest.fixture(scope="module")
def library(address: str, signed_records: list[Record]) -> Iterator[Engine]:
    """The index as ibidem itself searches it."""
    engine = fill_index(address, INDEX, signed_records)
    yield engine
    engine.close()
    remove_indices(address, INDEX)


@pytest.fixture(scope="module")
def plain_client(kind: str, address: str, library: Engine) -> Iterator[Any]:
    """The client as its makers made it."""
    client = CLIENTS[kind][0](address.partition("+")[2])
    yield client
    client.close()


@pytest.fixture(scope="module")
def wrapped_client(plain_client: Any) -> Any:
    return ibidem.wrap(plain_client)
