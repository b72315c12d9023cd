"""Documents that can be signed are signed as they are."""

from dataclasses import replace

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import Engine, SourceDocument
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import has_words, is_current, refusal, signed_records
from ibidem_workers.backfill.checkpoint import read_all
from ibidem_workers.ingest import ingest_documents


@pytest.fixture
def source_document(settings: Settings, engine: Engine) -> SourceDocument:
    ingest_documents([Document("a", "We the People of the United States", version=5)], settings)
    source = open_reindex_source(settings.address, settings.index)
    ((document,),) = read_all(source, source.newest())
    source.close()
    return document


@pytest.mark.slow
def test_a_document_is_current_until_anything_of_it_is_otherwise(
    source_document: SourceDocument, settings: Settings
) -> None:
    tables = Tables(settings.tables)
    assert is_current(source_document, tables)
    for other in (
        replace(source_document, document=replace(source_document.document, title="another")),
        replace(source_document, document=replace(source_document.document, language="xx")),
        replace(source_document, schema="0"),
        replace(source_document, idf="00"),
        replace(source_document, packed=b""),
    ):
        assert not is_current(other, tables)


@pytest.mark.slow
def test_a_record_keeps_the_version_of_the_document(source_document: SourceDocument, settings: Settings) -> None:
    (record,) = signed_records([replace(source_document, version=9)], Tables(settings.tables), settings)
    assert (record.version, record.digest, record.packed) == (9, source_document.digest, source_document.packed)
    assert has_words(source_document)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "limit", "why"), [("it is missing", 100, "IBIDEM_FIELDS"), ("", 5, "IBIDEM_MAX_TEXT")]
)
def test_a_refusal_names_document_field_and_what_to_do(
    source_document: SourceDocument, fault: str, limit: int, why: str
) -> None:
    result = refusal(replace(source_document, fault=fault), "body.content", limit)
    assert result is not None
    assert (result.where, result.id, result.field) == ("index ibidem", "a", "body.content")
    assert why in result.why
    assert refusal(source_document, "text", 100) is None
