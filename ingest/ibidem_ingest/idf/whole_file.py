"""Files that are there whole or not at all, whoever else writes the same one."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from ibidem_ingest.errors import TableError
from ibidem_ingest.private import make_folder


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file under a temporary name beside its own, then rename it; only its owner may read it.

    Args:
        path: Its folder is made when missing.
        parts: The contents.

    Raises:
        TableError: The folder cannot be written, or the disk is full; nothing is left behind.
    """
    try:
        make_folder(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            try:
                file.writelines(parts)
                file.flush()
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        remedy = "make its folder writable, or name another folder for the idf tables"
        raise TableError(f"cannot write {path}: {error.strerror or error}", remedy) from error
