"""What messages show of a value is short and can be printed everywhere.

What libraries raise becomes a sentence with a remedy, and what is our own fault is never hidden.
"""

import lzma
import zlib

import lxml.etree
import pypdfium2
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.errors import SENTENCES, Unreadable, kind, short_repr, translate_errors

ANY = st.text(st.characters())


@given(ANY | st.recursive(st.none() | ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_every_value_is_shown_short_and_without_half_a_surrogate_pair(value: object) -> None:
    assert len(short_repr(value).encode()) <= 60 * 10 + 5


def test_a_type_is_named_as_json_names_it() -> None:
    kinds = [kind(value) for value in (None, True, 1, "a", [], (), {})]
    assert kinds == ["null", "true or false", "a number", "a string", "a list", "a list", "an object"]


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


def test_what_the_table_does_not_name_passes() -> None:
    with pytest.raises(ZeroDivisionError), translate_errors():
        raise ZeroDivisionError
