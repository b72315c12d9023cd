"""A PDF is the texts of its pages; one that holds none says what would help."""

from pathlib import Path

import pytest

from ibidem_ingest.readers.foreign import Unreadable
from ibidem_ingest.readers.pdf import record_of


def pdf(pages: list[list[str]], title: str = "", encrypted: bool = False) -> bytes:
    """Write a PDF by hand: for each page its lines."""
    sheet = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
    page_numbers = range(4, 4 + 2 * len(pages), 2)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{n} 0 R' for n in page_numbers)}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in zip(page_numbers, pages, strict=True):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {shown} ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {sheet} /Contents {number + 1} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    lock = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >>"
    body, starts = "%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        starts.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R"
    trailer += f" /Encrypt {lock} /ID [<00><00>]" if encrypted else ""
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< {trailer} >>\n"
    return f"{body}{end}startxref\n{len(body)}\n%%EOF\n".encode("latin-1")


def read(tmp_path: Path, data: bytes, max_text: int = 1_000) -> dict[str, object]:
    path = tmp_path / "f.pdf"
    path.write_bytes(data)
    return record_of(path, max_text)


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
        (pdf([[], []]), "none of its 2 pages holds text, as scans do; recognise it first, for example with: ocrmypdf"),
        (b"", "not a PDF, or a damaged one"),
        (b"plain words", "not a PDF, or a damaged one"),
        (pdf([["We the People"]])[:300], "not a PDF, or a damaged one"),
        (pdf([["x" * 60]] * 20), "more than 1,000 characters; split it or raise IBIDEM_MAX_TEXT"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(tmp_path, data)
