"""A cluster with the plugin, indexes on both of its nodes, and clients with and without the Python layer."""

import json
import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

import elasticsearch
import opensearchpy
import pytest

import ibidem
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign, sign_batch
from plugin.cluster import Cluster
from servers.indices import ask, create_index
from servers.nodes import EngineName
from support.leases import english_tables
from support.signed_books import text
from support.signed_records import packed_records
from support.windows import counts, documents

STORIES = documents(23, 120, 6)
BOOKS = 40
QUERY: dict[str, Any] = {"query": {"match": {"text": "said"}}, "size": 10}
# Indexes by name: how many shards, and the node that holds them; the one that is asked is `one`.
INDEXES = {"stories": (1, "two"), "spread": (3, ""), "near": (1, "one"), "heard": (1, "two"), "library": (2, "")}


@pytest.fixture(scope="module", autouse=True)
def layer_alone() -> Iterator[None]:
    """The Python layer groups by itself, but where a test lets it ask the plugin."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("IBIDEM_PLUGIN", "off")
        yield


@pytest.fixture(scope="package", params=["opensearch", "elasticsearch"])
def kind(request: pytest.FixtureRequest) -> EngineName:
    """The engine under test."""
    name: EngineName = request.param
    return name


@pytest.fixture(scope="session")
def signed_records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    tables = english_tables(tmp_path_factory.mktemp("tables"), dict(counts(STORIES)))
    return packed_records(STORIES, sign(STORIES, tables))


@pytest.fixture(scope="package")
def cluster(kind: EngineName, signed_records: list[Record]) -> Iterator[str]:
    """The address of a cluster with the plugin on both nodes, and filled indexes."""
    address = os.environ.get(f"IBIDEM_TEST_PLUGIN_{kind.upper()}")
    if address:
        fill(address, signed_records)
        yield address
        return
    with Cluster(kind) as server:
        fill(server.address, signed_records)
        yield server.address


def books() -> list[Record]:
    """Books, parts of them and leaflets, with the signatures of their pages; every one says so."""
    rng = random.Random(3)  # noqa: S311 - made-up data keeps no secret
    texts = [Document(f"b{at}", f"{text(rng)} said") for at in range(BOOKS)]
    return packed_records(texts, sign_batch(texts, None))


def fill(address: str, signed_records: list[Record]) -> None:
    """Write the stories into each index, a foreign index without signatures, and a copy under other ids."""
    names = ",".join([*INDEXES, "foreign", "copied"])
    ask(address, "DELETE", f"/{names}?ignore_unavailable=true")
    for name, (shards, node) in INDEXES.items():
        placement = {"routing.allocation.require._name": node} if node else {}
        create_index(address, name, number_of_shards=shards, **placement)
        engine = open_engine(address, name)
        engine.create()
        engine.write(books() if name == "library" else signed_records)
        engine.refresh()
        engine.close()
    foreign = {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"text": {"type": "text"}}}}
    ask(address, "PUT", "/foreign", json.dumps(foreign))
    for at, each in enumerate(STORIES[:20]):
        ask(address, "PUT", f"/foreign/_doc/f{at}?refresh=true", json.dumps({"text": each.text}))
    filtered = {"add": {"index": "stories", "alias": "dated", "filter": {"exists": {"field": "ibidem.date"}}}}
    ask(address, "POST", "/_aliases", json.dumps({"actions": [filtered]}))
    ask(address, "GET", "/_cluster/health?wait_for_no_relocating_shards=true&wait_for_status=yellow&timeout=60s")


def open_client(kind: EngineName, address: str) -> AbstractContextManager[Any]:
    library: Any = opensearchpy.OpenSearch if kind == "opensearch" else elasticsearch.Elasticsearch
    return closing(library(address.partition("+")[2]))


@pytest.fixture(scope="package")
def plain_client(kind: EngineName, cluster: str) -> Iterator[Any]:
    """The client as its makers made it."""
    with open_client(kind, cluster) as client:
        yield client


@pytest.fixture(scope="package")
def wrapped_client(plain_client: Any) -> Any:
    """The same client with the Python layer, which groups by itself."""
    return ibidem.wrap(plain_client)


@pytest.fixture
def asking(plain_client: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    return ibidem.wrap(plain_client)
