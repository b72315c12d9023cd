"""A text file is one document, in UTF-8 and in nothing that has to be guessed."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
import zstandard

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.encoding import Decoding
from ibidem_ingest.readers.text import first_line, text_record

COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress, ".bz2": bz2.compress}


def read(tmp_path: Path, data: bytes, max_text: int = 1_000) -> dict[str, object]:
    path = tmp_path / "f.txt"
    path.write_bytes(data)
    return text_record(path, max_text)


def test_the_first_line_that_is_not_blank_is_the_title(tmp_path: Path) -> None:
    text = "\n  COMPLAINT \n\n1. Plaintiff résides\n"
    assert read(tmp_path, text.encode()) == {"text": text, "title": "COMPLAINT"}


def test_form_feeds_end_pages_also_the_last(tmp_path: Path) -> None:
    assert read(tmp_path, b"one\ftwo\f") == {"text": "one\ftwo", "title": "one"}


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfone")["text"] == "one"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n\f", "it is empty"),
        (b"caf\xe9 fa\xe7ade", "not UTF-8: byte 0xe9 at offset 3"),
        (b"\xff\xfea\x00\x00\xd8", "not UTF-16-LE"),
        (b"x" * 4_001, "more than 4,000 bytes"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(tmp_path, data)


def test_a_text_of_the_widest_characters_is_read_to_the_limit(tmp_path: Path) -> None:
    assert read(tmp_path, ("😀" * 1_000).encode())["text"] == "😀" * 1_000


def test_a_long_first_line_is_cut() -> None:
    assert first_line("x" * 300) == "x" * 199 + "…"


def test_one_damaged_byte_is_replaced_and_counted_unless_reading_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 open")
    assert text_record(tmp_path / "a.txt", 1_000) == {
        "text": "caf\ufffd open",
        "title": "caf\ufffd open",
        "damaged_bytes": 1,
    }
    with pytest.raises(Unreadable, match="iconv -f"):
        text_record(tmp_path / "a.txt", 1_000, Decoding(strict=True))


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst", ".bz2"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_compressed_text_is_read_as_the_file_inside_by_its_byte_order_mark(
    tmp_path: Path, suffix: str, encoding: str
) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESS[suffix]("We the People\nof the Union".encode(encoding)))
    assert text_record(path, 1_000)["title"] == "We the People"


def test_an_encoding_that_is_named_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("café".encode("latin-1"))
    assert text_record(tmp_path / "a.txt", 1_000, Decoding("latin-1"))["text"] == "café"
