"""The licence texts installed on this machine become documents."""

from pathlib import Path

import pytest

from ibidem.demo import debian_licences, licences, python_licences, read_text_file


@pytest.mark.slow
def test_the_packages_of_this_python_have_licences_with_names_of_their_own() -> None:
    packages = list(python_licences())
    assert len(packages) > 20
    assert len({licence.id for licence in packages}) == len(packages)
    assert all(licence.text.strip() and licence.title and licence.url.startswith("file://") for licence in packages)


def test_one_copyright_file_that_two_packages_share_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "libc6").mkdir()
    (tmp_path / "libc6" / "copyright").write_text("This is the GNU C library.", encoding="utf-8")
    (tmp_path / "libc6-dev").symlink_to(tmp_path / "libc6")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert [licence.id for licence in debian_licences(tmp_path)] == ["debian/libc6"]


@pytest.mark.slow
def test_a_machine_without_debian_packages_still_has_python_packages(tmp_path: Path) -> None:
    assert {licence.source for licence in licences(tmp_path / "none")} == {"Python packages"}


def test_a_file_that_is_empty_or_not_there_is_passed_over_and_bad_bytes_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n", encoding="utf-8")
    (tmp_path / "latin").write_bytes(b"Caf\xe9 \0 licence")
    assert read_text_file(tmp_path / "empty") is None
    assert read_text_file(tmp_path / "none") is None
    assert read_text_file(tmp_path / "latin") == "Caf\ufffd  licence"
