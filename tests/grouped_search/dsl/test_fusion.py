"""Reciprocal rank fusion in its earlier form is grouped as the retriever that the engine reads it as."""

from typing import Any

import pytest

from ibidem.grouped_search.dsl.request import read_search
from ibidem_dedupe.request import DedupeRequest
from ibidem_ingest.errors import UsageError

INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}
SAID = {"match": {"text": "said"}}
KNN = {"field": "place", "query_vector": [1.0], "k": 10}
STANDARD = {"standard": {"query": MATCH}}


@pytest.mark.parametrize(
    ("former", "retriever"),
    [
        (
            {"query": MATCH, "knn": KNN | {"boost": 2}, "rank": {"rrf": {"window_size": 50, "rank_constant": 20}}},
            {"retrievers": [STANDARD, {"knn": KNN}], "rank_window_size": 50, "rank_constant": 20},
        ),
        (
            {"sub_searches": [{"query": MATCH}, {"query": SAID}], "rank": {"rrf": {"rank_window_size": 600}}},
            {"retrievers": [STANDARD, {"standard": {"query": SAID}}], "rank_window_size": 600},
        ),
        ({"knn": [KNN, KNN], "rank": {"rrf": {}}}, {"retrievers": [{"knn": KNN}, {"knn": KNN}]}),
    ],
)
def test_a_fusion_is_read_as_the_retriever_of_its_searches(former: dict[str, Any], retriever: dict[str, Any]) -> None:
    search = read_search("news", former | {"size": 5}, {}, INDENT)
    assert search == read_search("news", {"retriever": {"rrf": retriever}, "size": 5}, {}, INDENT)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"sub_searches": [{"query": MATCH}]},
            r"sub_searches cannot be combined with dedupe: only rank: {rrf: .*; write retr",
        ),
        ({"query": MATCH, "rank": {"learned": {}}}, "rank cannot be combined with dedupe: only rank: {rrf: "),
        ({"query": MATCH, "rank": "rrf"}, "rank cannot be combined with dedupe"),
        ({"query": MATCH, "rank": {"rrf": {"k": 1}}}, "rank.rrf.k is not known; allowed: rank_constant, rank_window"),
        ({"query": MATCH, "rank": {"rrf": {}}}, "rank.rrf has fewer than two searches to fuse; give at least two"),
        ({"rank": {"rrf": {}}}, "rank.rrf has fewer than two searches to fuse; give at least two searches as query"),
        (
            {"query": MATCH, "sub_searches": [{"query": SAID}], "rank": {"rrf": {}}},
            "query next to sub_searches is not valid; write it as one of sub_searches",
        ),
        (
            {"sub_searches": ["x", {"query": MATCH}], "rank": {"rrf": {}}},
            "sub_searches='x' is not a search; write a JSON",
        ),
        ({"sub_searches": [{"knn": KNN}], "rank": {"rrf": {}}}, r"sub_searches=\{.* is not a search; write a list of"),
        ({"retriever": STANDARD, "rank": {"rrf": {}}}, "rank next to retriever: the engine ranks by one of them"),
    ],
)
def test_what_is_no_fusion_is_named_with_what_would_be_right(body: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, {}, INDENT)
