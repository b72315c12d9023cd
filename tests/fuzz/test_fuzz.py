"""Whatever a parser is fed, it takes it or ends in an error of the project's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz import readers, records, requests, signatures
from fuzz.target import Target
from support.examples import examples

TARGETS: Mapping[str, Target] = {**readers.TARGETS, **signatures.TARGETS, **requests.TARGETS, **records.TARGETS}

# Inputs that once ended a parser in another way than it may, a folder for each target.
CASES = Path(__file__).parent / "cases"

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
    for data in (*TARGETS[name].examples, *(path.read_bytes() for path in sorted((CASES / name).glob("*")))):
        TARGETS[name].feed(data)


def test_every_case_belongs_to_a_target() -> None:
    assert {path.name for path in CASES.iterdir()} <= TARGETS.keys()


FAR = 1 << 16


def mutated(target: Target) -> st.SearchStrategy[bytes]:
    """Draw an input for a target: one of its examples after some edits, or bytes of any kind."""
    words = st.sampled_from([*target.words, b"\0", b"\n", b"\xff", b'"']) | st.binary(max_size=8)
    edits = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, FAR), st.integers(0, FAR), words), max_size=6)
    return st.builds(edited, st.sampled_from(target.examples), edits) | st.binary(max_size=64)


def edited(data: bytes, edits: Sequence[tuple[str, int, int, bytes]]) -> bytes:
    """Change an input."""
    for edit, first, second, word in edits:
        begin, end = sorted((first % (len(data) + 1), second % (len(data) + 1)))
        data = {
            "put": data[:begin] + word + data[begin:],
            "overwrite": data[:begin] + word + data[begin + len(word) :],
            "cut": data[:begin] + data[end:],
            "end": data[:end],
            "repeat": data[:end] + data[begin:end] * 3 + data[end:],
            "swap": data[end:] + data[:begin] + data[begin:end],
        }[edit]
    return data


EDITS = ("put", "overwrite", "cut", "end", "repeat", "swap")
