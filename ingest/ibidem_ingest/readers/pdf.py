"""PDF files: the text of each page, by pdfium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.text import first_line

# Pdfium's marks for a hyphen at a line's end, where a word goes on, and the residue of broken fonts.
_MARKS = str.maketrans({"\x02": None, "\ufffe": None, "\x00": None, "\r": None})


def pdf_record(path: Path, max_text: int) -> dict[str, object]:
    """Read a PDF file, page by page; its title is that of its metadata, else its first line.

    When it was made is not taken for its date.
    """
    pdfium = load_library(Format.PDF)
    with translate_errors(), path.open("rb") as file:
        pdf = pdfium.PdfDocument(file)
        try:
            pages = list(_pages(pdf, max_text))
            title = " ".join(pdf.get_metadata_value("Title").translate(_MARKS).split())
        finally:
            pdf.close()
    text = "\n".join(pages)
    if not text.strip():
        reason = f"none of its {len(pages)} pages contains text; recognise it first, for example with: ocrmypdf"
        raise Unreadable(reason, "text")
    return {"pages": pages, "title": title or first_line(text)}


def _pages(pdf: Any, max_text: int) -> Iterator[str]:
    """Read pages until the end, or until the text is too long."""
    size = 0
    for page in pdf:
        words = page.get_textpage()
        text = words.get_text_bounded().translate(_MARKS)
        words.close()
        page.close()
        size += len(text) + 1
        if size - 1 > max_text:
            raise Unreadable(f"more than {max_text:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
        yield text
