"""A client that is newer than its server speaks a version of the API that the server takes."""

import asyncio
from typing import Any

import elasticsearch as library
import pytest

import ibidem
from ibidem_core.address import parse_address
from ibidem_engines.cluster.elasticsearch import ElasticsearchTransport

JSON = "application/json"
# What the client of the next generation sends, which Elasticsearch 9 refuses as Elasticsearch 8 refuses that of 9.
NEXT = r"application/vnd.elasticsearch+\g<1>; compatible-with=10"

pytestmark = pytest.mark.server("elasticsearch")


@pytest.fixture
def newer_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed client is of the next generation."""
    for kind in ("_sync", "_async"):
        monkeypatch.setattr(f"elasticsearch.{kind}.client._base._COMPAT_MIMETYPE_SUB", NEXT)


@pytest.mark.usefixtures("newer_client")
def test_the_client_itself_is_refused(elasticsearch: str) -> None:
    with pytest.raises(library.BadRequestError):
        plain(elasticsearch).indices.exists(index="nowhere")
    with pytest.raises(library.BadRequestError, match="media_type_header_exception"):
        plain(elasticsearch).search(size=0)


@pytest.mark.usefixtures("newer_client")
def test_every_method_of_a_wrapped_client_is_answered(elasticsearch: str) -> None:
    client = ibidem.wrap(plain(elasticsearch))
    assert not client.indices.exists(index="nowhere")
    assert client.search(size=0)["hits"]["hits"] == []
    assert client.options(request_timeout=30).msearch(searches=[{}, {"size": 0}])["responses"][0]["status"] == 200


@pytest.mark.usefixtures("newer_client")
def test_so_is_one_that_is_awaited(elasticsearch: str) -> None:
    async def ask() -> Any:
        async with ibidem.wrap(plain(elasticsearch, asynchronous=True)) as client:
            return await client.indices.exists(index="nowhere"), await client.search(size=0)

    exists, found = asyncio.run(ask())
    assert (bool(exists), found["hits"]["hits"]) == (False, [])


@pytest.mark.usefixtures("newer_client")
def test_the_commands_are_answered(elasticsearch: str) -> None:
    transport = ElasticsearchTransport(parse_address(elasticsearch))
    for _ in range(2):
        answer = transport.send("POST", "/_search", {}, JSON, b'{"size": 0}')
        assert isinstance(answer, dict)
        assert answer["hits"]["hits"] == []
    transport.close()


def plain(address: str, *, asynchronous: bool = False) -> Any:
    kind = library.AsyncElasticsearch if asynchronous else library.Elasticsearch
    return kind(address.partition("+")[2])
