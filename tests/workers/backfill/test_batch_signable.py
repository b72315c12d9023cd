"""What can be signed, and what is signed as it is."""

from dataclasses import replace

import pytest

from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine
from ibidem_engines.reindex import SourceDocument
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import has_words, is_current, refusal, signed_records
from ibidem_workers.backfill.paging import everything
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.settings import Settings


@pytest.fixture
def held(settings: Settings, engine: Engine) -> SourceDocument:
    ingest_documents([Document("a", "We the People of the United States", version=5)], settings)
    holding = open_reindex_source(settings.address, settings.index)
    ((one,),) = everything(holding, holding.newest())
    holding.close()
    return one


def test_a_document_is_current_until_anything_of_it_is_otherwise(held: SourceDocument, settings: Settings) -> None:
    tables = Tables(settings.tables)
    assert is_current(held, tables)
    for other in (
        replace(held, document=replace(held.document, title="another")),
        replace(held, document=replace(held.document, language="xx")),
        replace(held, schema="0"),
        replace(held, idf="00"),
        replace(held, packed=b""),
    ):
        assert not is_current(other, tables)


def test_a_record_keeps_the_version_of_the_document(held: SourceDocument, settings: Settings) -> None:
    (record,) = signed_records([replace(held, version=9)], Tables(settings.tables), settings)
    assert (record.version, record.digest, record.packed) == (9, held.digest, held.packed)
    assert has_words(held)


@pytest.mark.parametrize(
    ("fault", "most", "why"), [("it is missing", 100, "IBIDEM_FIELDS"), ("", 5, "IBIDEM_MAX_TEXT")]
)
def test_a_refusal_names_document_field_and_what_to_do(held: SourceDocument, fault: str, most: int, why: str) -> None:
    found = refusal(replace(held, fault=fault), "body.content", most)
    assert found is not None
    assert (found.where, found.id, found.field) == ("index ibidem", "a", "body.content")
    assert why in found.why
    assert refusal(held, "text", 100) is None
