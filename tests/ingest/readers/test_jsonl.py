"""Each line or row is a document or a refusal of its own; a bad one, or one without measure, harms no other."""

import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import compression, inputs
from ibidem_ingest.readers.formats import Choice, Tally
from ibidem_ingest.readers.jsonl import read
from ingest.readers.test_inputs import COMPRESS
from ingest.readers.test_sandbox import packed_pdf
from support.pdf_files import pdf
from support.readings import parted

GOOD = b'{"id": "good", "text": "We the People"}\n'
GOOD_DOCUMENT = Document("good", "We the People")


@pytest.fixture
def reading(tmp_path: Path) -> Callable[..., list[Document | Refusal]]:
    def read_bytes(data: bytes, max_text: int = 1_000, name: str = "f.jsonl") -> list[Document | Refusal]:
        path = tmp_path / name
        path.write_bytes(data)
        return list(read(path, "f.jsonl", max_text, Tally()))

    return read_bytes


Reading = Callable[..., list[Document | Refusal]]


@pytest.mark.parametrize(
    ("line", "id_", "field", "why"),
    [
        (b"{not json}", "", "", "not JSON: "),
        (b'{"id": "a", "text": }', "a", "", "(column 21, at "),
        (b'{"id": "a", "text": "x"', "a", "", "not JSON: unexpected end of data"),
        (b'{"id": 12, "text": NaN}', "12", "", "not JSON"),
        (b'{"id": "a", "meta": {"x": ' + b"[" * 2_000 + b"]" * 2_000 + b"}}", "a", "", "not JSON: depth limit"),
        (b'["id", "text"]', "", "", "a list, not an object"),
        (b'"text"', "", "", "a string, not an object"),
        (
            b'{"id": "caf\xe9", "text": "x"}',
            "",
            "",
            "not UTF-8: byte 0xe9 at offset 11; if it is text, name its encoding",
        ),
        (b'{"id": "a", "text": "\xff"}', "a", "", "not UTF-8: byte 0xff at offset 21"),
        (b'{"text": "x"}', "", "id", "it is missing"),
        (b'{"id": "a"}', "a", "text", "it is missing"),
        (b'{"id": "a", "text": "x\\u0000"}', "a", "text", "a null byte at character 1"),
        (b'{"id": "a", "text": "x\\ud800"}', "a", "text", "a lone surrogate (U+D800) at character 1"),
        (b'{"id": "\\udc00a", "text": "x"}', "\\udc00a", "id", "a lone surrogate (U+DC00) at character 0"),
        (b'{"id": "a", "text": "x", "meta": {"x": "\\ud800"}}', "a", "meta", "surrogates not allowed"),
        (b'{"id": "a", "text": "\\ud800"', "a", "", "not JSON"),
        (b'{"id": "a", "text": "' + b"x" * 1_001 + b'"}', "a", "text", "1,001 characters, at most 1,000"),
        (b'{"id": "a", "text": "' + b"x" * 100_000 + b'"}', "a", "text", "more than 71,536 bytes"),
        (b"{" + b" " * 100_000 + b'"id": "a"}', "", "text", "split the document or raise IBIDEM_MAX_TEXT"),
    ],
)
def test_a_bad_line_is_refused_with_place_id_and_reason_and_the_others_go_on(
    reading: Reading, line: bytes, id_: str, field: str, why: str
) -> None:
    documents, (refusal,) = parted(reading(GOOD + line + b"\n" + GOOD))
    assert documents == [GOOD_DOCUMENT] * 2
    assert (refusal.where, refusal.id, refusal.field) == ("f.jsonl:2", id_, field)
    assert why in refusal.why


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_do_no_harm(reading: Reading) -> None:
    assert reading(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") + b"\n  \n" + GOOD.rstrip()) == [
        GOOD_DOCUMENT,
        GOOD_DOCUMENT,
    ]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_a_file_without_any_line_is_refused_as_empty(reading: Reading, data: bytes) -> None:
    assert reading(data) == [Refusal("f.jsonl", "", "", "it is empty; leave it out, or give one JSON object per line")]


