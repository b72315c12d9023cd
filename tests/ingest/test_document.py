"""A record becomes a document, or a refusal that says where, which field, which value and what would be right."""

import lzma
import zlib

import lxml.etree
import pypdfium2
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document, has_unread_date, read_record
from ibidem_ingest.errors import SENTENCES, Refusal, Refused, Unreadable, short_repr, translate_errors

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
NAMES = TEXTS.filter(lambda name: 0 < len(name.encode()) <= 512)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=5,
)
DOCUMENTS = st.builds(
    Document,
    id=NAMES,
    text=TEXTS,
    title=TEXTS,
    date=st.sampled_from(["", "1787", "1787-09", "1787-09-17", "2024-02-29T12:00:00Z"]),
    source=TEXTS,
    url=TEXTS,
    language=st.sampled_from(["en", "de", "grc"]),
    version=st.none() | st.integers(-(2**63), 2**63 - 1),
    meta=st.dictionaries(TEXTS, JSON, max_size=3),
)


def refusal(max_text: int = 100, **record: object) -> Refusal:
    with pytest.raises(Refused) as refusal:
        read_record(record, "cases.jsonl:7", max_text)
    return refusal.value.refusal


@given(DOCUMENTS)
def test_a_document_survives_the_way_through_a_message(document: Document) -> None:
    assert read_record(document.as_record(), "message") == document


@given(
    st.dictionaries(
        st.sampled_from(["id", "text", "pages", "date", "version", "meta", "language", "x"]), JSON | st.text()
    )
)
def test_whatever_a_record_holds_it_becomes_a_document_or_a_refusal(record: dict[str, object]) -> None:
    try:
        document = read_record(record, "f:1", max_text=50)
    except Refused as refusal:
        read = refusal.refusal
    else:
        read = read_record(document.as_record(), "f:1", max_text=50)
    assert read == document if isinstance(read, Document) else (read.where, bool(read.why)) == ("f:1", True)


@given(st.text(st.characters()), st.text(st.characters()))
def test_a_refusal_can_travel_whatever_it_refuses(id_: str, date: str) -> None:
    "".join(refusal(id=id_, date=date, text=None).as_json().values()).encode()


@pytest.mark.parametrize(
    ("record", "field", "why"),
    [
        ({"text": "a"}, "id", "it is missing; give each document a different id"),
        ({"id": None, "text": "a"}, "id", "it is missing"),
        ({"id": "", "text": "a"}, "id", "it is empty"),
        ({"id": [1], "text": "a"}, "id", "[1] is a list; write a string"),
        ({"id": {}, "text": "a"}, "id", "{} is an object"),
        ({"id": True, "text": "a"}, "id", "True is true or false"),
        ({"id": 1.5, "text": "a"}, "id", "1.5 is a number"),
        ({"id": "é" * 257, "text": "a"}, "id", "has 514 bytes of UTF-8; at most 512 are allowed"),
        ({"id": "a\x00b", "text": "a"}, "id", "a null byte at character 1"),
        ({"id": "a\ud800", "text": "a"}, "id", "a lone surrogate (U+D800) at character 1"),
        ({"id": "a"}, "text", "it is missing; write `text`"),
        ({"id": "a", "text": None}, "text", "it is null"),
        ({"id": "a", "text": 3}, "text", "3 is a number; write a string"),
        ({"id": "a", "text": "one\x00"}, "text", "a null byte at character 3, in 'one\\x00'"),
        ({"id": "a", "text": "one\udfff"}, "text", "a lone surrogate (U+DFFF) at character 3"),
        ({"id": "a", "text": "x" * 101}, "text", "101 characters, at most 100 are allowed; split the document"),
        ({"id": "a", "pages": ["x" * 50, "x" * 50]}, "pages", "101 characters, at most 100"),
        ({"id": "a", "pages": "x"}, "pages", "'x' is a string; write a list of strings"),
        ({"id": "a", "pages": ["x", 3]}, "pages", "page 2, 3, is a number"),
        ({"id": "a", "text": "we the people", "pages": ["we the", "persons"]}, "pages", "disagrees with `text`"),
        ({"id": "a", "text": "", "title": ["T"]}, "title", "['T'] is a list; write a string"),
        ({"id": "a", "text": "", "title": "T\ud800"}, "title", "a lone surrogate"),
        ({"id": "a", "text": "", "date": ["1787"]}, "date", "['1787'] is a list; write a string"),
        ({"id": "a", "text": "", "date": "1787\x00"}, "date", "a null byte at character 4"),
        ({"id": "a", "text": "", "language": "english"}, "language", "'english' is not a code; write one of ISO 639-1"),
        ({"id": "a", "text": "", "version": True}, "version", "True is not a whole number"),
        ({"id": "a", "text": "", "version": 1.0}, "version", "1.0 is not a whole number"),
        ({"id": "a", "text": "", "version": "3"}, "version", "'3' is not a whole number"),
        ({"id": "a", "text": "", "version": 2**63}, "version", "9223372036854775808 is not a whole number of 64 bits"),
        ({"id": "a", "text": "", "meta": ["x"]}, "meta", "['x'] is a list; write an object"),
        ({"id": "a", "text": "", "meta": {"x": "\ud800"}}, "meta", "cannot be written as JSON"),
        ({"id": "a", "text": "", "court": {1, 2}}, "meta", "cannot be written as JSON"),
    ],
)
def test_a_refusal_names_the_field_the_value_and_what_would_be_right(
    record: dict[str, object], field: str, why: str
) -> None:
    outcome = refusal(**record)
    assert (outcome.where, outcome.field) == ("cases.jsonl:7", field)
    assert why in outcome.why


