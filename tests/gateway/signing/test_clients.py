"""Programs that know nothing of ibidem work against one address: what they write is signed on its way."""

import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elasticsearch
import opensearchpy
import orjson
import pytest
from elasticsearch import helpers as elasticsearch_helpers

from gateway.conftest import SERVERS
from gateway.signing.conftest import Signed, Start
from servers.fake_server import Answer, Request, between
from servers.packages import interpreter
from support.leases import LEASE

PAGE = Path(__file__).parents[3] / "docs" / "gateway.md"
CLIENTS: dict[str, tuple[Any, Any]] = {
    "opensearch": (lambda url: opensearchpy.OpenSearch(url, timeout=60), opensearchpy.helpers),
    "elasticsearch": (lambda url: elasticsearch.Elasticsearch(url, request_timeout=60), elasticsearch_helpers),
}
STORES = ("langchain-elasticsearch==1.0.0", "opensearch-haystack==9.0.0")
SECONDS = 200


def signed_count(signing_gateway: Signed) -> int:
    signing_gateway.ask("POST", f"/{signing_gateway.index}/_refresh")
    response = signing_gateway.ask(
        "POST", f"/{signing_gateway.index}/_count", {"query": {"exists": {"field": "ibidem.content"}}}
    )
    return int(response["count"])


def test_a_bulk_helper_keeps_an_index_signed_and_searches_it_grouped(start: Start) -> None:
    signing_gateway = start()
    make_client, helpers = CLIENTS[signing_gateway.kind]
    actions = [{"_index": signing_gateway.index, "text": f"{LEASE} {at % 10}"} for at in range(500)]
    with make_client(signing_gateway.url) as client:
        assert helpers.bulk(client, actions, chunk_size=100) == (500, [])
        assert signed_count(signing_gateway) == 500
        response = client.search(
            index=f"{signing_gateway.index}~dedupe", body={"query": {"match": {"text": "rent"}}, "size": 3}
        )
        assert response["dedupe"]["unsigned"] == 0
        assert len(response["hits"]["hits"]) < 4


def events(count: int, index: str) -> Iterator[bytes]:
    """Return Logstash's requests for events that create documents, or update them when repeated."""
    for at in range(count):
        meta = {"_index": index, "_id": f"event-{at}", "retry_on_conflict": 1}
        yield orjson.dumps({"update": meta}) + b"\n"
        yield orjson.dumps({"doc": {"text": f"{LEASE} {at}", "@version": "1"}, "doc_as_upsert": True}) + b"\n"


def test_what_a_writer_like_logstash_sends_is_signed_and_a_document_that_comes_again_by_the_next_backfill(
    signing_gateway: Signed,
) -> None:
    path = "/_bulk?filter_path=errors,items.*.error,items.*.status"
    headers = {"content-encoding": "gzip", "content-type": "application/x-ndjson"}
    for count, status in ((20, 201), (5, 200)):
        count_before = signed_count(signing_gateway)
        response = signing_gateway.ask(
            "POST", path, gzip.compress(b"".join(events(count, signing_gateway.index))), **headers
        )
        assert [each["update"]["status"] for each in response["items"]] == [status] * count
        assert not response["errors"]
        assert signed_count(signing_gateway) - count_before == (count if status == 201 else -count)


RECIPES = [
    pytest.param(SERVERS[1].values[0], "ElasticsearchStore", "text", "text=text,meta=metadata", marks=SERVERS[1].marks),
    pytest.param(
        SERVERS[0].values[0], "OpenSearchDocumentStore", "content", "text=content,meta=", marks=SERVERS[0].marks
    ),
]
INFO = {
    "name": "one",
    "cluster_name": "tests",
    "version": {"number": "9.5.3", "build_flavor": "default"},
    "tagline": "You Know, for Search",
}
"""Answer of `GET /`; the test's server is put together of fewer modules than a whole one, and tells nothing."""


def root(request: Request) -> Answer | None:
    return Answer(200, INFO) if (request.method, request.path) == ("GET", "/") else None


@pytest.mark.parametrize(("start", "store", "text", "fields"), RECIPES, indirect=["start"])
def test_a_store_of_langchain_or_haystack_is_signed_and_searched_without_copies(
    start: Start, store: str, text: str, fields: str, tmp_path: Path
) -> None:
    python = interpreter("stores-2", STORES)
    signing_gateway = start({"mappings": {"properties": {text: {"type": "text"}}}}, fields=fields)
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (program,) = [each for each in programs if f" {store}(" in each]
    with between(signing_gateway.url, root) as front:
        address = f"http://127.0.0.1:{front.port}"
        program = program.replace("http://127.0.0.1:8042", address).replace('"notes', f'"{signing_gateway.index}')
        (tmp_path / "recipe.py").write_text(program)
        process = subprocess.run(
            [python, "recipe.py"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    assert process.returncode == 0, process.stderr[-3_000:]
    assert process.stdout.splitlines() == ["The tenant pays the rent."]
    assert signed_count(signing_gateway) == 3
