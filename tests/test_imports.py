"""Packages are ordered: imports run one way."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_room_imports_one_that_is_behind_it() -> None:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]  # in a process: it silences all loggers
    process = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout
