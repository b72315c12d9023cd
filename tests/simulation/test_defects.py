"""A schedule for each known defect: a simulation that cannot fail is a defect itself."""

import pytest

from simulation.defects import DEFECTS
from simulation.schedules import run

MAX_SCHEDULES = 3_000  # schedules in which a defect has to be noticed


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_each_known_defect_is_noticed_by_the_promise_that_it_breaks_and_by_nothing_without_it(name: str) -> None:
    defect = DEFECTS[name]
    with defect.put():
        seeds = range(defect.first, defect.first + MAX_SCHEDULES)
        noticed = next((seed for seed in seeds if any(map(defect.is_told, run([seed], defect.focus)))), None)
    assert noticed is not None
    assert run([noticed], defect.focus) == []
