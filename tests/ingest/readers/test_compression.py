"""Plain and compressed files give the same bytes, and one that was cut says so."""

import gzip
import io
import lzma
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from ibidem_ingest.readers.compression import open_compressed

LINES = b"".join(b'{"id": %d, "text": "We the People of the United States"}\n' % number for number in range(20_000))
LINE = b"We the People\n"
NOISE = os.urandom(10_000)
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
EVERY = pytest.mark.parametrize("suffix", COMPRESS)


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("suffix_shown", [True, False])
def test_what_was_compressed_comes_out_again_also_where_the_suffix_does_not_tell(
    tmp_path: Path, suffix: str, suffix_shown: bool
) -> None:
    path = tmp_path / f"news{suffix if suffix_shown else ''}"
    path.write_bytes(COMPRESS[suffix](LINES))
    with open_compressed(path) as stream:
        assert stream.read() == LINES


@EVERY
def test_files_that_were_joined_are_read_to_the_end(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"news{suffix}"
    path.write_bytes(COMPRESS[suffix](b"one\n") + COMPRESS[suffix](NOISE) + COMPRESS[suffix](b"two\n"))
    with open_compressed(path) as stream:
        assert stream.read() == b"one\n" + NOISE + b"two\n"


@pytest.mark.slow
@EVERY
def test_a_bomb_is_never_unpacked_as_a_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(1 << 27)))
    tracemalloc.start()
    with open_compressed(path) as stream:
        assert sum(len(piece) for piece in iter(lambda: stream.read(1 << 16), b"")) == 1 << 27
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


@pytest.mark.slow
@EVERY
def test_standard_input_may_be_compressed_and_stays_open(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    raw = io.BytesIO(COMPRESS[suffix](LINES))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    with open_compressed(None) as stream:
        assert stream.read() == LINES
    assert not raw.closed


def test_a_file_that_asks_for_more_memory_than_any_that_was_made_in_earnest_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "news.xz"
    chain = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    path.write_bytes(lzma.compress(LINE, filters=chain))
    with open_compressed(path) as stream, pytest.raises(lzma.LZMAError, match="emory"):
        stream.read()
