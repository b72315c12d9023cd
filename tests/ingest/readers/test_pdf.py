"""A PDF is the texts of its pages; one that holds none says what would help."""

from pathlib import Path

import pytest

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.books import pdf_record
from support.pdf_files import pdf


def read(tmp_path: Path, data: bytes, max_text: int = 1_000) -> dict[str, object]:
    path = tmp_path / "f.pdf"
    path.write_bytes(data)
    return pdf_record(path, max_text)


def test_each_page_is_a_page_also_an_empty_one(tmp_path: Path) -> None:
    record = read(tmp_path, pdf([["We the People", "of the United States"], [], ["Article I"]], title="Constitution"))
    assert record == {"pages": ["We the People\nof the United States", "", "Article I"], "title": "Constitution"}


def test_a_pdf_without_a_title_takes_its_first_line(tmp_path: Path) -> None:
    assert read(tmp_path, pdf([[], ["We the People", "of"]]))["title"] == "We the People"


def test_a_word_that_goes_on_after_a_hyphen_is_one_word(tmp_path: Path) -> None:
    assert read(tmp_path, pdf([["a more perfect con-", "stitution"]]))["pages"] == ["a more perfect constitution"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pdf([["We the People"]], encrypted=True), "it is encrypted; save it without a password first"),
        (
            pdf([[], []]),
            "none of its 2 pages contains text; recognise it first, for example with: ocrmypdf",
        ),
        (b"", r"not a PDF, or damaged \(PDFium: "),
        (b"plain words", r"not a PDF, or damaged \(PDFium: "),
        (pdf([["We the People"]])[:300], r"not a PDF, or damaged \(PDFium: "),
        (pdf([["x" * 60]] * 20), "more than 1,000 characters; split it or raise IBIDEM_MAX_TEXT"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(tmp_path, data)
