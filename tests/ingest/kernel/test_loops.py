"""The compiled loops are used only where they are of this source; what they do at the edges."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ibidem_dedupe.candidates import KeyIndex, drop_singletons
from ibidem_dedupe.column_rules import Pairs, count_shared
from ibidem_dedupe.pairs import CandidateRanges, expand_pairs
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import PackedColumns
from support.compiled_loops import compile_loops
from support.signing_loops import ABSENT


@pytest.mark.skipif(loops.IN_USE is None, reason=ABSENT)
def test_rows_beyond_an_array_are_refused_before_a_loop_runs() -> None:
    row = np.array([0, 2], np.int64)
    with pytest.raises(IndexError, match="0 to 1, not 0 to 2"):
        count_shared(np.zeros((2, 60), np.int32), row, row)
    pairs = Pairs(PackedColumns.decode([None, None]), row, row)
    with pytest.raises(IndexError, match="0 to 1, not 0 to 2"):
        _ = pairs.numbers_shared
    entries = KeyIndex(np.zeros(2, np.int32), row.astype(np.int32))
    with pytest.raises(IndexError, match="0 to 1, not 0 to 2"):
        list(expand_pairs(entries, CandidateRanges(entries.row, row, row), 2))


def test_keys_of_rows_that_are_not_counted_in_32_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="below 2"):
        drop_singletons(np.zeros(2, np.uint64), np.array([2**31, 0]))


@pytest.mark.slow
def test_a_library_of_another_source_is_not_used(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "kernel.c"
    source.write_bytes(loops.SOURCE.read_bytes() + b"\n")
    assert loops.load(library) is not None
    monkeypatch.setattr(loops, "SOURCE", source)
    assert loops.load(library) is None


@pytest.mark.slow
def test_without_a_compiler_there_is_no_library_and_no_error(tmp_path: Path) -> None:
    shutil.copy(loops.SOURCE, tmp_path)
    (tmp_path / "kernel.so").write_bytes(b"an earlier one")
    assert "are signed slowly" in compile_loops(tmp_path, CC=str(tmp_path / "none"))
    assert not (tmp_path / "kernel.so").exists()


def test_a_file_that_is_no_library_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "kernel.so").write_bytes(b"no library")
    assert loops.load(tmp_path / "kernel.so") is None


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile them as an installation does."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("kernel")
    shutil.copy(loops.SOURCE, folder)
    compile_loops(folder)
    return folder / "kernel.so"
