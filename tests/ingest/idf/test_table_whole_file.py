"""A file is there whole, or as it was, and nothing else is left in its folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import write_whole


def test_a_file_is_written_with_its_folder_and_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a"
    write_whole(path, [b"one"])
    write_whole(path, [b"two ", b"parts"])
    assert path.read_bytes() == b"two parts"
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def full() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    path = tmp_path / "a"
    path.write_bytes(b"whole")
    with pytest.raises(TableError, match="No space left on device; make its folder writable"):
        write_whole(path, full())
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]
