"""Whatever the schedule, every promise of the documentation is kept."""

import pytest

from simulation import schedules
from simulation.defects import DEFECTS
from simulation.schedules import run, simulate

SEEDS, LOT = 200, 50


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, LOT))
def test_no_schedule_breaks_a_promise(first: int) -> None:
    assert run(range(first, first + LOT)) == []


def test_a_few_schedules_break_no_promise() -> None:
    assert run(range(10)) == []


def test_a_document_is_not_left_by_a_write_whose_answer_was_lost_when_it_was_deleted_meanwhile() -> None:
    assert run([1376], "DELETION") == []


def test_a_document_that_was_deleted_while_it_was_written_goes_though_its_group_is_settled_meanwhile() -> None:
    assert run([15222], "HEIRS") == []


def test_a_later_version_with_the_same_text_is_not_deleted_with_an_earlier() -> None:
    assert run([1192, 2290], "SAME_TEXT") == []


def test_no_document_joins_a_lead_that_was_deleted_while_its_settler_stood_still_for_longer_than_its_lease() -> None:
    assert run([5036, 8179], "HEIRS") == []


def test_a_join_that_another_has_undone_is_counted_by_neither_and_once_when_it_is_settled_again() -> None:
    assert run([656, 4403], "PLAIN") == []


def test_a_deletion_is_finished_by_the_replacement_that_goes_on_where_one_was_killed() -> None:
    assert run([168, 464, 1193, 5694], "REPLACEMENT_DELETION") == []


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert simulate(12).scheduler.trace == simulate(12).scheduler.trace


@pytest.mark.slow
def test_a_defect_is_noticed_and_the_command_that_repeats_its_schedule_is_named() -> None:
    defect = DEFECTS["a tombstone is not read"]
    with defect.put():
        broken = next(each for each in run(range(60), defect.focus) if defect.is_told(each))
    assert broken.splitlines()[-1].startswith("again: make simulate SEEDS=1 FIRST=")
    assert broken.endswith(f" FOCUS={defect.focus}")


@pytest.mark.parametrize("part", ["_build", "_quiet", "check"])
def test_the_schedule_is_named_whatever_has_failed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("d1")

    monkeypatch.setattr(schedules, part, fail)
    (broken,) = run([7], "PLAIN")
    assert broken.startswith("seed 7, focus PLAIN: KeyError('d1')")
    assert broken.endswith("again: make simulate SEEDS=1 FIRST=7 FOCUS=PLAIN")
