"""`docs/reliability.md`: every promise names the test that holds it, and that test is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
TESTS = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")
PROMISE = re.compile(r"^\| (?!promise|---|watch|it happens)(.+) \| (.+) \|$", re.MULTILINE)


def names_in(path: Path) -> set[str]:
    """List the tests of a file, those of classes with their class before them."""
    names: set[str] = set()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.ClassDef):
            names |= {f"{statement.name}::{each.name}" for each in statement.body if isinstance(each, ast.FunctionDef)}
    return names


@pytest.mark.parametrize(("path", "name"), TESTS.findall(PAGE.read_text(encoding="utf-8")))
def test_every_test_that_the_page_names_is_there(path: str, name: str) -> None:
    assert name.removeprefix("::") in names_in(ROOT / path)


def test_every_promise_names_what_holds_it() -> None:
    promises = PAGE.read_text(encoding="utf-8").partition("## For operators")[0]
    rows = PROMISE.findall(promises)
    assert len(rows) > 20
    assert not [promise for promise, evidence in rows if not TESTS.search(evidence) and "benchmarks/" not in evidence]
