"""`make quick` tries few examples of each law, and still has a test of nearly every module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.plugin import QUICK_FILES

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# Modules for other frameworks, which are not installed here, or take long to load: tests/retrieval runs them.
FRAMEWORKS = {"haystack.py", "langchain.py", "llama_index.py", "mcp.py"}

OTHERS = 0.07  # share of the modules that no quick test imports or is named after


def test_every_law_that_says_how_many_examples_it_takes_has_fewer_in_a_quick_run() -> None:
    files = [path for path in TESTS.rglob("*.py") if path.name != "examples.py"]
    settings = [(path, each) for path in files for each in re.findall(r"max_examples=(.*)", path.read_text())]
    assert [(path, each) for path, each in settings if not each.startswith(("examples(", "(.*)"))] == []


def modules() -> dict[str, Path]:
    """Return our modules by their path below the source folder."""
    return {
        str(path.relative_to(ROOT / folder)): path
        for folder in ("ingest", "workers", "plugins", "mappings")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py", *FRAMEWORKS} and ".venv" not in path.parts
    }


def imported(path: Path) -> Iterator[str]:
    """Yield the names of modules that a file imports, and those of what it takes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


@pytest.fixture
def quick_files(request: pytest.FixtureRequest) -> frozenset[Path]:
    """The files with quick tests: those that this run has collected, where it has collected all."""
    collected = {(request.config.invocation_params.dir / each).resolve() for each in request.config.args}
    if not {ROOT / each for each in request.config.getini("testpaths")} <= collected:
        pytest.skip("not all tests are collected, as `make test` and `make quick` do")
    return request.config.stash[QUICK_FILES]


@pytest.mark.slow
def test_nearly_every_module_has_a_quick_test(quick_files: frozenset[Path]) -> None:
    names = {name for path in quick_files for name in imported(path)}
    stems = {path.stem.removeprefix("test_") for path in quick_files}  # named after what it tests, or by its docstring
    modules_here = {name.removesuffix(".py").replace("/", "."): path.stem for name, path in modules().items()}
    alone = sorted(name for name, stem in modules_here.items() if name not in names and stem not in stems)
    assert len(alone) <= OTHERS * len(modules_here), ", ".join(alone)
