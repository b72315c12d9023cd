"""Whatever a parser is fed, it takes it or ends in an error of the project's own."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fuzz.mutation import mutated
from fuzz.table import CASES, TARGETS, cases
from support.examples import examples

INPUTS = 150
# Inputs of targets that take some milliseconds each.
SLOW = {"html": 40, "mbox": 10, "docx": 40, "kernels": 60, "jsonl.xz": 60, "jsonl.zst": 60, "jsonl.gz": 60}

# Mails of a mailbox are parsed in processes.
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name == "mbox")) for name in TARGETS]


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_input_ends_a_parser_in_an_error_that_is_not_ours(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=examples(SLOW.get(name, INPUTS)),
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(target))
    def feed(data: bytes) -> None:
        target.feed(data)

    feed()


@pytest.mark.parametrize("name", NAMES)
def test_examples_and_what_was_found_before_are_taken(name: str) -> None:
    for data in (*TARGETS[name].examples, *cases(name)):
        TARGETS[name].feed(data)


def test_every_case_belongs_to_a_target() -> None:
    assert {path.name for path in CASES.iterdir()} <= TARGETS.keys()
