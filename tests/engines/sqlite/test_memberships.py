"""Threads and works that are stored in SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_engines.query import Filter, Query
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.fts_query import conditions
from ibidem_engines.sqlite.memberships import _HAS_THREADS


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqliteFile]:
    file = SqliteFile(tmp_path / "index.sqlite", "mail")
    file.create()
    yield file
    file.close()


def steps(file: SqliteFile, statement: str, values: tuple[str, ...] = ()) -> list[str]:
    with file.reading():
        return [str(step[3]) for step in file.run(f"explain query plan {statement}", values)]


@pytest.mark.parametrize("values", [["a"], ["a", "b"]])
@pytest.mark.parametrize("name", ["thread", "work"])
def test_the_documents_of_a_thread_or_a_work_are_found_without_a_look_at_the_others(
    file: SqliteFile, name: str, values: list[str]
) -> None:
    limits = conditions(Query(filters=tuple(Filter(name, value) for value in values)))
    statement = f'select d.place from "ibidem.{{index}}.documents" d where true{limits.sql}'  # noqa: S608 - made of constants
    plan = steps(file, statement, limits.values)  # type: ignore[arg-type]  # names of threads are texts
    assert any(f"INDEX ibidem.mail.{name}s" in step for step in plan), plan


def test_an_index_without_threads_is_not_read_to_know_it(file: SqliteFile) -> None:
    plan = steps(file, _HAS_THREADS)
    assert any("INDEX ibidem.mail.threads" in step for step in plan), plan
