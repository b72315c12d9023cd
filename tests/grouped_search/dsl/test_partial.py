"""A wrapped client finds relations of parts of books as ibidem itself does."""

from collections.abc import Iterator
from typing import Any

import pytest

from ibidem_engines.engine import Engine, Record
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices
from support.books import book
from support.general_tables import general_tables
from support.wrapped_clients import fill_index

INDEX = "clients-books"
TEXTS = {"whole": book(*range(20)), "part": book(*range(5, 12)), "other": book(*range(60, 70))}


@pytest.fixture(scope="module")
def shelf(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of three books."""
    tables = general_tables()
    books = [Document(name, f"said {text}", language="xx") for name, text in TEXTS.items()]
    pairs = zip(books, sign(books, tables), strict=True)
    engine = fill_index(
        address, INDEX, [Record(each, signatures, 1, each.id, pack(each, signatures)) for each, signatures in pairs]
    )
    yield engine
    engine.close()
    remove_indices(address, INDEX)


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("scope", ["window", "matches"])
def test_a_search_at_partial_says_which_pages_are_shared(wrapped_client: Any, scope: str) -> None:
    body = {"query": {"match": {"text": "said"}}, "sort": [{"_doc": "asc"}]}
    options = {"dedupe": "indent", "dedupe_level": "partial", "dedupe_explain": True, "dedupe_scope": scope}
    hits = wrapped_client.search(index=INDEX, body=body, **options)["hits"]["hits"]
    (mark,) = (hit["_dedupe"] for hit in hits if hit["_dedupe"]["indent"])
    assert (mark["level"], mark["of"], mark["why"]["relation"]) == ("partial", "whole", "contiguous_subset")
    assert mark["why"]["other"] == {"from": 6, "to": 12, "of": 20}
