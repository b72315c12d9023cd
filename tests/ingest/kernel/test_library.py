"""The library of compiled loops is used only where it is made of this source."""

import shutil
from pathlib import Path

import pytest

from ibidem_ingest.kernel import library as kernel
from ibidem_ingest.kernel.library import Library
from support.compiled_loops import compile_loops


@pytest.mark.slow
def test_a_library_of_another_source_is_not_used(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "kernel.c"
    source.write_bytes(kernel.SOURCE.read_bytes() + b"\n")
    monkeypatch.setattr(kernel, "SOURCE", source)
    with pytest.raises(OSError, match="another source"):
        Library(library)


@pytest.mark.slow
def test_without_a_compiler_there_is_no_library_and_no_error(tmp_path: Path) -> None:
    shutil.copy(kernel.SOURCE, tmp_path)
    (tmp_path / "kernel.so").write_bytes(b"an earlier one")
    assert "are signed slowly" in compile_loops(tmp_path, CC=str(tmp_path / "none"))
    assert not (tmp_path / "kernel.so").exists()


def test_a_file_that_is_no_library_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernel.so").write_bytes(b"no library")
    monkeypatch.setattr(kernel, "LIBRARY", tmp_path / "kernel.so")
    with pytest.raises(OSError, match="kernel"):
        Library(tmp_path / "kernel.so")
