"""Compile the loops as an installation does."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def compile_loops(folder: Path, **environment: str) -> str:
    """Compile the loops in a folder by the build hook, and return what it says."""
    pytest.importorskip("hatchling")
    code = "import sys, pathlib; from hatch_build import compiled; compiled(pathlib.Path(sys.argv[1]))"
    process = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stderr