def test_an_id_at_fault_is_named_so_that_every_terminal_and_message_takes_it() -> None:
    assert refusal(id="a\ud800\x00", text="").id == "a\\ud800\\x00"
    assert refusal(id="x" * 1_000, text="").id == "x" * 60 + "…"


def test_the_longest_text_and_the_longest_id_are_taken() -> None:
    assert read_record({"id": "é" * 256, "text": "x" * 10}, "f:1", max_text=10).text == "x" * 10


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"pages": ["We the", "", "People"]}, "We the\f\fPeople"),
        ({"pages": ["one\f", "two"]}, "one\n\ftwo"),
        ({"text": " We the\n\nPeo ple", "pages": ["We", "the People "]}, "We\fthe People "),
    ],
    ids=["joined", "a form feed inside one", "text that agrees but for white space"],
)
def test_pages_are_joined_by_form_feeds_and_found_again(record: dict[str, object], text: str) -> None:
    document = read_record({"id": "a", **record}, "f:1")
    assert (document.text, document.pages) == (text, tuple(text.split("\f")))


@pytest.mark.slow
def test_a_text_is_as_long_as_what_its_characters_stand_for() -> None:
    assert read_record({"id": "a", "text": "\ufdfa" * 5}, "a", 90).text == "\ufdfa" * 5
    with pytest.raises(Refused, match="6 characters that stand for 108 characters, at most 90"):
        read_record({"id": "a", "text": "\ufdfa" * 6}, "a", 90)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon, 19 Oct 1987 09:30:00 GMT", "1987-10-19T09:30:00+00:00"),
        ("19 Oct 1987 09:30 -0500 (EST)", "1987-10-19T09:30:00-05:00"),
        ("19.10.1987", "1987-10-19"),
        ("1987/10/19", "1987-10-19"),
        ("1987-10-19 03:15 PM", "1987-10-19"),
        ("1987-W43-1", "1987-10-19"),
        ("Monday, October 19, 1987 at 3:15 p.m. EST", "1987-10-19"),
        ("19 octobre 1987", "1987-10-19"),
        ("October 1987", "1987-10"),
        ("13/10/1987", "1987-10-13"),
        ("10-13-1987", "1987-10-13"),
        ("1987年10月19日", "1987-10-19"),
        ("1987년 10월 19일", "1987-10-19"),
        ("昭和62年10月19日", "1987-10-19"),
        ("平成元年1月8日", "1989-01-08"),
    ],
)
def test_dates_are_read_by_the_rule_for_indexes_of_others(text: str, expected: str) -> None:
    assert read_record({"id": "a", "text": "", "date": text}, "f:1").date == expected


@pytest.mark.parametrize(
    "written",
    [
        "03/04/2024", "03-04-2024", "44 BC", "44 BCE", "3 March 1787 BC", "circa 1787", "c. March 1787",
        "before March 4, 1787", "1787-1790", "4.3.2024 - 5.3.2024", "4.3.2024 05.03.2024", "2024-02-30", "2024-13-01",
        "0000-00-00", "30 February 1987", "2024-W60-1", "4.3.24", "spring 1987", "soon", "天保3年1月8日", "x" * 10_000,
    ],
)  # fmt: skip
def test_a_date_without_exactly_one_reading_is_a_note_on_a_document_without_a_date(written: str) -> None:
    document = read_record({"id": "a", "text": "We the People", "date": written, "court": "9th Cir."}, "f:1")
    assert (document.date, document.meta) == ("", {"date": written, "court": "9th Cir."})
    assert has_unread_date(document)
    again = read_record(document.as_record(), "f:1")
    assert again == document


ANY = st.text(st.characters())


@given(ANY | st.recursive(st.none() | ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_every_value_is_shown_short_and_without_half_a_surrogate_pair(value: object) -> None:
    assert len(short_repr(value).encode()) <= 60 * 10 + 5


ERRORS = [
    (zlib.error("crc"), "compressed data is damaged"),
    (lzma.LZMAError("crc"), "compressed data is damaged"),
    (zstandard.ZstdError("crc"), "compressed data is damaged"),
    (EOFError("end"), "ends in the middle"),
    (PermissionError(13, "Permission denied"), r"cannot be read \(Permission denied\)"),
    (pypdfium2.PdfiumError("x", err_code=4), "it is encrypted; .* qpdf --decrypt"),
    (pypdfium2.PdfiumError("Data format error", err_code=3), r"not a PDF, or damaged \(PDFium: Data format error\)"),
    (lxml.etree.ParserError("x"), "it is not HTML"),
    (RecursionError("x"), "nested too deeply"),
    (UnicodeDecodeError("utf-8", b"ab\xff", 2, 3, "x"), "not UTF-8: byte 0xff at offset 2; .* iconv"),
    (UnicodeError("label too long"), "cannot be decoded"),
]


@pytest.mark.parametrize(("error", "sentence"), ERRORS, ids=lambda value: type(value).__name__)
def test_what_a_library_raises_becomes_a_sentence(error: Exception, sentence: str) -> None:
    with pytest.raises(Unreadable, match=sentence) as unreadable, translate_errors():
        raise error
    assert unreadable.value.__cause__ is error


def test_every_row_of_the_table_is_tried_here() -> None:
    classes = {(cls.__module__.partition(".")[0], cls.__name__) for error, _ in ERRORS for cls in type(error).__mro__}
    assert set(SENTENCES) <= classes
