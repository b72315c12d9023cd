"""Private files are readable by their owner alone."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ibidem_ingest.private import make_file, make_folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_folders_that_are_made_are_their_owner_s_alone_and_others_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o755)
    make_folder(tmp_path / "there" / "a" / "b")
    make_folder(tmp_path / "there" / "a" / "b")
    assert [mode(tmp_path / "there" / name) for name in (".", "a", "a/b")] == [0o755, 0o700, 0o700]
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"it is not a folder: '.*/file'"):
        make_folder(tmp_path / "file" / "a")


def test_files_that_are_made_are_their_owner_s_alone_and_others_stay_as_they_are(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        make_file(tmp_path / "empty")
    finally:
        os.umask(mask)
    assert mode(tmp_path / "empty") == 0o600
    (tmp_path / "empty").chmod(0o644)
    make_file(tmp_path / "empty")
    assert mode(tmp_path / "empty") == 0o644


@pytest.mark.slow
def test_a_file_that_is_there_is_not_opened_so_that_locks_on_it_hold(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    other = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('begin immediate')"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("begin exclusive").close()
        make_file(path)
        process = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
    assert "database is locked" in process.stderr
