"""A text file is one document, in UTF-8 and in nothing that has to be guessed."""

from pathlib import Path

import pytest

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.text import first_line, text_record


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
        (b"caf\xe9", "not UTF-8: byte 0xe9 at offset 3"),
        (b"\xff\xfea\x00", "not UTF-8: byte 0xff at offset 0"),
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
