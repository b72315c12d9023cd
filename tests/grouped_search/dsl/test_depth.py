"""Rankings by neighbours or retrievers are asked for the whole window, and the account names what was raised."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.dsl.depth import deepen, grows, ranked_hits
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.plugin_request import does
from ibidem_dedupe.request import DedupeRequest, parse_request
from ibidem_ingest.errors import UsageError

INDENT = DedupeRequest("indent")
MATCH = {"match": {"text": "wheat"}}
STANDARD = {"standard": {"query": MATCH}}
KNN = {"field": "place", "query_vector": [1.0], "k": 10}

LEAVES = st.one_of(
    st.just(STANDARD),
    st.integers(1, 500).map(lambda k: {"knn": KNN | {"k": k}}),
)
WINDOWS = st.integers(1, 500).map(lambda size: {"query": {}, "window_size": size})
RESCORE = st.one_of(WINDOWS, st.just({"query": {}}), st.lists(WINDOWS, min_size=1, max_size=2))
DEPTHS = st.one_of(st.just({}), st.integers(1, 500).map(lambda size: {"rank_window_size": size}))


def rank_again(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Retrievers that rank what others find."""
    lists = st.lists(inner, max_size=3)
    weighted = st.lists(inner.map(lambda part: {"retriever": part, "weight": 2}), max_size=3)
    return st.one_of(
        st.builds(lambda part, depth: {"rrf": {"retrievers": part} | depth}, lists, DEPTHS),
        st.builds(lambda part, depth: {"linear": {"retrievers": part} | depth}, weighted, DEPTHS),
        st.builds(lambda part, size: {"rescorer": {"retriever": part, "rescore": size}}, inner, RESCORE),
        st.builds(lambda part, depth: {"text_similarity_reranker": {"retriever": part} | depth}, inner, DEPTHS),
    )


RETRIEVERS = rank_again(st.recursive(LEAVES, rank_again, max_leaves=6))


def numbers(part: Any, *names: str) -> list[int]:
    """Return the numbers of these names in a body."""
    children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = [part[name] for name in names if name in part] if isinstance(part, dict) else []
    return own + [number for each in children for number in numbers(each, *names)]


def bare(part: Any) -> Any:
    """Return a body without depths."""
    if isinstance(part, list):
        return [bare(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: bare(each) for name, each in part.items() if name not in ("k", "rank_window_size", "window_size")}


@given(RETRIEVERS, st.integers(1, 300))
def test_every_retriever_of_a_tree_ranks_the_window_and_nothing_else_of_it_changes(retriever: Any, window: int) -> None:
    body, raised = deepen({"retriever": retriever, "size": 10}, window)
    assert min(numbers(body, "k", "rank_window_size", "window_size")) >= window
    assert bare(body) == bare({"retriever": retriever, "size": 10})
    assert all(each["used"] >= max(window, each["asked"] or 0) for each in raised)
    assert deepen(body, window) == (body, [])
    assert ranked_hits(body["retriever"]) >= window


def test_what_is_inside_a_retriever_ranks_as_many_hits_as_what_is_around_it() -> None:
    rescorer = {"rescorer": {"rescore": [{"window_size": 300}, {"window_size": 20}], "retriever": {"rrf": {}}}}
    body, raised = deepen({"retriever": rescorer}, 100)
    assert numbers(body, "window_size", "rank_window_size") == [300, 100, 300]
    assert [each["part"] for each in raised] == [
        "retriever.rescorer.rescore[1].window_size",
        "retriever.rescorer.rrf.rank_window_size",
    ]
    assert ranked_hits(body["retriever"]) == 100


def test_candidates_are_no_fewer_than_neighbours() -> None:
    body, raised = deepen({"knn": [KNN | {"num_candidates": 50}, KNN | {"k": 200, "num_candidates": 300}]}, 100)
    assert [(each["k"], each["num_candidates"]) for each in body["knn"]] == [(100, 100), (200, 300)]
    assert [each["part"] for each in raised] == ["knn[0].k", "knn[0].num_candidates"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"knn": KNN}, "query.knn.k"),
        ({"knn": {"place": {"vector": [1.0], "k": 10}}}, "query.knn.place.k"),
        ({"neural": {"place": {"query_text": "wheat"}}}, "query.neural.place.k"),
        (
            {"hybrid": {"queries": [MATCH, {"knn": {"place": {"vector": [1.0], "k": 10}}}]}},
            "query.hybrid.queries[1].knn.place.k",
        ),
        ({"knn": {"field": {"vector": [1.0], "k": 2}}}, "query.knn.field.k"),
        ({"bool": {"must": [MATCH, {"knn": KNN}], "filter": MATCH}}, "query.bool.must[1].knn.k"),
        ({"bool": {"should": {"knn": KNN}}}, "query.bool.should.knn.k"),
        ({"nested": {"path": "parts", "query": {"knn": KNN}}}, "query.nested.query.knn.k"),
        ({"dis_max": {"queries": [{"bool": {"must": {"knn": KNN}}}]}}, "query.dis_max.queries[0].bool.must.knn.k"),
        ({"function_score": {"query": {"knn": KNN}, "boost": 2}}, "query.function_score.query.knn.k"),
        ({"bool": {"must": "wheat"}}, None),
        ({"match": {"knn": {"query": "wheat"}}}, None),
        ({"knn": {"place": {"vector": [1.0], "max_distance": 2}}}, None),
        ({"hybrid": {"queries": [MATCH]}}, None),
        (MATCH, None),
    ],
)
def test_a_query_for_neighbours_finds_the_window_unless_it_finds_all_within_a_distance(
    query: dict[str, Any], path: str | None
) -> None:
    body, raised = deepen({"query": query}, 100)
    assert [each["part"] for each in raised] == ([] if path is None else [path])
    assert numbers(body, "k") == ([] if path is None else [100])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"knn": KNN}, True),
        ({"knn": [KNN]}, True),
        ({"query": {"knn": KNN}}, True),
        ({"knn": [KNN, KNN]}, False),
        ({"knn": KNN, "query": MATCH}, False),
        ({"knn": KNN, "sort": ["date"]}, False),
        ({"query": {"hybrid": {"queries": [{"knn": KNN}]}}}, False),
        ({"query": MATCH}, False),
    ],
)
def test_only_a_search_for_neighbours_alone_finds_further_ones_behind_the_first(
    body: dict[str, Any], expected: bool
) -> None:
    assert grows(read_search("news", body, {}, INDENT).ranking) == expected


