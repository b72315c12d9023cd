"""A wrapped client finds parts of books, passages and many copies as ibidem itself does."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

import ibidem
from grouped_search.dsl.test_search import SAYING
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices
from support.books import book
from support.general_tables import general_tables
from support.passages import cut_lease
from support.wrapped_clients import INDEX, fill_index

from .test_same_as_api import take_parts

PARTIAL_INDEX = "clients-books"
TEXTS = {"whole": book(*range(20)), "part": book(*range(5, 12)), "other": book(*range(60, 70))}


@pytest.fixture(scope="module")
def shelf(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of three books."""
    tables = general_tables()
    books = [Document(name, f"said {text}", language="xx") for name, text in TEXTS.items()]
    pairs = zip(books, sign(books, tables), strict=True)
    engine = fill_index(
        address,
        PARTIAL_INDEX,
        [Record(each, signatures, 1, each.id, pack(each, signatures)) for each, signatures in pairs],
    )
    yield engine
    engine.close()
    remove_indices(address, PARTIAL_INDEX)


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("scope", ["window", "matches"])
def test_a_search_at_partial_says_which_pages_are_shared(wrapped_client: Any, scope: str) -> None:
    body = {"query": {"match": {"text": "said"}}, "sort": [{"_doc": "asc"}]}
    options = {"dedupe": "indent", "dedupe_level": "partial", "dedupe_explain": True, "dedupe_scope": scope}
    hits = wrapped_client.search(index=PARTIAL_INDEX, body=body, **options)["hits"]["hits"]
    (mark,) = (hit["_dedupe"] for hit in hits if hit["_dedupe"]["indent"])
    assert (mark["level"], mark["of"], mark["why"]["relation"]) == ("partial", "whole", "contiguous_subset")
    assert mark["why"]["other"] == {"from": 6, "to": 12, "of": 20}


PASSAGES = f"{INDEX}-passages"


@pytest.fixture(scope="module")
def passages(address: str) -> Iterator[Engine]:
    opened = fill_index(address, PASSAGES, cut_lease())
    yield opened
    opened.close()
    remove_indices(address, PASSAGES)


@pytest.mark.parametrize("mode", ["indent", "collapse"])
@pytest.mark.parametrize("keep", ["rank", "latest", "longest"])
@pytest.mark.parametrize("window", [2, 500])
def test_a_client_groups_passages_as_the_library_does(
    wrapped_client: Any, passages: Engine, mode: str, keep: str, window: int
) -> None:
    options = {
        "dedupe": mode,
        "dedupe_keep": keep,
        "dedupe_window": window,
        "dedupe_document": "meta.document",
        "dedupe_explain": True,
    }
    response = ibidem.search_index(passages, ibidem.parse_query("rent"), ibidem.parse_request(options))
    body = {"query": {"match": {"text": "rent"}}, "_source": ["meta"]}
    found = wrapped_client.search(index=PASSAGES, body=body, **options)
    assert [(hit["_id"], hit["_dedupe"]) for hit in found["hits"]["hits"]] == [
        (hit["_id"], hit["_dedupe"]) for hit in response["hits"]["hits"]
    ]
    assert take_parts(found)["account"] == take_parts(response)["account"]
    assert found["dedupe"]["by"] == "client"
    assert set(found["hits"]["hits"][0]["_source"]) == {"meta"}


COPY_CAP_INDEX = f"surplus-{os.getpid()}"
COPIES = 700
OPTIONS = {"dedupe": "indent", "dedupe_window": 200}


@pytest.fixture(scope="module")
def copied(address: str, signed_records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Stories, and hundreds of copies of a short text, so that they rank first."""
    copies = [Document(f"copy{at:03}", f"{'said ' * 50} so") for at in range(COPIES)]
    (signatures,) = sign(copies[:1], Tables(tmp_path_factory.mktemp("none")))
    records = [Record(each, signatures, 1, each.id, pack(each, signatures)) for each in copies]
    engine = fill_index(address, COPY_CAP_INDEX, [*signed_records, *records])
    yield engine
    engine.close()
    remove_indices(address, COPY_CAP_INDEX)


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
