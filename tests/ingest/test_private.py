"""What only its owner may read."""

import os
from pathlib import Path

import pytest

from ibidem_ingest.private import make_file, make_folder, write_file


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_that_are_made_are_their_owner_s_alone_and_others_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o755)
    make_folder(tmp_path / "there" / "a" / "b")
    make_folder(tmp_path / "there" / "a" / "b")
    assert [mode(tmp_path / "there" / name) for name in (".", "a", "a/b")] == [0o755, 0o700, 0o700]


def test_a_folder_cannot_be_made_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match="file"):
            make_folder(path)


def test_files_that_are_made_are_their_owner_s_alone_and_others_stay_as_they_are(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_file(tmp_path / "empty")
        write_file(tmp_path / "full", b"hello")
    finally:
        os.umask(before)
    (tmp_path / "empty").chmod(0o644)
    make_file(tmp_path / "empty")
    assert (mode(tmp_path / "empty"), mode(tmp_path / "full")) == (0o644, 0o600)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "full", b"other")
