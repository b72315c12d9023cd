"""Imports run one way, and no handler of a signal takes a lock."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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


ROOT = Path(__file__).parents[1]
FOLDERS = ("ingest", "mappings", "plugins", "workers", "tests", "benchmarks")
# What a handler may call.
WITHOUT_A_LOCK = {"os.write", "os.kill", "os.killpg", "os._exit", "signal.signal", "suppress"}


def handlers(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what is set as a handler: a function of the same file, or an expression."""
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "signal.signal":
            handler = call.args[1]
            yield functions.get(handler.id, handler) if isinstance(handler, ast.Name) else handler


def called(handler: ast.AST) -> set[str]:
    return {ast.unparse(each.func) for each in ast.walk(handler) if isinstance(each, ast.Call)}


@pytest.mark.slow
def test_no_handler_of_a_signal_takes_a_lock() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    by_path = {path: [*handlers(ast.parse(path.read_text(encoding="utf-8")))] for path in files}
    assert sum(map(len, by_path.values())) > 5
    calls = {path: set().union(*map(called, each)) - WITHOUT_A_LOCK for path, each in by_path.items()}
    assert {path: each for path, each in calls.items() if each} == {}


def test_a_handler_that_takes_a_lock_is_found_out() -> None:
    (handler,) = handlers(ast.parse("def ask(*_):\n    asked.set()\nsignal.signal(signal.SIGTERM, ask)"))
    assert called(handler) == {"asked.set"}
