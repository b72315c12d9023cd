"""Files that are there whole or not at all, whoever else writes the same one."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from ibidem_ingest.errors import TableError


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file under a temporary name beside its own, then rename it; all may read it.

    Args:
        path: Its folder is made when missing.
        parts: The contents.

    Raises:
        TableError: The folder cannot be written, or the disk is full; nothing is left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            temporary = Path(file.name)
            try:
                file.writelines(parts)
                file.flush()
                temporary.chmod(0o644)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        remedy = "make its folder writable, or name another folder for the idf tables"
        raise TableError(f"cannot write {path}: {error.strerror or error}", remedy) from error