def test_a_search_that_finds_more_names_what_was_asked_first_and_used_last() -> None:
    search = read_search("news", {"knn": KNN}, {}, INDENT).deepen(700)
    assert search.ranking["knn"]["k"] == search.display["knn"]["k"] == 700
    assert search.raised == [{"part": "knn.k", "asked": 10, "used": 700, "limit": 10_000}]
    assert search.deepen(600) == search


def test_one_depth_holds_a_page_that_is_longer_than_the_window() -> None:
    search = read_search("news", {"retriever": {"rrf": {"retrievers": [STANDARD]}}, "size": 750}, {}, INDENT)
    assert ranked_hits(search.ranking["retriever"]) == 750


@pytest.mark.parametrize(
    ("retriever", "body"),
    [
        (STANDARD, {"query": MATCH}),
        (
            {"standard": {"query": MATCH, "filter": [{"term": {"source": "AP"}}], "_name": "text"}},
            {"query": {"bool": {"must": [MATCH], "filter": [{"term": {"source": "AP"}}]}}},
        ),
        ({"standard": {"query": MATCH, "sort": ["date"]}}, {"query": MATCH, "sort": ["date"]}),
        ({"knn": KNN | {"min_score": 0.5}}, {"knn": KNN, "min_score": 0.5}),
    ],
)
def test_a_retriever_that_ranks_by_itself_is_read_as_the_search_in_other_words(
    retriever: dict[str, Any], body: dict[str, Any]
) -> None:
    search = read_search("news", {"retriever": retriever}, {}, INDENT)
    assert search == read_search("news", body, {}, INDENT)


def test_neighbours_that_are_a_condition_stay_as_many_as_they_are() -> None:
    query = {"bool": {"must": [MATCH], "filter": [{"knn": KNN}], "must_not": {"knn": KNN}}}
    assert deepen({"query": query}, 100) == ({"query": query}, [])


def test_a_single_part_is_named_alike_in_a_list_and_by_itself() -> None:
    assert deepen({"knn": [KNN]}, 100)[1] == deepen({"knn": KNN}, 100)[1]
    windows: list[dict[str, Any]] = [{"query": {}, "window_size": 20}]
    retrievers = [{"rescorer": {"retriever": STANDARD, "rescore": each}} for each in (windows, windows[0])]
    in_list, by_itself = (deepen({"retriever": each}, 100)[1] for each in retrievers)
    assert in_list == by_itself


