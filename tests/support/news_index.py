"""Fixtures of the tests of the dedupe layer: generated texts with versions, signed, in an index."""

from collections.abc import Iterator

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from support.leases import english_tables
from support.windows import SampleWindow, counts, documents


@pytest.fixture(scope="session")
def stories() -> list[Document]:
    """Some two hundred texts: families of versions, in no order."""
    return documents(7, 60, 6)


@pytest.fixture(scope="session")
def story_tables(tmp_path_factory: pytest.TempPathFactory, stories: list[Document]) -> Tables:
    return english_tables(tmp_path_factory.mktemp("tables"), dict(counts(stories)))


@pytest.fixture(scope="session")
def records(stories: list[Document], story_tables: Tables) -> list[Record]:
    pairs = zip(stories, sign(stories, story_tables), strict=True)
    return [
        Record(each, signatures, at + 1, f"{at:032x}", pack(each, signatures))
        for at, (each, signatures) in enumerate(pairs)
    ]


@pytest.fixture(scope="session")
def news_window(records: list[Record]) -> SampleWindow:
    return SampleWindow([each.packed for each in records])


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, records: list[Record]) -> Iterator[Engine]:
    """An index that holds the stories; tests only read it."""
    engine = open_engine(f"sqlite:///{tmp_path_factory.mktemp('library')}/index.sqlite", "news")
    engine.create()
    engine.write(records)
    yield engine
    engine.close()
