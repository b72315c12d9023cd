"""Promises of SECURITY.md: each has its test, no room opens pickles, and the audit says what it could not do."""

import ast
import os
import re
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table

ROOT = Path(__file__).parents[1]
ROOMS = ("ingest", "mappings", "plugins", "workers")
OPENS_OBJECTS = {"cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve", "yaml"}


def imported(path: Path) -> set[str]:
    """Name the packages that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def promises() -> list[list[str]]:
    """Return the rows of the table of promises."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = page.partition("## What is promised")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


@pytest.mark.parametrize("row", promises(), ids=lambda row: row[0][:40])
def test_every_promise_names_its_tests(row: list[str]) -> None:
    _, _, held_by = row
    assert re.search(r"`tests/[^`]+`", held_by)


def test_what_is_not_promised_is_written_down_too() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert len(promises()) >= 7
    assert page.count("\n- ", page.index("## What is not promised")) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_no_room_opens_what_could_run_code(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        assert not imported(path) & OPENS_OBJECTS, path


def test_index_and_tables_are_their_owner_s_alone(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        folder = tmp_path / "kept"
        settings = Settings(engine=f"sqlite:////{folder}/index/news.sqlite", tables=folder / "tables")
        engine = open_engine(settings.engine, settings.index)
        engine.create()
        engine.put_records("runs", {"a": {}})
        Tables(settings.tables).use(Table.build("en", 1_000, {"people": 10.0}, "a test"))
        paths = [folder, *folder.rglob("*")]
        readable = [str(path) for path in paths if path.stat().st_mode & 0o077]
        engine.close()
    finally:
        os.umask(mask)
    assert (len(paths) > 5, readable) == (True, [])
