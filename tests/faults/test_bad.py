"""Bad documents among good ones: nothing bad keeps anything good out, and nothing is dropped in silence."""

import random
from pathlib import Path

import pytest

from faults.bad_documents import mixed, taken_in


@pytest.mark.slow
def test_every_good_document_is_indexed_and_every_bad_one_listed_with_its_reason(tmp_path: Path) -> None:
    outcome = taken_in(tmp_path, mixed(random.Random(1987), 400, 80))  # noqa: S311 - a lot that can be drawn again
    assert outcome.wrong == []
    assert (outcome.indexed, outcome.listed) == (400, 80)
