"""Whatever the paths hold comes out as documents and refusals, one after the other."""

import os
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers import Tally, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "roe.txt").write_text("Roe v. Wade\n\fpage two")
    (tmp_path / "news.jsonl").write_text('{"id": 1, "text": "one", "court": "A"}\n{"id": 2}\n')
    (tmp_path / "page.html").write_text("<html><head><title>T</title></head><body><p>We the People</p></body></html>")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "scan.pdf").write_text("no pdf")
    (tmp_path / "photo.png").touch()
    return tmp_path


def test_a_folder_gives_every_document_and_a_refusal_for_every_one_that_cannot_be(folder: Path) -> None:
    tally = Tally()
    roe, empty, news, no_text, page, scan = read([folder], tally=tally)
    assert roe == Document("cases/roe.txt", "Roe v. Wade\n\fpage two", "Roe v. Wade")
    assert empty == Refusal(f"{folder}/empty.txt", "empty.txt", "", "it is empty; leave it out")
    assert news == Document("1", "one", meta={"court": "A"})
    assert isinstance(no_text, Refusal)
    assert (no_text.where, no_text.id, no_text.field) == (f"{folder}/news.jsonl:2", "2", "text")
    assert page == Document("page.html", "We the People", "T")
    assert isinstance(scan, Refusal)
    assert (scan.id, scan.field) == ("scan.pdf", "")
    assert tally == Tally(moved={"court": 1}, passed_over={".png": 1})  # type: ignore[arg-type]  # a Counter equals its dict


def test_nothing_is_read_when_a_path_is_wrong(folder: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read([folder, folder / "missing.txt"])


def test_a_wrong_format_is_answered_with_the_right_ones(folder: Path) -> None:
    with pytest.raises(UsageError, match="the formats are jsonl, text, html, pdf"):
        read([folder], format="word")


def test_a_format_overrules_the_suffix(folder: Path) -> None:
    (document,) = read([folder / "page.html"], format="text")
    assert isinstance(document, Document)
    assert document.text.startswith("<html>")


def test_a_text_over_the_limit_is_refused(folder: Path) -> None:
    (refused,) = read([folder / "cases" / "roe.txt"], max_text=10)
    assert isinstance(refused, Refusal)
    assert (refused.field, refused.id) == ("text", "roe.txt")


def test_a_file_whose_name_is_no_utf_8_is_refused_in_words_that_can_travel(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("one")
    (refused,) = read([tmp_path])
    assert isinstance(refused, Refusal)
    assert (refused.field, refused.id) == ("id", "caf\\udce9.txt")
    assert "".join(refused.as_json().values()).encode()


def test_reading_goes_step_by_step(folder: Path) -> None:
    reading = read([folder / "cases", folder / "news.jsonl"])
    next(reading)
    (folder / "news.jsonl").write_text('{"id": 3, "text": "written since"}\n')
    assert next(reading) == Document("3", "written since")
