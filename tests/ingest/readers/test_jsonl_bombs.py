"""Small files that unpack, nest or count into more than anybody means: each is refused alone, the next is read."""

import zlib
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import compression, read
from support.pdf_files import pdf
from support.readings import parted

DEEP = 100_000
GOOD = b'{"id": "good", "text": "So ordered."}\n'
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
    path.write_bytes(line + b"\n" + GOOD)
    (_,), (refusal,) = parted(read([path]))
    assert len(refusal.why) < 500


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_that_nests_without_measure_is_read_or_refused_and_the_next_is_read(tmp_path: Path, page: bytes) -> None:
    (tmp_path / "a.html").write_bytes(b"<html><body>" + page)
    (tmp_path / "b.html").write_bytes(b"<html><body><p>" + SENTENCE)
    first, good = read([tmp_path / "a.html", tmp_path / "b.html"], seconds=60)
    assert isinstance(first, Refusal) or len(first.text) < 2 * len(SENTENCE)
    assert isinstance(good, Document)


def test_a_zstd_file_that_asks_for_a_window_of_gigabytes_is_damaged(tmp_path: Path) -> None:
    magic, window = b"\x28\xb5\x2f\xfd\x00", (31 - 10) << 3
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(magic + bytes([window]) + b"\x01\x00\x00")
    _, (refusal,) = parted(read([path]))
    assert "damaged" in refusal.why


@pytest.mark.slow
@pytest.mark.parametrize("layers", [3])
def test_a_pdf_packed_several_times_over_is_refused_and_the_next_is_read(tmp_path: Path, layers: int) -> None:
    (tmp_path / "bomb.pdf").write_bytes(packed_over(layers, 1 << 28))
    (tmp_path / "good.pdf").write_bytes(pdf([["Twelve and Co."]]))
    found = parted(read([tmp_path / "bomb.pdf", tmp_path / "good.pdf"], max_text=10_000, seconds=60))
    assert [len(each) for each in found] == [1, 1]


def packed_over(layers: int, size: int) -> bytes:
    """Write a PDF of one page whose blanks are packed so many times; 256 MB become a few hundred bytes."""
    packer = zlib.compressobj(9)
    piece = b" " * (1 << 20)
    stream = b"".join([*(packer.compress(piece) for _ in range(size >> 20)), packer.flush()])
    for _ in range(layers - 1):
        stream = zlib.compress(stream, 9)
    content = pdf([["a"]])
    start, end = content.index(b"<< /Length"), content.index(b"\nendstream")
    filters = b" ".join([b"/FlateDecode"] * layers)
    return (
        content[:start] + b"<< /Filter [%b] /Length %d >>\nstream\n" % (filters, len(stream)) + stream + content[end:]
    )


BLANK = "blank lines"
NO_DOCUMENTS = {BLANK: b"\n" * (1 << 20), "empty records": b"{}\n" * (1 << 18), "one line": b" " * (1 << 20)}


def packed(size: int, piece: bytes) -> bytes:
    """Compress many times the same piece, after one document."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([packer.compress(GOOD), *(packer.compress(piece) for _ in range(size)), packer.flush()])


@pytest.mark.slow
def test_many_megabytes_of_blank_lines_are_passed_by_in_seconds_and_the_lines_after_them_keep_their_numbers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed(1 << 6, NO_DOCUMENTS[BLANK]) + zlib.compress(b"{}\n" + GOOD, wbits=31))
    (_, _), (refusal,) = parted(read([path], seconds=30))
    assert refusal.where == f"{path}:{2 + (1 << 26)}"


@pytest.mark.slow
@pytest.mark.parametrize("piece", NO_DOCUMENTS.values(), ids=NO_DOCUMENTS)
def test_a_file_that_gives_no_document_for_too_long_is_left_and_the_next_is_read(tmp_path: Path, piece: bytes) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(packed(64, piece))
    (tmp_path / "b.jsonl").write_bytes(GOOD)
    # The clock is looked at behind each piece of a line that is too long: with short texts that is nearly all of it.
    (_, _), (*_, refusal) = parted(read([tmp_path], seconds=0.01, max_text=1_000))
    assert "0.01 seconds of reading gave no document" in refusal.why
    assert "IBIDEM_READ_SECONDS" in refusal.why


@pytest.mark.slow
def test_a_file_that_unpacks_into_far_more_than_its_size_is_read_to_that_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "MAX_UNPACKED", 1 << 20)
    (tmp_path / "a.jsonl.gz").write_bytes(packed(8, b'{"id": "a", "text": ""}\n' * (1 << 15)))
    (tmp_path / "b.jsonl").write_bytes(GOOD)
    documents, (refusal,) = parted(read([tmp_path]))
    assert documents[-1].text == "So ordered."
    assert len(documents) > 40_000
    assert (
        "more than 1,048,576 bytes and more than 100 times its size; if that is intended, decompress it first"
        in refusal.why
    )


@pytest.mark.slow
def test_a_mailbox_whose_mails_hold_nothing_is_left_and_the_next_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.mbox").write_bytes(b"From x\nX-Mailer: a\n\n\n" * 20_000)
    (tmp_path / "b.jsonl").write_bytes(GOOD)
    (_,), refusals = parted(read([tmp_path], seconds=0.2))
    assert len(refusals) < 20_000
    assert "0.2 seconds of reading gave no document" in refusals[-1].why
    assert refusals[-1].where == f"{tmp_path}/a.mbox:{len(refusals)}"
