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


SEARCH = """
import sys

import ibidem
import ibidem.cli.search

engine = ibidem.open_engine(f"sqlite:///{sys.argv[1]}", "ibidem")
engine.create()
ibidem.search_index(engine, ibidem.parse_query("gold"), ibidem.parse_request({"dedupe": "indent"}))
print(*(name for name in sys.modules if name.startswith("ibidem_engines.") or ".dsl" in name))
"""


@pytest.mark.slow
def test_a_search_on_sqlite_reads_nothing_that_clusters_need(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SEARCH, str(tmp_path / "index.sqlite").removeprefix("/")]
    modules = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout.split()
    assert "ibidem_engines.sqlite.engine" in modules
    assert not [name for name in modules if "cluster" in name or ".dsl" in name]
