"""Pages of a window that grows, and of many copies of a text."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupe.test_leader_clustering_laws import late, listed
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.engine import Engine
from support.fake_engine import PAGE, FakeEngine
from support.windows import SampleWindow, example_settings, make_window


def page(engine: Engine, number: int = 1, size: int = 2, overrides: Any = None, **options: object) -> dict[str, Any]:
    parameters = {"dedupe": "indent"} | {f"dedupe_{name}": each for name, each in options.items()}
    return search_index(engine, PAGE, parse_request(parameters), number, size, overrides=overrides)


def pages(engine: Engine, size: int, **options: object) -> list[dict[str, Any]]:
    responses: list[dict[str, Any]] = []
    while not responses or responses[-1]["hits"]["hits"]:
        responses.append(page(engine, len(responses) + 1, size, **options))
    return responses


def with_copies(seed: int, size: int, copies: int) -> SampleWindow:
    """A window of some texts and many copies of two of them, in any order."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    values = list(make_window(seed, size).values)
    values += [each for each in rng.sample(values, min(2, len(values))) for _ in range(copies)]
    rng.shuffle(values)
    return SampleWindow(values)


many_copies = st.builds(with_copies, st.integers(0, 2**32), st.integers(1, 25), st.integers(0, 25))


@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]), st.sampled_from([2, 5]))
def test_all_pages_and_what_came_late_are_all_that_match(window: SampleWindow, step: int, size: int) -> None:
    responses = pages(FakeEngine(window), size, window=step)
    names = [name for response in responses for name in [*listed(response), *late(response)]]
    assert len(names) == len(set(names))
    assert len(names) == len(window.hits)


@pytest.mark.slow
@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]), st.sampled_from([2, 5]))
def test_a_page_shows_the_same_whether_or_not_others_were_asked_for(window: SampleWindow, step: int, size: int) -> None:
    pages_once = pages(FakeEngine(window), size, window=step)
    pages_again = [
        page(FakeEngine(window), number + 1, size, window=step) for number in reversed(range(len(pages_once)))
    ]
    assert [each["hits"] for each in reversed(pages_again)] == [each["hits"] for each in pages_once]


@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]))
def test_the_account_adds_up(window: SampleWindow, step: int) -> None:
    for response in pages(FakeEngine(window), 3, window=step):
        account = response["dedupe"]
        documents = account["documents"]
        assert documents["matched"] == documents["in_window"] + documents["beyond_window"] == len(window.hits)
        assert documents["in_window"] == account["groups"]["in_window"] + account["duplicates"]
        assert account["groups"]["exact"] == (not documents["beyond_window"])
