"""A stored record is read back unchanged, and our fields are all in one object."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.address import Fields, parse_fields
from ibidem_engines.cluster.source import (
    UnstorableRecord,
    as_document,
    as_source,
    iso_day,
    read_idf,
    read_version,
)
from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from support.signed_records import make_record

OWN = Fields()
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
DOCUMENTS = st.builds(
    Document,
    id=TEXT.filter(bool),
    text=TEXT,
    title=TEXT,
    date=st.sampled_from(["", "1787", "1787-09", "1787-09-17", "1787-09-17T12:00:00Z"]),
    source=TEXT,
    url=TEXT,
    language=st.sampled_from(["en", "de"]),
    meta=st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(-9, 9) | TEXT | st.lists(TEXT), max_size=4),
)


@given(DOCUMENTS, st.sampled_from(["full", "lean"]))
def test_a_document_is_put_together_again(document: Document, layout: str) -> None:
    record = replace(make_record("a"), document=document)
    source = orjson.loads(as_source(record, OWN, layout))
    assert as_document(document.id, source, OWN) == document
    assert (read_version(source), read_idf(source)) == (record.version, record.signatures.idf)


@pytest.mark.parametrize("name", ["headline", "ibidem"])
def test_a_value_of_meta_that_would_overwrite_a_field_is_refused(name: str) -> None:
    fields = parse_fields("title=headline,meta=")
    with pytest.raises(UnstorableRecord, match=name):
        as_source(make_record("a", title="Grain", meta={name: "y"}), fields, "full")


def test_a_document_that_ibidem_never_wrote_is_read_as_far_as_its_fields_say_what_ours_do() -> None:
    fields = parse_fields("title=headline,text=body,date=published,meta=")
    source = {"headline": ["One", "Two"], "body": 7, "published": "last week", "place": "Chicago"}
    document = as_document("t", source, fields)
    assert (document.title, document.text, document.date) == ("One\nTwo", "7", "")
    unread = {"place": "Chicago", "published": "last week"}
    assert (document.meta, document.version, read_version(source), read_idf(source)) == (unread, None, 0, "")


@given(st.dates())
def test_a_day_is_written_as_it_was_read(day: object) -> None:
    first, _ = interval(str(day))
    assert first is not None
    assert iso_day(first) == str(day)
