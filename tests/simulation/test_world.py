"""Whatever the schedule, every promise of the documentation is kept."""

import pytest

from simulation.defects import DEFECTS, DELETION
from simulation.schedules import run, simulate

SEEDS, LOT = 200, 50


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, first + LOT)) == []


def test_a_few_schedules_break_no_promise() -> None:
    assert run(range(10)) == []


def test_a_document_is_not_left_by_a_write_whose_answer_was_lost_when_it_was_deleted_meanwhile() -> None:
    assert run([1376], DELETION) == []


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert simulate(12).scheduler.trace == simulate(12).scheduler.trace


@pytest.mark.parametrize(
    "name",
    ["the portion in hand is not noted", "a message is acknowledged before it is worked on", "a tombstone is not read"],
)
def test_a_defect_is_noticed_and_the_command_that_repeats_its_schedule_is_named(name: str) -> None:
    with DEFECTS[name].put():
        broken = run(range(60))
    assert "again: make simulate SEEDS=1 FIRST=" in broken[0]
