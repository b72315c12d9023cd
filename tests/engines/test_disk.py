"""The folder and the disk of an index in a file are named where something is wrong with them."""

from pathlib import Path

import pytest

from ibidem_engines.disk import disk_issue, file_issues, is_full


def test_a_folder_that_can_be_written_has_no_issue(tmp_path: Path) -> None:
    assert "folder" not in [each.name for each in file_issues(tmp_path / "index.sqlite")]


def test_a_file_in_the_place_of_the_folder_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    (issue,) = file_issues(tmp_path / "file" / "index.sqlite")
    assert (issue.name, issue.stops) == ("folder", True)


@pytest.mark.parametrize(("free", "full"), [(9, True), (10, False), (100, False)])
def test_a_disk_is_full_from_nine_tenths_on(free: int, full: bool) -> None:
    assert is_full(100, free) == full


def test_what_is_left_of_a_disk_is_named() -> None:
    assert disk_issue("the disk of /data", 100_000_000_000, 2_000_000_000).what == (
        "the disk of /data is nearly full: 2.0 of 100.0 GB are left"
    )
