"""Each line is a document or a refusal of its own, and a bad one harms no other."""

import gzip
import io
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
from ibidem_ingest.readers.formats import Tally
from ibidem_ingest.readers.jsonl import lines, read
from ibidem_ingest.readers.text import TimeLimit
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


COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress}
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


LINE = st.one_of(st.binary(max_size=30), st.text(" \t\r", max_size=3).map(str.encode)).map(
    lambda line: line.replace(b"\n", b" ")
)


@given(st.lists(LINE), st.integers(1, 40), st.booleans())
def test_every_line_is_handed_out_once_whole_or_as_its_head(
    lines_of_file: list[bytes], limit: int, has_end: bool
) -> None:
    data = b"\n".join(lines_of_file) + (b"\n" if has_end else b"")
    parts = data.split(b"\n")
    expected = [line + b"\n" for line in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    stream = io.BufferedReader(io.BytesIO(data))
    blank = {number for number, line in enumerate(expected, 1) if line.isspace()}
    read = [line for line in lines(stream, limit, TimeLimit(60)) if line.number not in blank]
    numbered_runs = [(number, line) for number, line in enumerate(expected, 1) if number not in blank]
    assert [(line.number, line.is_whole) for line in read] == [
        (number, len(line) <= limit) for number, line in numbered_runs
    ]
    assert [line.content for line in read if line.is_whole] == [line for _, line in numbered_runs if len(line) <= limit]
