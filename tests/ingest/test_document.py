"""A record becomes a document with a date of one meaning, or a refusal that says where, which field, and why."""

import lzma
import zlib
from datetime import UTC, date, datetime, timedelta, timezone

import lxml.etree
import pypdfium2
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.dates import interval, iso_date
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


EPOCH = date(1980, 1, 1)


def days(day: date) -> int:
    return (day - EPOCH).days


@given(st.dates())
def test_a_day_covers_itself(day: date) -> None:
    assert interval(day.isoformat()) == (days(day), days(day))


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)),  # noqa: DTZ001 - the zone is drawn separately
    st.integers(-23 * 60, 23 * 60),
)
def test_a_time_with_a_zone_falls_on_the_day_it_has_in_utc(time: datetime, minutes: int) -> None:
    zoned = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    day = days(zoned.astimezone(UTC).date())
    assert interval(zoned.isoformat()) == (day, day)


@pytest.mark.parametrize(
    "text",
    [
        "1787.", "1787-", "1787-9", "1787-13", "1787-02-29", "1787-02-30T12:00:00Z", "0000", "0000-01", "10000",
        "-0044", "19800101", "1980-01-01T25:00:00", "1980-01-01x12:00", "1980-01-01T", "17 Sept 1787", "1787/09/17",
        "1787\n", "١٧٨٧", "0001-01-01T00:00:00+02:00", "9999-12-31T23:00:00-02:00", "null",
        " 1787", "1980-01-01T12:00:00+25:00",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"is not a date.*; write a year \(1787\), a month \(1787-09\), a day"
    ) as error:
        interval(text)
    assert repr(text) in str(error.value)


@given(st.text(max_size=30) | st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.Z+-]{0,15}\Z"))
def test_whatever_is_written_is_an_interval_of_32_bits_or_a_value_error(text: str) -> None:
    try:
        first, last = interval(text)
    except ValueError:
        return
    assert (first is None) == (last is None) == (text == "")
    assert -(2**31) < (first or 0) <= (last or 0) < 2**31


DAYS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - days of a calendar


@given(DAYS)
def test_the_shapes_that_mean_one_day_are_that_day(time: datetime) -> None:
    day = interval(time.date().isoformat())
    shapes = ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y%m%d", "%Y%m%dT%H%M%SZ", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S")
    for shape in shapes:
        text = time.strftime(shape)
        assert interval(iso_date(text)) == day, text


@pytest.mark.parametrize("value", ["10/11/1987", "last week", "2024-13-01", "1987/13/01", True, None, {}, "", 10**18])
def test_what_may_be_two_days_or_none_is_no_date(value: object) -> None:
    assert iso_date(value) == ""


@given(st.dates())
def test_a_month_and_a_year_begin_and_end_with_their_first_and_last_day(day: date) -> None:
    first, last = interval(day.isoformat()[:7])
    assert first == days(day.replace(day=1))
    assert (EPOCH + timedelta(last or 0)).month == day.month
    assert interval(day.isoformat()[:4]) == (days(day.replace(month=1, day=1)), days(day.replace(month=12, day=31)))


@given(st.datetimes())
def test_a_time_without_a_zone_is_utc(time: datetime) -> None:
    assert interval(time.isoformat()) == interval(time.isoformat(sep=" ")) == interval(time.date().isoformat())


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001 - the zone follows
def test_seconds_and_milliseconds_are_the_same_day(time: datetime) -> None:
    seconds = int(time.replace(tzinfo=UTC).timestamp())
    day = interval(time.date().isoformat())
    if seconds >= 10**8:
        assert interval(iso_date(seconds)) == interval(iso_date(str(seconds))) == day
        assert interval(iso_date(1000 * seconds)) == interval(iso_date(f"{1000 * seconds}")) == day


def test_a_year_or_a_month_keeps_its_whole_interval() -> None:
    assert [iso_date(value) for value in (1787, "1787", "1787-09")] == ["1787", "1787", "1787-09"]