def test_each_of_several_parts_that_were_raised_has_a_name_of_its_own() -> None:
    parts = [{"knn": KNN}, {"standard": {"query": {"bool": {"should": [{"knn": KNN}]}}}}, {"retriever": {"knn": KNN}}]
    _, raised = deepen({"retriever": {"rrf": {"retrievers": parts, "rank_window_size": 100}}}, 100)
    assert [each["part"] for each in raised] == [
        "retriever.rrf.retrievers[0].knn.k",
        "retriever.rrf.retrievers[1].standard.query.bool.should[0].knn.k",
        "retriever.rrf.retrievers[2].knn.k",
    ]


def test_the_plugin_is_asked_with_a_retriever_that_is_deep_enough() -> None:
    search = read_search("news", {"retriever": {"rrf": {"retrievers": [STANDARD, {"knn": KNN}]}}}, {}, INDENT)
    assert does(search)
    assert ranked_hits(search.ranking["retriever"]) == INDENT.window
    assert [each["part"] for each in search.raised] == [
        "retriever.rrf.rank_window_size",
        "retriever.rrf.retrievers[1].knn.k",
    ]


def nest(levels: int) -> dict[str, Any]:
    """Return a retriever inside so many others."""
    retriever: dict[str, Any] = STANDARD
    for _ in range(levels):
        retriever = {"rescorer": {"retriever": retriever, "rescore": {"query": {}}}}
    return retriever


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"retriever": STANDARD, "query": MATCH}, "query next to retriever: the engine ranks by one of them; put it"),
        (
            {"retriever": {"rff": {}}},
            "the retriever 'rff' cannot be combined with dedupe.*use one of knn, linear, pinned",
        ),
        ({"retriever": {"diversify": {}}}, "the retriever 'diversify' cannot be combined with dedupe"),
        ({"retriever": {}}, r"retriever=\{\} is not a retriever; write one kind"),
        ({"retriever": "rrf"}, "retriever='rrf' is not a retriever; write one kind"),
        ({"retriever": {"rrf": []}}, r"retriever.rrf=\[\] is not a JSON object"),
        ({"retriever": {"rrf": {"retrievers": "all"}}}, "retriever.rrf.retrievers='all' is not a list"),
        ({"retriever": {"rescorer": {"rescore": {}}}}, "retriever.rescorer=None is not a retriever"),
        ({"retriever": {"rescorer": {}}}, "retriever.rescorer.rescore=None is not a rescorer; write one"),
        ({"retriever": {"rescorer": {"rescore": {"window_size": 0}}}}, "rescore.window_size=0 is not valid"),
        (
            {"retriever": {"rescorer": {"retriever": STANDARD, "rescore": []}}},
            r"rescorer.rescore=\[\] is not a rescorer",
        ),
        (
            {"retriever": {"standard": {"query": MATCH, "boost": 2}}},
            "retriever.standard.boost is not known; allowed: _name, collapse, filter",
        ),
        ({"knn": [KNN, "x"]}, r"knn\[1\]='x' is not a search for nearest neighbours; write a JSON object with field"),
        ({"knn": "x"}, "knn='x' is not a search for nearest neighbours; write a JSON object, or a list of them"),
        ({"retriever": nest(20)}, "retrievers are nested more than 10 deep; put them side by side"),
        ({"retriever": nest(99)}, "nested more than"),
        ({"knn": KNN | {"k": 1_000_000}}, "knn.k=1000000 is not valid; allowed: an integer from 1 to 10,000"),
        ({"knn": KNN | {"num_candidates": "many"}}, "knn.num_candidates='many' is not valid"),
        ({"retriever": {"rrf": {"rank_window_size": 0}}}, "retriever.rrf.rank_window_size=0 is not valid"),
        (
            {"retriever": {"rrf": {"retrievers": [{"standard": {"collapse": {"field": "isbn"}}}]}}},
            r"retriever.rrf.retrievers\[0\].standard.collapse cannot be combined with dedupe",
        ),
        ({"retriever": {"standard": {"terminate_after": 5}}}, "terminate_after cannot be combined with dedupe"),
    ],
)
def test_what_cannot_be_grouped_is_named_with_what_would_be_right(body: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_search("news", body, {}, INDENT)


def test_stored_groups_go_with_retrievers_as_with_other_searches() -> None:
    stored = parse_request({"dedupe": "indent", "dedupe_by": "stored"})
    assert read_search("news", {"retriever": STANDARD}, {}, stored).ranking == {"query": MATCH}
    assert (
        ranked_hits(read_search("news", {"retriever": {"rrf": {}}}, {}, stored).ranking["retriever"]) == stored.window
    )
