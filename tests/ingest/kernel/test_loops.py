"""The compiled loops: what they do at the edges.

The tests of signatures and texts run over both and so prove that their results equal those of numpy.
"""

from pathlib import Path

import numpy as np
import pytest

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import TokenBatch

pytestmark = pytest.mark.slow

EMPTY = np.zeros(0, np.int64)


def test_a_library_of_this_source_is_loaded(library: Path) -> None:
    compiled_loops = loops.Loops(library)
    starts, ends = compiled_loops.tokens(b" so  ordered " + b" " * 8)
    assert (starts.tolist(), ends.tolist()) == ([1, 5], [3, 12])


def test_nothing_is_made_of_nothing(library: Path) -> None:
    compiled_loops, batch = loops.Loops(library), TokenBatch.tokenize([])
    assert compiled_loops.tokens(batch.buffer)[0].size == 0
    columns, words = compiled_loops.groups(batch.buffer, EMPTY, EMPTY, batch.hashes, batch.offsets)
    assert [each.size for each in (*columns, words)] == [0] * 5
    assert compiled_loops.join_tokens(batch.buffer, EMPTY, EMPTY, batch.offsets) == []


def test_of_all_bytes_only_ascii_letters_and_digits_stay_and_letters_become_small(library: Path) -> None:
    octets = bytes(range(256))
    of_python = [chr(octet).lower() if octet < 128 and chr(octet).isalnum() else " " for octet in octets]
    assert loops.Loops(library).fold(octets).decode() == "".join(of_python)


@pytest.mark.parametrize("size", [0, 1, 62, 63, 64, 65, 127, 128])
def test_a_token_is_cut_wherever_it_ends_in_a_block(size: int, library: Path) -> None:
    buffer = b" " + b"x" * size + b" " * 9
    starts, ends = loops.Loops(library).tokens(buffer)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == ([(1, 1 + size)] if size else [])


def test_rows_beyond_an_array_are_refused_before_a_loop_runs(library: Path) -> None:
    compiled_loops, row = loops.Loops(library), np.array([0, 2], np.int64)
    values = np.zeros((2, 60), np.int32)
    with pytest.raises(IndexError, match="0 to 1, not 0 to 2"):
        compiled_loops.shared_values(values, (row, row), 9)
    with pytest.raises(IndexError, match="0 to 1, not 0 to 2"):
        compiled_loops.prefixes(values, row, row, 9)
    with pytest.raises(IndexError, match="0 to 1"):
        compiled_loops.pairs((row, row > 1, row, row), row.astype(np.int32), 2, 1)


def test_keys_of_rows_that_do_not_ascend_are_refused(library: Path) -> None:
    with pytest.raises(ValueError, match="ascend"):
        loops.Loops(library).shared_keys(np.zeros(2, np.uint64), np.array([1, 0]), None)


def test_of_no_entries_no_key_is_shared(library: Path) -> None:
    number, row = loops.Loops(library).shared_keys(np.zeros(0, np.uint64), EMPTY, None)
    assert (number.size, row.size) == (0, 0)
