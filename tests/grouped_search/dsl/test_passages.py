"""Overlapping passages are grouped by wrapped clients as `ibidem.search` groups them, on both engines."""

from collections.abc import Iterator
from typing import Any

import pytest

import ibidem
from ibidem_engines.engine import Engine
from servers.indices import remove_indices
from support.passages import cut_lease
from support.wrapped_clients import INDEX, fill_index

from .test_same_as_api import take_parts

PASSAGES = f"{INDEX}-passages"
FOREIGN = f"{INDEX}-foreign"


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


def test_the_text_may_be_in_a_field_of_another_name(wrapped_client: Any, address: str) -> None:
    fill_index(f"{address}/?fields=text%3Dbody,meta%3D", FOREIGN, cut_lease()).close()
    body = {"query": {"match_all": {}}, "size": 5, "sort": [{"date": "desc"}]}
    try:
        plain = wrapped_client.search(index=FOREIGN, body=body, dedupe="collapse", dedupe_document="document")
        named = wrapped_client.search(index=FOREIGN, body=body, dedupe="collapse", dedupe_document="document:body")
        assert plain["dedupe"]["without_document"] == 5
        assert named["dedupe"]["without_document"] == 0
        sides = [
            each["_dedupe"]["side"]
            for hit in named["hits"]["hits"]
            for each in hit["inner_hits"]["duplicates"]["hits"]["hits"]
            if "side" in each["_dedupe"]
        ]
        assert sides == ["before"]
    finally:
        remove_indices(address, FOREIGN)
