"""A text of which very many copies match, searched through wrapped clients and by ibidem itself."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

import ibidem
from grouped_search.dsl.test_same_as_api import take_parts
from grouped_search.dsl.test_search import SAYING
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.request import parse_request
from ibidem_engines.cluster import dsl
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices
from support.wrapped_clients import fill_index

INDEX = f"surplus-{os.getpid()}"
COPIES = 700
OPTIONS = {"dedupe": "indent", "dedupe_window": 200}


@pytest.fixture(scope="module")
def copied(address: str, signed_records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Stories, and hundreds of copies of a short text, so that they rank first."""
    copies = [Document(f"copy{at:03}", f"{'said ' * 50} so") for at in range(COPIES)]
    (signatures,) = sign(copies[:1], Tables(tmp_path_factory.mktemp("none")))
    records = [Record(each, signatures, 1, each.id, pack(each, signatures)) for each in copies]
    engine = fill_index(address, INDEX, [*signed_records, *records])
    yield engine
    engine.close()
    remove_indices(address, INDEX)


def search_here(engine: Engine, page: int = 1, **options: object) -> dict[str, Any]:
    return search_index(engine, parse_query("said"), parse_request(OPTIONS | options), page)


def test_the_page_is_filled_and_every_copy_that_was_not_read_is_counted(copied: Engine) -> None:
    account = search_here(copied)["dedupe"]
    (only_count,) = account["only_counted"]
    assert account["groups"]["on_page"] == 10
    assert account["documents"]["in_window"] == 200 + SAYING
    assert only_count["documents"] == COPIES - 200
    response = search_here(copied, dedupe_window=2_000)["dedupe"]
    assert response["documents"]["matched"] == account["documents"]["matched"]
    assert response["only_counted"] == []


def test_all_groups_are_there_as_where_every_copy_is_read(copied: Engine) -> None:
    response = search_index(copied, parse_query("said"), parse_request(OPTIONS | {"dedupe_window": 2_000}), 1, 1_000)
    responses = [search_here(copied, page) for page in range(1, response["dedupe"]["groups"]["in_window"] // 10 + 2)]
    leads = [hit["_id"] for each in responses for hit in each["hits"]["hits"] if not hit["_dedupe"]["indent"]]
    assert leads == [hit["_id"] for hit in response["hits"]["hits"] if not hit["_dedupe"]["indent"]]


def test_a_wrapped_client_counts_the_same(copied: Engine, plain_client: Any) -> None:
    query = dsl.clause(parse_query("said"), copied.fields)  # type: ignore[attr-defined] # both engines have it
    response_of_client = ibidem.wrap(plain_client).search(index=INDEX, body={"query": query}, **OPTIONS)
    expected, answer = take_parts(search_here(copied)), take_parts(response_of_client)
    assert answer["account"] == expected["account"]
    assert [hit[1] for hit in answer["hits"]] == [hit[1] for hit in expected["hits"]]
    assert response_of_client["hits"]["hits"][0]["_dedupe"]["only_counted"] > 0


def test_a_search_sorted_by_a_field_leaves_out_the_same(copied: Engine, plain_client: Any) -> None:
    body = {"query": {"match": {"text": "said"}}, "sort": [{"ibidem.id": "asc"}], "size": 10, "track_scores": True}
    response = ibidem.wrap(plain_client).search(
        index=INDEX, body=body, dedupe="collapse", dedupe_window=200, dedupe_keep="rank"
    )
    assert response["dedupe"]["groups"]["on_page"] == 10
    assert all(hit["_score"] for hit in response["hits"]["hits"])
    assert response["dedupe"]["documents"]["matched"] == response["hits"]["total"]["value"]
