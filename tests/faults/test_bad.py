"""Bad documents among good ones: nothing bad keeps anything good out, and nothing is dropped in silence."""

import random
from pathlib import Path

from faults.bad_documents import mixed, taken_in


def test_every_good_document_is_indexed_and_every_bad_one_listed_with_its_reason(tmp_path: Path) -> None:
    told = taken_in(tmp_path, mixed(random.Random(1987), 400, 80))  # noqa: S311 - a lot that can be drawn again
    assert told.wrong == []
    assert (told.indexed, told.listed) == (400, 80)
