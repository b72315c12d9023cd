"""From documents to records."""

from dataclasses import replace

from ibidem_core.settings import Settings
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import unpack

DOCUMENT = Document("a", "We the People of the United States", version=7, meta={"docket": "12-1"})


def test_a_record_holds_document_signatures_version_digest_and_packed_value(settings: Settings) -> None:
    (record,) = records([DOCUMENT], Tables(settings.tables))
    packed = unpack(record.packed)
    assert (record.document, record.version, len(record.digest)) == (DOCUMENT, 7, 32)
    assert packed is not None
    assert (packed.id, packed.length) == ("a", record.signatures.length)


def test_the_version_alone_does_not_change_the_digest(settings: Settings) -> None:
    first_record, other = records(
        [replace(DOCUMENT, version=8), replace(DOCUMENT, title="new")], Tables(settings.tables)
    )
    (first,) = records([DOCUMENT], Tables(settings.tables))
    assert (first_record.digest == first.digest, other.digest == first.digest) == (True, False)


def test_fields_that_must_not_differ_go_into_the_packed_value(settings: Settings) -> None:
    tables = Tables(settings.tables)
    (baseline,), (guarded,) = records([DOCUMENT], tables), records([DOCUMENT], tables, ("meta.docket",))
    assert baseline.packed != guarded.packed
