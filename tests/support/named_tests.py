"""Tests that pages name as what holds a promise."""

import ast
from functools import cache
from pathlib import Path


@cache  # pages name tests of one file many times
def names_of_tests(path: Path) -> set[str]:
    """List the tests of a file, those of classes with their class before them."""
    names: set[str] = set()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.ClassDef):
            names |= {f"{statement.name}::{each.name}" for each in statement.body if isinstance(each, ast.FunctionDef)}
    return names
