"""A module is a concept: a reader opens few files, and none that is hardly one."""

from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEAST = 40
SMALL: dict[str, str] = {}
"""Modules with fewer lines, and why each is one."""


@cache
def modules() -> dict[str, Path]:
    """Give our modules by their path below the source folder."""
    folders = ("ingest", "workers", "plugins", "mappings")
    return {
        str(path.relative_to(ROOT / folder)): path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py"} and ".venv" not in path.parts
    }


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_has_forty_lines_or_a_reason(name: str) -> None:
    small = len(modules()[name].read_text(encoding="utf-8").splitlines()) < LEAST
    assert small == (name in SMALL), "merge it into its only user, or say here why it is a file of its own"


def test_no_reason_is_kept_for_a_module_that_is_gone() -> None:
    assert set(SMALL) <= set(modules())
