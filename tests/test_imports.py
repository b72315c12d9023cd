"""Imports run one way, `import ibidem` offers the names of `__all__`, and no handler of a signal takes a lock."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import ibidem

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


HEAVY = set(re.findall(r"\w+", "numpy celery kombu elasticsearch opensearchpy pydantic wordfreq rich typer sqlite3"))


def test_the_face_is_what_all_names() -> None:
    assert sorted(ibidem.__all__) == list(ibidem.__all__)
    assert set(ibidem._HOMES) == set(ibidem.__all__)
    assert set(dir(ibidem)) == set(ibidem.__all__)


@pytest.mark.parametrize("name", ibidem.__all__)
def test_every_public_name_is_read_from_its_home_and_documented(name: str) -> None:
    home = import_module(ibidem._HOMES[name])
    assert getattr(ibidem, name) is getattr(home, name)
    assert inspect.getdoc(getattr(ibidem, name))


def test_type_checkers_see_the_same_homes() -> None:
    tree = ast.parse(inspect.getsource(ibidem))
    imports = {
        name.asname or name.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ibidem")
        for name in node.names
    }
    assert imports == ibidem._HOMES


def test_no_module_takes_the_name_of_a_public_function() -> None:
    """`import ibidem.search` would put the module where the function was."""
    assert not {module.name for module in iter_modules(ibidem.__path__)} & set(ibidem.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'dedup'"):
        ibidem.dedup  # noqa: B018 - the look-up itself is what is tested


@pytest.mark.slow
def test_importing_the_face_loads_nothing_heavy() -> None:
    code = "import sys, ibidem; print(*{name.partition('.')[0] for name in sys.modules})"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(process)


@pytest.mark.slow
def test_inner_modules_never_import_the_face() -> None:
    inner = [path for path in Path(ibidem.__file__).parent.rglob("*.py") if path != Path(ibidem.__file__)]
    assert inner
    for path in inner:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert all(name.name != "ibidem" for name in node.names), path
            if isinstance(node, ast.ImportFrom):
                assert node.module != "ibidem", path


def test_the_page_of_the_interface_shows_every_public_name_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)) == {f"{h}.{n}" for n, h in ibidem._HOMES.items()}
