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
    filter_value,
    iso_day,
    read_idf,
    read_version,
    signed_part,
)
from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.content import group_name
from ibidem_ingest.signatures.packed import pack
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


def test_in_an_index_of_others_all_of_ours_is_one_object() -> None:
    fields = parse_fields("title=headline,text=article.body,meta=")
    record = make_record("a", "grain", title="Grain", meta={"court": "9th"})
    source = orjson.loads(as_source(record, fields, "full"))
    assert sorted(source) == ["article", "court", "headline", "ibidem", "language"]
    assert (source["headline"], source["article"]) == ("Grain", {"body": "grain"})
    assert source["ibidem"]["version"] == 1
    assert as_document("a", source, fields).meta == {"court": "9th"}


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


def test_a_missing_or_weak_signature_has_a_value_that_no_other_document_shares() -> None:
    short, weak = make_record("short", "grain"), make_record("weak")
    weak_signatures = replace(weak.signatures, weak=True)
    weak = replace(weak, signatures=weak_signatures, packed=pack(weak.document, weak_signatures))
    own_part = orjson.loads(as_source(short, OWN, "full"))["ibidem"]
    assert own_part["profile"] == "tp1:none:short"
    own_part = orjson.loads(as_source(weak, OWN, "full"))["ibidem"]
    assert own_part["fingerprint"] == "fp1:none:weak"


def test_an_unsigned_record_claims_no_schema() -> None:
    own_part = orjson.loads(as_source(replace(make_record("a"), packed=b""), OWN, "full"))["ibidem"]
    assert not own_part.keys() & {"schema", "packed", "content", "keys", "length"}


def test_the_lean_layout_repeats_no_hash_next_to_the_packed_value_but_that_of_the_content() -> None:
    own_part = orjson.loads(as_source(make_record("a"), OWN, "lean"))["ibidem"]
    assert not own_part.keys() & {"fingerprint", "profile"}
    assert len(own_part["keys"].split()) == 33 + 2
    own_part = orjson.loads(as_source(make_record("a"), OWN, "full"))["ibidem"]
    assert len(own_part["keys"].split()) == 33


def test_a_document_leads_a_group_of_its_own_when_it_is_written_and_when_it_is_signed_again() -> None:
    record = make_record("a")
    own_part = orjson.loads(as_source(record, OWN, "full"))["ibidem"]
    assert (own_part["group"], own_part["lead"]) == (group_name("a"), True)
    parts = orjson.loads(signed_part(record, "full", ["group", "lead", "bands"]))["doc"]["ibidem"]
    assert (parts["group"], parts["lead"]) == (group_name("a"), True)
    assert parts["bands"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "half \ud800"}, "title"),
        ({"meta": {"big": 1 << 70}}, "meta"),
        ({"id": "x" * 513}, "id"),
        ({"version": 1 << 63}, "version"),
        ({"date": "yesterday"}, "date"),
    ],
)
def test_what_no_server_can_hold_is_refused_by_field(change: dict[str, object], field: str) -> None:
    record = make_record("a")
    record = replace(record, document=replace(record.document, **change))
    with pytest.raises(UnstorableRecord) as raised:
        as_source(record, OWN, "full")
    assert raised.value.field == field


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"court": "9th"}, ["court=9th"]),
        ({"court": ["9th", "2d"]}, ["court=2d", "court=9th"]),
        ({"open": True, "pages": 3, "share": 0.5}, ["open=true", "pages=3", "share=0.5"]),
        ({"none": None, "inner": {"a": 1}}, None),
    ],
)
def test_filters_find_the_plain_values_of_meta(meta: dict[str, object], expected: list[str] | None) -> None:
    assert orjson.loads(as_source(make_record("a", meta=meta), OWN, "full"))["ibidem"].get("meta") == expected


def test_a_long_value_is_found_by_its_hash() -> None:
    assert filter_value("a", "x" * 5_000) == filter_value("a", "x" * 5_000)
    assert len(filter_value("a", "x" * 5_000)) < 40


@given(st.dates())
def test_a_day_is_written_as_it_was_read(day: object) -> None:
    first, _ = interval(str(day))
    assert first is not None
    assert iso_day(first) == str(day)
