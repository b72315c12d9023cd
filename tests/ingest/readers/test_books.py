"""Word files: paragraphs and tables in their order; broken ones are refused."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.books import docx_record


def write_book(path: Path, title: str = "") -> Path:
    document: Any = docx.Document()
    document.add_paragraph("Some words before it.")
    document.add_heading("The lease", 1)
    document.add_paragraph("The tenant shall pay the rent.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "rent", "100"
    document.add_paragraph("The end.")
    document.core_properties.title, document.core_properties.language = title, "en-GB"
    document.save(path)
    return path


def test_paragraphs_and_tables_are_the_text_and_the_first_heading_is_the_title(tmp_path: Path) -> None:
    record = docx_record(write_book(tmp_path / "a.docx"), 10_000)
    assert record == {
        "text": "Some words before it.\nThe lease\nThe tenant shall pay the rent.\nrent\t100\nThe end.",
        "title": "The lease",
        "language": "en",
    }


def test_the_title_that_a_file_gives_itself_goes_first(tmp_path: Path) -> None:
    assert docx_record(write_book(tmp_path / "a.docx", "Lease of 2001"), 10_000)["title"] == "Lease of 2001"


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="more than 20 characters"):
        docx_record(write_book(tmp_path / "a.docx"), 20)


def breakages(path: Path) -> dict[str, bytes]:
    content = write_book(path).read_bytes()
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("a.txt", "no Word file")
    return {
        "empty": b"",
        "no zip": b"We the People",
        "cut off": content[: len(content) // 2],
        "another": path.read_bytes(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["empty", "no zip", "cut off", "another"])
def test_a_broken_file_is_refused_and_the_next_is_read(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.docx").write_bytes(breakages(tmp_path / "made.docx")[kind])
    write_book(tmp_path / "made.docx")
    first, second = read([tmp_path])
    assert isinstance(first, Refusal)
    assert "not a valid Word file" in first.why
    assert isinstance(second, Document)


@pytest.mark.slow
def test_a_small_file_that_unpacks_into_more_than_the_memory_allows_is_refused_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    bomb = write_book(tmp_path / "a.docx")
    with zipfile.ZipFile(bomb) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    head, _, tail = parts["word/document.xml"].partition(b"</w:body>")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in parts.items():
            if name != "word/document.xml":
                new.writestr(name, data)
        with new.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(head)
            for _ in range(600):
                part.write(b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 30_000)
            part.write(b"</w:body>" + tail)
    write_book(tmp_path / "b.docx")
    first, second = read([tmp_path], max_text=10_000, seconds=60)
    assert isinstance(first, Refusal)
    assert isinstance(second, Document)
