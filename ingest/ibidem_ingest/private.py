"""Private folders and files, readable only by their owner with any umask of the process."""

import contextlib
import os
from errno import ENOTDIR
from pathlib import Path

FOLDER, FILE = 0o700, 0o600


def make_folder(path: Path) -> None:
    """Create a folder and its parents if missing; existing ones keep their permissions."""
    for each in reversed([path, *path.parents]):
        try:
            each.mkdir(mode=FOLDER, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(ENOTDIR, "it is not a folder", str(each)) from error


def make_file(path: Path) -> None:
    """Create an empty file if missing; an existing one keeps its permissions, and is not opened.

    To close a file ends every lock that this process holds on it (POSIX), those of SQLite's connections too: another
    process could then write at the same time, and the index would be damaged.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE))
