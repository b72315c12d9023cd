"""A wrapped client finds parts of books, passages and many copies as ibidem itself does."""

from collections.abc import Iterator
from typing import Any

import pytest

import ibidem
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices
from support.books import book
from support.general_tables import general_tables
from support.passages import cut_lease
from support.signed_records import packed_records
from support.wrapped_clients import INDEX, fill_index

from .test_same_as_api import take_parts

PARTIAL_INDEX = "clients-books"
TEXTS = {"whole": book(*range(20)), "part": book(*range(5, 12)), "other": book(*range(60, 70))}


@pytest.fixture(scope="module")
def shelf(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of three books."""
    books = [Document(name, f"said {text}", language="xx") for name, text in TEXTS.items()]
    engine = fill_index(address, PARTIAL_INDEX, packed_records(books, sign(books, general_tables())))
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
    assert found["dedupe"]["grouper"] == "client"
    assert set(found["hits"]["hits"][0]["_source"]) == {"meta"}
