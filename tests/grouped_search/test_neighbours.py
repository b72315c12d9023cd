"""Passages of one document that overlap are parts of one text: the best is shown, and its neighbours below it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.passage import MAX_HOLDERS, Passage, overlaps
from ibidem_dedupe.request import parse_request
from ibidem_dedupe.word_runs import RUN
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from support.passages import cut_lease, passage


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    opened = filled(tmp_path_factory.mktemp("passages"))
    yield opened
    opened.close()


def filled(folder: Path) -> Engine:
    engine = open_engine(f"sqlite:///{folder / 'index.sqlite'}", "passages")
    engine.create()
    engine.write([*cut_lease(), passage("nameless", "rent of a house", "", "2020-01-01")])
    return engine


def answer(engine: Engine, page: int = 1, size: int = 10, overrides: Any = (), **options: object) -> dict[str, Any]:
    named = {"document": "meta.document", **options}
    request = parse_request({"dedupe": "indent", **{f"dedupe_{name}": each for name, each in named.items()}})
    return search_index(engine, parse_query("rent"), request, page, size, overrides=overrides)


def groups(response: dict[str, Any]) -> list[list[str]]:
    found: list[list[str]] = []
    for hit in response["hits"]["hits"]:
        if hit["_dedupe"]["indent"]:
            found[-1].append(hit["_id"])
        else:
            found.append([hit["_id"]])
    return [[lead, *sorted(duplicates)] for lead, *duplicates in found]


def marks(response: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {hit["_id"]: hit["_dedupe"] for hit in response["hits"]["hits"]}


@pytest.mark.parametrize(
    ("keep", "lead"), [("rank", "best"), ("latest", "copy of best"), ("earliest", "best"), ("longest", "best")]
)
def test_the_lead_is_chosen_among_the_duplicates_and_a_neighbour_never_leads(
    engine: Engine, keep: str, lead: str
) -> None:
    response = answer(engine, keep=keep)
    assert groups(response)[0][0] == lead
    assert marks(response)["next"]["of"] == "best"


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
