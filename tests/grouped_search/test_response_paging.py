"""Pages over groups: a window that grows in steps, and what comes late."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.response import Pages
from ibidem_dedupe.leader_clustering import Grouping
from support.windows import example_settings


def grouping(leads: list[int]) -> Grouping:
    return Grouping(np.array(leads, np.int64), np.zeros(len(leads), np.uint8), np.zeros(len(leads), bool))


EXAMPLE = grouping([0, 1, 0, 3, 1, 5, 0, 7, 3, 9])


def test_a_page_uses_the_fewest_steps_that_fill_it() -> None:
    pages = Pages(EXAMPLE, step=2, size=2)
    assert [pages.steps_needed(groups) for groups in (2, 4, 6, 8)] == [1, 3, 5, None]
    assert [pages.steps_used(groups) for groups in (0, 2, 4, 6, 8)] == [0, 1, 3, 5, 5]
    assert [pages.leads(start) for start in (0, 2, 4, 6)] == [[0, 1], [3, 5], [7, 9], []]


def test_what_a_step_adds_to_groups_of_earlier_pages_is_reported_on_the_first_page_that_needed_the_step() -> None:
    pages = Pages(EXAMPLE, step=2, size=2)
    assert list(pages.late_rows(0)) == []
    assert list(pages.late_rows(2)) == [(2, 1), (4, 1)]
    assert list(pages.late_rows(4)) == [(6, 1), (8, 2)]
    assert list(pages.late_rows(6)) == []


def test_a_page_may_begin_between_two_others() -> None:
    pages = Pages(EXAMPLE, step=2, size=2)
    assert [pages.leads(start) for start in (1, 3, 5)] == [[1, 3], [5, 7], [9]]
    assert list(pages.late_rows(1)) == [(2, 1)]
    assert list(pages.late_rows(3)) == [(4, 1), (6, 1)]


def in_order(picks: list[int]) -> list[int]:
    """Every third row is a lead; the others join one of those before them."""
    return [row if row % 3 == 0 else 3 * (pick % (row // 3 + 1)) for row, pick in enumerate(picks)]


leads_in_order = st.lists(st.integers(0, 99), max_size=40).map(in_order)


@example_settings
@given(leads_in_order, st.integers(1, 7), st.integers(1, 5))
def test_every_row_is_on_its_group_s_page_or_late_on_a_later_one(leads: list[int], step: int, size: int) -> None:
    pages = Pages(grouping(leads), step, size)
    progress: list[int] = []
    for start in range(0, len(set(leads)) + size, size):
        leads_seen, end = set(pages.leads(start)), pages.steps_used(start + size) * step
        progress += [row for row, lead in enumerate(leads) if lead in leads_seen and row < end]
        for row, of_page in pages.late_rows(start):
            assert leads[row] in pages.leads((of_page - 1) * size)
            assert of_page <= start // size
            progress.append(row)
    assert sorted(progress) == list(range(len(leads)))
