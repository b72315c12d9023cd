"""A compiled library of the loops."""

import shutil
from pathlib import Path

import pytest

from ibidem_ingest.kernel.loops import SOURCE
from support.compiled_loops import compile_loops


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile them as an installation does."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("kernel")
    shutil.copy(SOURCE, folder)
    compile_loops(folder)
    return folder / "kernel.so"
