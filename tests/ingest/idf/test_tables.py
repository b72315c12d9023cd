"""A folder of tables: one current table for each language, all others by name."""

from pathlib import Path

import pytest

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import Table
from ibidem_ingest.idf.tables import Tables

OWN = Table.of("da", 1000, {"ret": 600.0, "lov": 80.0}, "a test")


def test_a_default_table_is_built_once_and_then_only_opened(tmp_path: Path) -> None:
    first = Tables(tmp_path).of("da")
    assert first is not None
    written = sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir())
    second = Tables(tmp_path).of("da")
    assert second is not None
    assert second.name == first.name
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir()) == written


def test_a_table_in_use_replaces_the_default_and_the_old_one_stays_readable(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    default = tables.of("da")
    assert default is not None
    tables.use(OWN)
    current = tables.of("da")
    assert current is not None
    assert current.name == OWN.name
    assert Tables(tmp_path).named(default.name) is not None


def test_languages_without_a_table_are_remembered(tmp_path: Path) -> None:
    assert Tables(tmp_path).of("zh") is None
    assert (tmp_path / "zh.current").read_text() == "none\n"


def test_what_is_no_language_code_touches_no_file(tmp_path: Path) -> None:
    assert Tables(tmp_path / "tables").of("../../etc") is None
    assert not list(tmp_path.iterdir())


def test_unknown_names_are_none(tmp_path: Path) -> None:
    assert Tables(tmp_path).named("0123456789abcdef") is None
    assert Tables(tmp_path).named("") is None


def test_a_damaged_current_table_is_said_and_not_replaced_in_silence(tmp_path: Path) -> None:
    Tables(tmp_path).use(OWN)
    path = tmp_path / f"{OWN.name}.idf"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(TableError, match=OWN.name):
        Tables(tmp_path).of("da")
