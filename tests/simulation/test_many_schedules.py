"""Very many schedules."""

import os

import pytest

from simulation.schedules import FOCUSES, run

SEEDS, LOT = int(os.environ.get("SEEDS", "10000")), 500  # `.ci/run` runs fewer, since it is at its limit of time
FIRST = int(os.environ.get("FIRST", "200"))  # those before are of `test_world.py`
FOCUSED = max(60, SEEDS // 20)  # schedules of each focus


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, min(first + LOT, FIRST + SEEDS))) == []


@pytest.mark.slow
@pytest.mark.parametrize("focus", sorted(FOCUSES.keys() - {"ANY"}))
def test_no_schedule_of_a_focus_breaks_a_promise(focus: str) -> None:
    assert run(range(FOCUSED), focus) == []
