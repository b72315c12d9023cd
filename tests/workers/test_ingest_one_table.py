"""One idf table a language in an index."""

import shutil
from pathlib import Path

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.runs import summary
from workers.conftest import fill

OTHER = Table.build("en", 9_000, {"people": 10.0, "union": 9.0}, "another test")


@pytest.fixture
def ingest_settings(settings: Settings, tables_folder: Path, tmp_path: Path) -> Settings:
    shutil.copytree(tables_folder, tmp_path / "tables")
    return settings.model_copy(update={"tables": tmp_path / "tables"})


@pytest.mark.slow
def test_an_index_of_another_table_takes_no_more_and_the_command_that_mends_it_is_named(
    ingest_settings: Settings,
) -> None:
    fill([Document("a", "We the People of the United States")], ingest_settings)
    Tables(ingest_settings.tables).use(OTHER)
    with pytest.raises(UsageError, match=r"1 documents signed with .* backfill --into NAME") as error:
        ingest_documents([Document("b", "in Order to form a more perfect Union")], ingest_settings)
    assert OTHER.name in str(error.value)


@pytest.mark.slow
def test_the_first_table_back_in_use_or_one_of_another_language_is_no_reason(
    engine: Engine, ingest_settings: Settings
) -> None:
    tables = Tables(ingest_settings.tables)
    first = tables.of("en")
    assert first is not None
    fill([Document("a", "We the People of the United States")], ingest_settings)
    tables.use(OTHER)
    tables.use(first)
    tables.use(Table.build("la", 9_000, {"populus": 10.0}, "Latin"))
    run = fill([Document("b", "populus romanus", language="la")], ingest_settings)
    assert summary(engine, run)["indexed"] == 1
