"""Very many schedules, and a schedule for each known defect: a simulation that cannot fail is a defect itself."""

import os

import pytest

from simulation.defects import DEFECTS
from simulation.schedules import run

SEEDS, LOT = int(os.environ.get("SEEDS", "10000")), 500
"""`.ci/run` runs fewer, since it is at its limit of time."""

NAMES = [*DEFECTS] if SEEDS >= 10_000 else [*DEFECTS][:6]
"""Defects that are put in; of a small run some that are noticed soon."""

MOST = 3_000
"""Schedules in which a defect has to be noticed."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, min(first + LOT, SEEDS))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_known_defect_is_noticed(name: str) -> None:
    defect = DEFECTS[name]
    with defect.put():
        assert any(run([seed], defect.focus) for seed in range(MOST))
