"""`filter_path` cuts an answer down as OpenSearch and Elasticsearch do."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.dsl.filter_path import read_filter
from servers.indices import ask
from support.examples import examples
from support.wrapped_clients import INDEX

SECOND = {"_id": "b", "_dedupe": {"indent": 1}}
ANSWER = {
    "took": 5,
    "hits": {
        "total": {"value": 2, "relation": "eq"},
        "max_score": None,
        "hits": [
            {"_id": "a", "_source": {"title": "T", "list": [1, 2], "deep": [{"x": 1}, {"y": 2}], "a.b": 3, "none": []}},
            SECOND,
        ],
    },
}


def cut(filter_path: str) -> Any:
    return read_filter({"filter_path": filter_path}).apply(ANSWER)


@pytest.mark.parametrize(
    ("filter_path", "answer"),
    [
        ("nothing", {}),
        ("took.x", {}),
        ("hits.hits._id", {"hits": {"hits": [{"_id": "a"}, {"_id": "b"}]}}),
        ("hits.hits._source.deep.x", {"hits": {"hits": [{"_source": {"deep": [{"x": 1}]}}]}}),
        ("**.value", {"hits": {"total": {"value": 2}}}),
        ("**.took", {}),
        (" t*k ,hits.max_score", {"took": 5, "hits": {"max_score": None}}),
        (r"hits.hits._source.a\.b", {"hits": {"hits": [{"_source": {"a.b": 3}}]}}),
        ("hits.hits._source.none", {"hits": {"hits": [{"_source": {"none": []}}]}}),
        (
            "hits.*,-**._source,-hits.t*",
            {"hits": {"max_score": None, "hits": [{"_id": "a"}, ANSWER["hits"]["hits"][1]]}},
        ),  # type: ignore[index] # our own answer
        ("-hits", {"took": 5}),
        ("-hits.total.*,-hits.hits", {"took": 5, "hits": {"max_score": None}}),
        ("-*", {}),
        (",-", ANSWER),
        ("", ANSWER),
    ],
)
def test_an_answer_is_cut_down_to_what_is_asked_for(filter_path: str, answer: Any) -> None:
    assert cut(filter_path) == answer


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
json_objects = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)
filter_paths = st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=3).map(".".join)


def leaves(part: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Scalars of a value, each with the names above it, in their order."""
    if isinstance(part, dict):
        return [leaf for name, each in part.items() for leaf in leaves(each, (*path, name))]
    if isinstance(part, list):
        return [leaf for each in part for leaf in leaves(each, path)]
    return [(path, json.dumps(part))]


@settings(max_examples=examples(200))
@given(json_objects, filter_paths)
def test_what_stays_and_what_is_taken_out_are_the_whole(value: dict[str, Any], filter_path: str) -> None:
    kept = leaves(read_filter({"filter_path": filter_path}).apply(value))
    dropped = leaves(read_filter({"filter_path": f"-{filter_path}"}).apply(value))
    assert sorted(kept + dropped) == sorted(leaves(value))


PATHS = (
    "took",
    "hits.hits._source",
    "hits.hits._source.title,hits.total.v*",
    "**._id,-hits.hits._source",
    "hits.**.title,_shards.s*",
    "-hits.hits._source.*,-took",
    "-hits.hits._source.title,-**.relation,-took",
    "hits.hits.*.*",
    "-*.total,-took",
)


@pytest.mark.usefixtures("library")
def test_the_engine_itself_cuts_its_answers_in_the_same_way(address: str) -> None:
    path = f"/{INDEX}/_search?size=3&preference=one"
    whole = ask(address, "GET", path)
    for filter_path in PATHS:
        filtered = ask(address, "GET", f"{path}&filter_path={quote(filter_path)}")
        expected = read_filter({"filter_path": filter_path}).apply(whole)
        if "took" in filtered:
            filtered["took"] = expected["took"]
        assert filtered == expected, filter_path