MANY = b"".join(b'{"id": %d, "text": "%d"}\n' % (number, number**50) for number in range(5_000))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESS)
def test_of_a_damaged_file_the_rest_is_one_refusal(reading: Reading, suffix: str) -> None:
    content = bytearray(COMPRESS[suffix](MANY))
    content[len(content) // 2 : len(content) // 2 + 40] = b"\xff" * 40
    _, refusals = parted(reading(bytes(content), name=f"f.jsonl{suffix}"))
    assert "damaged" in refusals[-1].why


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b""))))
def test_any_bytes_between_two_documents_leave_both_alone(
    tmp_path_factory: pytest.TempPathFactory, noise: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.jsonl"
    path.write_bytes(GOOD + b"\n".join(noise) + b"\n" + GOOD)
    first, *middle, last = read(path, "f", 1_000, Tally())
    assert first == last == GOOD_DOCUMENT
    assert all(isinstance(outcome, Refusal) for outcome in middle)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("size", [991, 2_997])
def test_every_line_that_the_rest_of_a_cut_file_unpacks_into_is_read(reading: Reading, suffix: str, size: int) -> None:
    content = COMPRESS[suffix](b"".join(MANY.splitlines(keepends=True)[:size]))[:-20]
    unpacker = {
        ".gz": zlib.decompressobj(31),
        ".xz": lzma.LZMADecompressor(),
        ".zst": zstandard.ZstdDecompressor().decompressobj(),
    }[suffix]
    whole = unpacker.decompress(content).count(b"\n")
    documents, (refusal,) = parted(reading(content, name=f"f.jsonl{suffix}"))
    assert [each.id for each in documents] == [str(number) for number in range(whole)]
    assert refusal.where == (f"f.jsonl:{whole + 1}" if whole else "f.jsonl")
    assert "ends in the middle; fetch or create the file again" in refusal.why


def test_of_a_line_that_was_cut_the_refusal_names_the_document(reading: Reading) -> None:
    pack = zlib.compressobj(wbits=31)
    cut = pack.compress(GOOD + GOOD[:-6]) + pack.flush(zlib.Z_SYNC_FLUSH)
    documents, (refusal,) = parted(reading(cut, name="f.jsonl.gz"))
    assert documents == [GOOD_DOCUMENT]
    assert (refusal.where, refusal.id, "ends in the middle" in refusal.why) == ("f.jsonl:2", "good", True)


DEEP = 100_000
NEXT_LINE = b'{"id": "good", "text": "So ordered."}\n'
SENTENCE = b"The export duty on wheat was raised by the ministry on Monday, officials said."
LINES = {
    "brackets": b'{"id": "a", "text": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "brackets that stay open": b"[" * DEEP,
    "objects": b'{"id": "a", "text": "a", "meta": ' + b'{"a": ' * DEEP + b"1" + b"}" * DEEP + b"}",
    "objects that JSON reads and does not write": b'{"id": "a", "text": "a", "meta": '
    + b'{"a": ' * 1_000
    + b"1"
    + b"}" * 1_000
    + b"}",
    "a lone surrogate and brackets": b'{"id": "a", "text": "\\ud800", "meta": {"a": '
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}}",
    "a lone surrogate and digits": b'{"id": "a", "text": "\\ud800", "meta": {"a": ' + b"9" * 1_000_000 + b"}}",
    "an exponent": b'{"id": "a", "text": "a", "version": 1e999999}',
    "a negative exponent of an id": b'{"id": -1e999999, "text": "a"}',
    "a million digits": b'{"id": "a", "text": "a", "meta": {"a": ' + b"9" * 1_000_000 + b"}}",
    "an id of a million digits": b'{"id": ' + b"9" * 1_000_000 + b', "text": "a"}',
}
PAGES = {
    "divisions": b"<div>" * DEEP + b"<p>" + SENTENCE,
    "tables": b"<table><tr><td>" * (DEEP // 5) + b"<p>" + SENTENCE,
    "words in bold": b"<p>" + b"<b>" * DEEP + SENTENCE,
    "entities of entities": b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><p>&b; ' + SENTENCE,
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_line_that_nests_or_counts_without_measure_is_refused_and_the_next_is_read(
    tmp_path: Path, line: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b"\n" + NEXT_LINE)
    (_,), (refusal,) = parted(inputs.read([path]))
    assert len(refusal.why) < 500


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_that_nests_without_measure_is_read_or_refused_and_the_next_is_read(tmp_path: Path, page: bytes) -> None:
    (tmp_path / "a.html").write_bytes(b"<html><body>" + page)
    (tmp_path / "b.html").write_bytes(b"<html><body><p>" + SENTENCE)
    first, good = inputs.read([tmp_path / "a.html", tmp_path / "b.html"], seconds=60)
    assert isinstance(first, Refusal) or len(first.text) < 2 * len(SENTENCE)
    assert isinstance(good, Document)


def test_a_zstd_file_that_asks_for_a_window_of_gigabytes_is_damaged(tmp_path: Path) -> None:
    magic, window = b"\x28\xb5\x2f\xfd\x00", (31 - 10) << 3
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(magic + bytes([window]) + b"\x01\x00\x00")
    _, (refusal,) = parted(inputs.read([path]))
    assert "damaged" in refusal.why


@pytest.mark.slow
@pytest.mark.parametrize("layers", [3])
def test_a_pdf_packed_several_times_over_is_refused_and_the_next_is_read(tmp_path: Path, layers: int) -> None:
    (tmp_path / "bomb.pdf").write_bytes(packed_over(layers, 1 << 28))
    (tmp_path / "good.pdf").write_bytes(pdf([["Twelve and Co."]]))
    found = parted(inputs.read([tmp_path / "bomb.pdf", tmp_path / "good.pdf"], max_text=10_000, seconds=60))
    assert [len(each) for each in found] == [1, 1]


def packed_over(layers: int, size: int) -> bytes:
    """Write a PDF of one page whose blanks are packed so many times; 256 MB become a few hundred bytes."""
    packer = zlib.compressobj(9)
    piece = b" " * (1 << 20)
    stream = b"".join([*(packer.compress(piece) for _ in range(size >> 20)), packer.flush()])
    for _ in range(layers - 1):
        stream = zlib.compress(stream, 9)
    return packed_pdf(stream, layers)


BLANK = "blank lines"
NO_DOCUMENTS = {BLANK: b"\n" * (1 << 20), "empty records": b"{}\n" * (1 << 18), "one line": b" " * (1 << 20)}


def packed(size: int, piece: bytes) -> bytes:
    """Compress many times the same piece, after one document."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([packer.compress(NEXT_LINE), *(packer.compress(piece) for _ in range(size)), packer.flush()])


@pytest.mark.slow
def test_many_megabytes_of_blank_lines_are_passed_by_in_seconds_and_the_lines_after_them_keep_their_numbers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed(1 << 6, NO_DOCUMENTS[BLANK]) + zlib.compress(b"{}\n" + NEXT_LINE, wbits=31))
    (_, _), (refusal,) = parted(inputs.read([path], seconds=30))
    assert refusal.where == f"{path}:{2 + (1 << 26)}"


@pytest.mark.slow
@pytest.mark.parametrize("piece", NO_DOCUMENTS.values(), ids=NO_DOCUMENTS)
def test_a_file_that_gives_no_document_for_too_long_is_left_and_the_next_is_read(tmp_path: Path, piece: bytes) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(packed(64, piece))
    (tmp_path / "b.jsonl").write_bytes(NEXT_LINE)
    # The clock is looked at behind each piece of a line that is too long: with short texts that is nearly all of it.
    (_, _), (*_, refusal) = parted(inputs.read([tmp_path], seconds=0.01, max_text=1_000))
    assert "0.01 seconds of reading gave no document" in refusal.why
    assert "IBIDEM_READ_SECONDS" in refusal.why


@pytest.mark.slow
def test_a_file_that_unpacks_into_far_more_than_its_size_is_read_to_that_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "MAX_UNPACKED", 1 << 20)
    (tmp_path / "a.jsonl.gz").write_bytes(packed(8, b'{"id": "a", "text": ""}\n' * (1 << 15)))
    (tmp_path / "b.jsonl").write_bytes(NEXT_LINE)
    documents, (refusal,) = parted(inputs.read([tmp_path]))
    assert documents[-1].text == "So ordered."
    assert len(documents) > 40_000
    assert (
        "more than 1,048,576 bytes and more than 100 times its size; if that is intended, decompress it first"
        in refusal.why
    )


@pytest.mark.slow
def test_a_mailbox_whose_mails_hold_nothing_is_left_and_the_next_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.mbox").write_bytes(b"From x\nX-Mailer: a\n\n\n" * 20_000)
    (tmp_path / "b.jsonl").write_bytes(NEXT_LINE)
    (_,), refusals = parted(inputs.read([tmp_path], seconds=0.2))
    assert len(refusals) < 20_000
    assert "0.2 seconds of reading gave no document" in refusals[-1].why
    assert refusals[-1].where == f"{tmp_path}/a.mbox:{len(refusals)}"


def outcomes(folder: Path, data: str | bytes, text_column: str = "") -> tuple[list[Document], list[Refusal]]:
    (folder / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return parted(inputs.read([folder / "a.csv"], Choice(text_column=text_column), max_text=1_000))


def test_columns_are_fields_by_their_name_and_all_others_go_into_meta(tmp_path: Path) -> None:
    data = "id,body,title,date,court,version\na,We the People,Preamble,17.9.1787,none,3\n"
    (row,), _ = outcomes(tmp_path, data, "body")
    assert row == Document("a", "We the People", "Preamble", "1787-09-17", version=3, meta={"court": "none"})
    assert row.origin == f"{tmp_path}/a.csv"


def test_a_row_without_an_id_has_its_number_and_cells_may_hold_lines(tmp_path: Path) -> None:
    rows, _ = outcomes(tmp_path, 'text;who\n"We\nthe ""People""";Ann\n\n;Bob\nUnion;\n')
    assert [(row.id, row.text) for row in rows] == [
        (f"{tmp_path}/a.csv#2", 'We\nthe "People"'),
        (f"{tmp_path}/a.csv#4", ""),
        (f"{tmp_path}/a.csv#5", "Union"),
    ]
    assert [row.origin for row in rows] == [f"{tmp_path}/a.csv:{row}" for row in (2, 4, 5)]


@pytest.mark.parametrize(
    ("head", "row", "field", "why"),
    [
        ("id,text", ",of the", "id", "is empty; fill it in"),
        ("id,text", '"",of the', "id", "is empty; fill it in"),
        ("text,language", "y,soon enough", "language", "is not a code"),
        ("title,text", "II,to form, a union", "", "3 cells, but the first line names 2; put a cell that contains ','"),
    ],
)
def test_a_row_that_cannot_be_taken_or_would_be_cut_harms_no_other(
    tmp_path: Path, head: str, row: str, field: str, why: str
) -> None:
    (_, _), (refusal,) = outcomes(tmp_path, f"{head}\nen,de,,\n{row}\nde,en\n")
    assert (refusal.where, refusal.id, refusal.field) == (f"{tmp_path}/a.csv:3", f"{tmp_path}/a.csv#3", field)
    assert why in refusal.why


@pytest.mark.parametrize("data", ["", "id,body\na,b\n", "\x00", "a\n" * 3])
def test_a_table_without_such_a_column_names_those_that_there_are(tmp_path: Path, data: str) -> None:
    _, (refusal,) = outcomes(tmp_path, data)
    assert "--text-column" in refusal.why


def test_a_table_with_two_columns_of_one_name_is_refused_since_a_cell_would_be_lost(tmp_path: Path) -> None:
    _, (refusal,) = outcomes(tmp_path, "id,text,text,,\na,b,c,,\n")
    assert refusal.why == "it has 2 columns 'text'; give each its own name"


@pytest.mark.parametrize(
    ("tail", "why"),
    [(b"\xe9,x\n", "offset"), (b"y," + b"z" * 10**5, "a line"), (b'y,"' + b"z\n" * 10**5, "field"), (b'"y\n', "close")],
    ids=["encoding", "long line", "long cell", "open quote"],
)
def test_what_comes_before_damage_is_read_and_the_rest_refused(tmp_path: Path, tail: bytes, why: str) -> None:
    (first, *_), (last,) = outcomes(tmp_path, b"text,more\nWe the People,a\n" + b"Union,b\n" * 1_500 + tail)
    assert first.text == "We the People"
    assert why in last.why


def test_a_row_whose_quotation_marks_stay_open_from_cell_to_cell_is_no_larger_than_a_limit(tmp_path: Path) -> None:
    (_,), (refusal,) = outcomes(tmp_path, "text,more\nWe the People,a\n" + '"a\n",' * 200_000)
    assert "a row has more than 266,144 characters" in refusal.why


def test_a_table_that_gives_no_document_for_too_long_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\na\n" + b",\n" * 500_000)
    (_, *_), (*_, refusal) = parted(inputs.read([tmp_path / "a.csv"], seconds=0.01))
    assert "0.01 seconds of reading gave no document" in refusal.why
