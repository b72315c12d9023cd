"""Ten thousand schedules, and a schedule for each known defect: a simulation that cannot fail is a defect itself."""

import pytest

from simulation.mutations import DEFECTS, FOUND
from simulation.schedules import run

SEEDS, LOT = 10_000, 500

MOST = 1_500
"""Schedules in which a defect has to be noticed."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, first + LOT)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_each_known_defect_is_noticed(name: str) -> None:
    with DEFECTS[name]():
        assert any(run([seed]) for seed in (*FOUND, *range(MOST)))
