"""The second tier of tests is what the table says, and nothing else is left out."""

from pathlib import Path

import pytest

from servers.tiers import ROOT, THOROUGH, mark_thorough


class Item:
    """A collected test of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.marks: list[str] = []

    def add_marker(self, name: str) -> None:
        self.marks.append(name)


@pytest.mark.parametrize("name", THOROUGH)
def test_every_name_of_the_table_is_there(name: str) -> None:
    assert (ROOT / name).exists()


def test_a_file_of_the_table_and_every_file_in_its_folders_are_of_the_second_tier() -> None:
    paths = ["upgrade/test_upgrade.py", "suites/test_suites.py", "suites/test_runner.py", "cli/test_doctor.py"]
    items = [Item(ROOT / path) for path in paths] + [Item(Path("/elsewhere/test_it.py"))]
    mark_thorough(items)  # type: ignore[arg-type] # a path and a marker are all that is asked of a test
    assert [each.marks for each in items] == [["thorough"], ["thorough"], [], [], []]
