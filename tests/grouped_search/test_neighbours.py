"""Passages of one document that overlap are parts of one text: the best is shown, and its neighbours below it."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.passage import MAX_HOLDERS, Passage, overlaps
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.relations import RUN
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from support.passages import cut_lease, passage


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    opened = open_engine(f"sqlite:///{tmp_path_factory.mktemp('passages')}/index.sqlite", "passages")
    opened.create()
    opened.write([*cut_lease(), passage("nameless", "rent of a house", "", "2020-01-01")])
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("keep", "lead"), [("rank", "best"), ("latest", "copy of best"), ("earliest", "best"), ("longest", "best")]
)
def test_the_lead_is_chosen_among_the_duplicates_and_a_neighbour_never_leads(
    engine: Engine, keep: str, lead: str
) -> None:
    request = parse_request({"dedupe": "indent", "dedupe_document": "meta.document", "dedupe_keep": keep})
    hits = search_index(engine, parse_query("rent"), request, overrides=())["hits"]["hits"]
    assert hits[0]["_id"] == lead
    assert {hit["_id"]: hit["_dedupe"] for hit in hits}["next"]["of"] == "best"


def test_stored_groups_hold_no_neighbours_and_say_so() -> None:
    with pytest.raises(UsageError, match="dedupe_document cannot be combined with dedupe_by=stored"):
        parse_request({"dedupe": "indent", "dedupe_by": "stored", "dedupe_document": "meta.document"})


def passages(*texts: str) -> list[Passage]:
    return [Passage(text, "lease") for text in texts]


@given(st.integers(12, 60), st.integers(1, 12), st.integers(1, 11))
def test_every_pair_of_a_sliding_window_overlaps_by_what_was_cut_twice(length: int, step: int, extra: int) -> None:
    words, size = [f"w{number}" for number in range(length)], step + extra
    edges = [(start, min(start + size, length)) for start in range(0, length, step)]
    found = overlaps(passages(*(" ".join(words[start:end]) for start, end in edges)))
    for a, (a_start, a_end) in enumerate(edges):
        for b, (b_start, b_end) in enumerate(edges):
            shared = min(a_end, b_end) - max(a_start, b_start)
            expected = a != b and shared >= RUN and (a_start, a_end) != (b_start, b_end)
            assert ((a, b) in found) == expected
            if expected:
                assert found[a, b].words == shared


WORDS = st.lists(st.sampled_from("ab"), min_size=RUN, max_size=14)


@given(WORDS, WORDS)
def test_of_several_overlaps_of_two_passages_the_longest_counts(one: list[str], other: list[str]) -> None:
    found = overlaps(passages(" ".join(one), " ".join(other)))
    longest = max(
        (
            size
            for a, b in ((one, other), (other, one))
            for start in range(len(a))
            if (size := min(len(a) - start, len(b))) >= RUN and a[start : start + size] == b[:size]
        ),
        default=0,
    )
    if one == other or not longest:
        assert not found
    else:
        assert [found[pair].words for pair in ((0, 1), (1, 0))] == [longest, longest]


def test_a_heading_that_many_passages_begin_with_is_no_overlap_from_then_on() -> None:
    heading = "lease of the house in"
    starts = [f"{heading} {number}" for number in range(MAX_HOLDERS + 2)]
    assert set(overlaps(passages(*starts, f"x {heading}"))) == set()
    found = overlaps(passages(f"x {heading}", *starts))
    assert {later for _, later in found} == set(range(MAX_HOLDERS + 1))
