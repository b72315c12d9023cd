"""Copy cap: copies of one text that are counted and not read."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupe.test_leader_clustering_laws import groups, late, listed
from ibidem.grouped_search import page as page_module
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Engine
from support.fake_engine import PAGE, FakeEngine
from support.windows import SampleWindow, example_settings, make_window, signatures, value

COPIED = signatures(1)
FEW = 4
NONE = 1_000_000


def page(engine: Engine, number: int = 1, size: int = 2, overrides: Any = None, **options: object) -> dict[str, Any]:
    parameters = {"dedupe": "indent"} | {f"dedupe_{name}": each for name, each in options.items()}
    return search_index(engine, PAGE, parse_request(parameters), number, size, overrides=overrides)


def pages(engine: Engine, total: int, size: int, **options: object) -> list[dict[str, Any]]:
    """All pages, where so many copies of a text make further ones surplus."""
    responses: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_module, "MANY", total)
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


def only_counted(response: dict[str, Any]) -> int:
    return sum(each["documents"] for each in response["dedupe"]["only_counted"])


@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]), st.sampled_from([2, 5]))
def test_all_pages_what_came_late_and_what_was_counted_are_all_that_match(
    window: SampleWindow, step: int, size: int
) -> None:
    responses = pages(FakeEngine(window), FEW, size, window=step)
    names = [name for response in responses for name in [*listed(response), *late(response)]]
    assert len(names) == len(set(names))
    assert len(names) + only_counted(responses[-1]) == len(window.hits)


@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]), st.sampled_from([2, 5]), st.sampled_from(["identical", "near"]))
def test_every_group_is_there_and_begins_as_it_does_where_all_copies_are_read(
    window: SampleWindow, step: int, size: int, level: str
) -> None:
    groups_counted, read = (
        groups(pages(FakeEngine(window), total, size, window=step, level=level)) for total in (FEW, NONE)
    )
    assert groups_counted.items() <= read.items()
    assert set(groups_counted.values()) == set(read.values())


@pytest.mark.slow
@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]), st.sampled_from([2, 5]))
def test_a_page_shows_the_same_whether_or_not_others_were_asked_for(window: SampleWindow, step: int, size: int) -> None:
    pages_once = pages(FakeEngine(window), FEW, size, window=step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_module, "MANY", FEW)
        pages_again = [
            page(FakeEngine(window), number + 1, size, window=step) for number in reversed(range(len(pages_once)))
        ]
    assert [each["hits"] for each in reversed(pages_again)] == [each["hits"] for each in pages_once]


@example_settings
@given(many_copies, st.sampled_from([2, 7, 20]))
def test_the_account_adds_up(window: SampleWindow, step: int) -> None:
    for response in pages(FakeEngine(window), FEW, 3, window=step):
        account = response["dedupe"]
        documents = account["documents"]
        assert documents["matched"] == documents["in_window"] + documents["beyond_window"] == len(window.hits)
        assert documents["in_window"] == account["groups"]["in_window"] + account["duplicates"]
        assert only_counted(response) <= documents["beyond_window"]
        assert account["groups"]["exact"] == (only_counted(response) == documents["beyond_window"])


def copies(count: int, others: int, docket: str = "") -> SampleWindow:
    """Copies of a text, and others behind them."""
    values = [value(COPIED, f"c{at}", docket=docket) for at in range(count)]
    return SampleWindow([*values, *(value(signatures(10 + at), f"o{at}") for at in range(others))])


@pytest.mark.slow
def test_copies_that_fill_the_window_cost_one_more_request() -> None:
    engine = FakeEngine(copies(2_000, 50))
    response = page(engine, size=10)
    assert engine.asked == {"window": 2, "fetch": 1}
    assert response["dedupe"]["documents"] == {
        "matched": 2_050,
        "in_window": 550,
        "beyond_window": 1_500,
        "on_page": 509,
    }
    assert response["dedupe"]["only_counted"] == [
        {"group": response["hits"]["hits"][0]["_dedupe"]["group"], "documents": 1_500}
    ]
    assert response["hits"]["hits"][0]["_dedupe"]["only_counted"] == 1_500
    assert response["dedupe"]["groups"] == {"in_window": 51, "on_page": 10, "exact": True}


@pytest.mark.slow
def test_copies_of_several_texts_are_counted_each_by_itself() -> None:
    values = [value(signatures(at % 2), f"c{at}") for at in range(900)]
    engine = FakeEngine(SampleWindow([*values, *(value(signatures(10 + at), f"o{at}") for at in range(20))]))
    response = page(engine, size=10)
    assert [each["documents"] for each in response["dedupe"]["only_counted"]] == [200, 200]
    assert engine.asked == {"window": 2, "find": 1, "fetch": 1}


def test_a_page_that_its_first_step_fills_counts_nothing() -> None:
    engine = FakeEngine(copies(400, 200))
    assert page(engine, size=10)["dedupe"]["only_counted"] == []
    assert engine.asked == {"window": 1, "fetch": 1}


def test_copies_that_a_field_may_keep_apart_are_all_read() -> None:
    window = copies(600, 2, docket="7")
    window = SampleWindow([*window.values[:600], value(COPIED, "other", docket="8"), *window.values[600:]])
    response = page(FakeEngine(window), size=10)
    assert response["dedupe"]["only_counted"] == []
    assert response["dedupe"]["groups"]["in_window"] == 4


def test_copies_of_which_a_reader_has_kept_one_apart_are_all_read() -> None:
    word = Override(("news", "0000"), ("news", "0599"), "not", "Ada", "another court", "2026-01-05")
    response = page(FakeEngine(copies(600, 2)), size=10, overrides=[word])
    assert response["dedupe"]["only_counted"] == []
    assert response["dedupe"]["groups"]["in_window"] == 4


@pytest.mark.slow
def test_what_a_scope_lists_is_not_counted_besides() -> None:
    response = page(FakeEngine(copies(700, 3)), size=10, scope="matches")
    assert response["dedupe"]["only_counted"] == []
    assert response["hits"]["hits"][0]["_dedupe"]["size"] == 700
