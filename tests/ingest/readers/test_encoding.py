"""Encodings of texts: named, marked, or UTF-8 with a damaged byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.readers.encoding import DAMAGE, Decoding, open_utf8

TEXTS = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), max_size=300)


@given(TEXTS, st.sampled_from(["utf-16", "utf-32", "utf-8-sig"]))
def test_a_byte_order_mark_decides_and_is_no_part_of_the_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, encoding: str
) -> None:
    path = tmp_path_factory.mktemp("marks") / "a.txt"
    path.write_bytes(text.encode(encoding))
    with open_utf8(path) as file:
        assert file.read() == text.encode()


def test_lines_of_another_encoding_are_read_as_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("東京\nの地図".encode("shift_jis"))
    with open_utf8(tmp_path / "a.txt", "shift_jis") as file:
        assert file.readline() == "東京\n".encode()


@pytest.mark.parametrize(("length", "damage", "read"), [(100, 1, True), (100, 2, False), (3 * DAMAGE, 3, True)])
def test_one_byte_in_a_thousand_may_be_damaged(length: int, damage: int, read: bool) -> None:
    data = b"x" * (length - 2 * damage) + b"\xe9 " * damage
    if read:
        assert Decoding().decode(data)[1] == damage
    else:
        with pytest.raises(UnicodeDecodeError):
            Decoding().decode(data)


def test_a_replacement_character_of_the_text_is_no_damage() -> None:
    assert Decoding().decode("a \ufffd b".encode()) == ("a \ufffd b", 0)
