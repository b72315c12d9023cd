"""On OpenSearch a search pipeline groups every search that goes through it, without a change in any request."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plugin.answers import Json, take_parts
from servers.indices import ask

pytestmark = pytest.mark.server
QUERY: Json = {"query": {"match": {"text": "said"}}, "size": 10}
PIPELINE: Json = {
    "request_processors": [{"ibidem": {"dedupe": "indent", "level": "identical"}}],
    "response_processors": [{"ibidem": {}}],
}
RENAMED = [{"ibidem": {}}, {"rename_field": {"field": "title", "target_field": "headline"}}]


@pytest.fixture(autouse=True)
def pipeline(kind: str, cluster: str) -> Iterator[None]:
    """A pipeline that groups, in the place of the index's default one."""
    if kind != "opensearch":
        pytest.skip("search pipelines are OpenSearch's")
    ask(cluster, "PUT", "/_search/pipeline/groups", json.dumps(PIPELINE))
    with changed(cluster, "search.default_pipeline", "groups"):
        yield


@contextmanager
def changed(cluster: str, setting: str, value: object) -> Iterator[None]:
    """Give the index a setting for a while."""
    ask(cluster, "PUT", "/stories/_settings", json.dumps({f"index.{setting}": value}))
    try:
        yield
    finally:
        ask(cluster, "PUT", "/stories/_settings", json.dumps({f"index.{setting}": None}))


def search(cluster: str, body: Json, params: str = "") -> Json:
    """Search past any client."""
    answer: Json = ask(cluster, "POST", f"/stories/_search{params}", json.dumps(body))
    return answer


def test_a_search_that_asks_for_nothing_is_grouped_as_the_pipeline_says(cluster: str) -> None:
    grouped_answer = take_parts(search(cluster, QUERY))
    asked = QUERY | {"ext": {"ibidem": {"dedupe": "indent", "level": "identical"}}}
    assert grouped_answer == take_parts(search(cluster, asked, "?search_pipeline=_none"))
    assert grouped_answer["account"]["level"] == "identical"


def test_a_request_overrides_the_pipeline_value_by_value(cluster: str) -> None:
    account = take_parts(search(cluster, QUERY | {"ext": {"ibidem": {"window": 20}}}))["account"]
    assert (account["mode"], account["level"], account["window"]) == ("indent", "identical", 20)
    assert "ext" not in search(cluster, QUERY | {"ext": {"ibidem": {"dedupe": "off"}}})


def test_what_does_not_go_with_groups_is_answered_plainly_unless_it_asks_for_them(cluster: str) -> None:
    scrolled = search(cluster, QUERY, "?scroll=1m")
    assert "_dedupe" not in scrolled["hits"]["hits"][0]
    ask(cluster, "DELETE", "/_search/scroll", json.dumps({"scroll_id": scrolled["_scroll_id"]}))
    assert "ext" not in search(cluster, QUERY | {"size": 0})
    with pytest.raises(RuntimeError, match="scroll cannot be combined with dedupe"):
        search(cluster, QUERY | {"ext": {"ibidem": {"level": "near"}}}, "?scroll=1m")


@pytest.mark.parametrize(
    "part",
    [
        {"size": 10_500},
        {"from": 10_000},
        {"derived": {"double": {"type": "long", "script": {"source": "emit(1)"}}}},
        {"query": {"match": {"text": "said"}}, "collapse": {"field": "ibidem.content"}},
    ],
    ids=str,
)
def test_what_cannot_be_grouped_is_answered_plainly_where_the_search_does_not_ask(cluster: str, part: Json) -> None:
    with changed(cluster, "max_result_window", 20_000):
        plain = search(cluster, QUERY | part, "?search_pipeline=_none")
        assert search(cluster, QUERY | part) | {"took": 0} == plain | {"took": 0}
        with pytest.raises(RuntimeError, match='"status":400'):
            search(cluster, QUERY | part | {"ext": {"ibidem": {"level": "near"}}})


def test_a_pipeline_that_asks_for_what_an_index_lacks_leaves_its_searches_plain(cluster: str) -> None:
    steps = {"request_processors": [{"ibidem": {"dedupe": "indent", "window": 5_000}}], "response_processors": RENAMED}
    ask(cluster, "PUT", "/_search/pipeline/lacking", json.dumps(steps))
    with changed(cluster, "max_result_window", 1_000):
        answer = search(cluster, QUERY, "?search_pipeline=lacking")
    assert "ext" not in answer
    assert len(answer["hits"]["hits"]) == 10
    assert all("headline" in hit["_source"] and "_dedupe" not in hit for hit in answer["hits"]["hits"])


def test_pages_go_on_where_the_window_has_to_grow(cluster: str) -> None:
    body = {"ext": {"ibidem": {"window": 5}}}
    pages = [search(cluster, QUERY | body | {"from": start}) for start in range(0, 50, 10)]
    ids = [hit["_id"] for page in pages for hit in page["hits"]["hits"] if not hit["_dedupe"]["indent"]]
    assert len(ids) == len(set(ids)) == 50


def test_other_processors_of_the_pipeline_see_the_search_before_and_the_page_behind(cluster: str) -> None:
    dated = {"filter_query": {"query": {"exists": {"field": "ibidem.date"}}}}
    steps = {"request_processors": [dated, *PIPELINE["request_processors"]], "response_processors": RENAMED}
    ask(cluster, "PUT", "/_search/pipeline/both", json.dumps(steps))
    response = search(cluster, QUERY, "?search_pipeline=both")
    assert response["hits"]["total"]["value"] < search(cluster, QUERY)["hits"]["total"]["value"]
    assert all("headline" in hit["_source"] and "_dedupe" in hit for hit in response["hits"]["hits"])


def test_a_pipeline_that_says_something_wrong_is_refused_when_it_is_stored(cluster: str) -> None:
    pipeline = {"request_processors": [{"ibidem": {"dedupe": "hide"}}]}
    with pytest.raises(RuntimeError, match="allowed: off, collapse, indent"):
        ask(cluster, "PUT", "/_search/pipeline/wrong", json.dumps(pipeline))
