"""Very many schedules, and a schedule for each known defect: a simulation that cannot fail is a defect itself."""

import os

import pytest

from simulation.defects import DEFECTS
from simulation.schedules import FOCUSES, run

SEEDS, LOT = int(os.environ.get("SEEDS", "10000")), 500  # `.ci/run` runs fewer, since it is at its limit of time

FIRST = int(os.environ.get("FIRST", "200"))  # those before are of `test_world.py`

FOCUSED = max(60, SEEDS // 20)  # schedules of each focus

MAX_SCHEDULES = 3_000  # schedules in which a defect has to be noticed


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, min(first + LOT, FIRST + SEEDS))) == []


@pytest.mark.slow
@pytest.mark.parametrize("focus", sorted(FOCUSES.keys() - {"ANY"}))
def test_no_schedule_of_a_focus_breaks_a_promise(focus: str) -> None:
    assert run(range(FOCUSED), focus) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_each_known_defect_is_noticed_by_the_promise_that_it_breaks_and_by_nothing_without_it(name: str) -> None:
    defect = DEFECTS[name]
    with defect.put():
        seeds = range(defect.first, defect.first + MAX_SCHEDULES)
        noticed = next((seed for seed in seeds if any(map(defect.is_told, run([seed], defect.focus)))), None)
    assert noticed is not None
    assert run([noticed], defect.focus) == []
