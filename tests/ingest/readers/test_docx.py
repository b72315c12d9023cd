"""Word files: paragraphs and tables in their order; broken ones are refused."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_ingest.readers.docx import record_of
from ibidem_ingest.readers.error_map import Unreadable


def written(path: Path, title: str = "") -> Path:
    made: Any = docx.Document()
    made.add_paragraph("Some words before it.")
    made.add_heading("The lease", 1)
    made.add_paragraph("The tenant shall pay the rent.")
    table = made.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "rent", "100"
    made.add_paragraph("The end.")
    made.core_properties.title, made.core_properties.language = title, "en-GB"
    made.save(path)
    return path


def test_paragraphs_and_tables_are_the_text_and_the_first_heading_is_the_title(tmp_path: Path) -> None:
    record = record_of(written(tmp_path / "a.docx"), 10_000)
    assert record == {
        "text": "Some words before it.\nThe lease\nThe tenant shall pay the rent.\nrent\t100\nThe end.",
        "title": "The lease",
        "language": "en",
    }


def test_the_title_that_a_file_gives_itself_goes_first(tmp_path: Path) -> None:
    assert record_of(written(tmp_path / "a.docx", "Lease of 2001"), 10_000)["title"] == "Lease of 2001"


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="more than 20 characters"):
        record_of(written(tmp_path / "a.docx"), 20)


def broken(path: Path) -> dict[str, bytes]:
    whole = written(path).read_bytes()
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("a.txt", "no Word file")
    return {"empty": b"", "no zip": b"We the People", "cut off": whole[: len(whole) // 2], "another": path.read_bytes()}


@pytest.mark.parametrize("kind", ["empty", "no zip", "cut off", "another"])
def test_a_broken_file_is_refused_and_the_next_is_read(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.docx").write_bytes(broken(tmp_path / "made.docx")[kind])
    written(tmp_path / "made.docx")
    first, second = read([tmp_path])
    assert isinstance(first, Refusal)
    assert "no Word file, or a damaged one" in first.why
    assert isinstance(second, Document)


def test_a_small_file_that_unpacks_into_more_than_the_memory_allows_is_refused_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    bomb = written(tmp_path / "a.docx")
    with zipfile.ZipFile(bomb) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    before, _, after = parts["word/document.xml"].partition(b"</w:body>")
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in parts.items():
            if name != "word/document.xml":
                new.writestr(name, data)
        with new.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(before)
            for _ in range(600):
                part.write(b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 30_000)
            part.write(b"</w:body>" + after)
    written(tmp_path / "b.docx")
    first, second = read([tmp_path], max_text=10_000, seconds=60)
    assert isinstance(first, Refusal)
    assert isinstance(second, Document)
