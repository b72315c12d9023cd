"""The plugin is asked for what it decides as the layer does, and for nothing else."""

import pytest

from ibidem.grouped_search.backend import decides
from ibidem.grouped_search.dsl.backend import has_more
from ibidem.grouped_search.dsl.request import read_search
from ibidem_dedupe.request import DedupeRequest, parse_request


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"dedupe": "indent", "dedupe_by": "window"}, True),
        ({"dedupe": "collapse", "dedupe_by": "window", "dedupe_similarity": "40"}, True),
        ({"dedupe": "off"}, False),
        ({"dedupe": "indent", "dedupe_scope": "matches"}, False),
        ({"dedupe": "indent", "dedupe_by": "stored"}, False),
        ({"dedupe": "indent", "dedupe_by": "window", "dedupe_keep": "latest"}, True),
        ({"dedupe": "indent", "dedupe_keep": "current"}, False),
    ],
)
def test_a_window_is_left_to_the_plugin_and_wider_scopes_are_not(parameters: dict[str, str], expected: bool) -> None:
    assert decides(parse_request(parameters)) == expected


@pytest.mark.parametrize(
    ("body", "on_page", "in_window", "expected"),
    [
        ({"knn": {"field": "place", "query_vector": [1.0]}}, 3, 500, True),
        ({"knn": {"field": "place", "query_vector": [1.0]}}, 10, 500, False),
        ({"knn": {"field": "place", "query_vector": [1.0]}}, 3, 40, False),
        ({"query": {"match": {"text": "wheat"}}}, 3, 500, False),
    ],
)
def test_a_page_that_further_neighbours_may_fill_is_made_by_the_layer(
    body: dict[str, object], on_page: int, in_window: int, expected: bool
) -> None:
    search = read_search("news", body, {}, DedupeRequest("indent"))
    account = {"groups": {"on_page": on_page}, "documents": {"in_window": in_window, "beyond_window": 0}}
    assert has_more(account, search) == expected
