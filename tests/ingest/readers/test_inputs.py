"""Whatever the paths hold comes out as documents and refusals, one after the other."""

import os
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers import Tally, read
from ibidem_ingest.readers.formats import Choice


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


@pytest.mark.slow
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
    assert tally == Tally(moved={"court": 1}, skipped_files={".png": 1})  # type: ignore[arg-type]  # a Counter equals its dict


def test_nothing_is_read_when_a_path_is_wrong(folder: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read([folder, folder / "missing.txt"])


def test_a_wrong_format_is_answered_with_the_right_ones(folder: Path) -> None:
    with pytest.raises(UsageError, match="the formats are jsonl, text, html, pdf"):
        read([folder], "word")


def test_a_format_overrules_the_suffix_when_it_is_forced(folder: Path) -> None:
    (document,) = read([folder / "page.html"], Choice("*=text"))
    assert isinstance(document, Document)
    assert document.text.startswith("<html>")


def test_a_text_over_the_limit_is_refused(folder: Path) -> None:
    (refusal,) = read([folder / "cases" / "roe.txt"], max_text=10)
    assert isinstance(refusal, Refusal)
    assert (refusal.field, refusal.id) == ("text", f"{folder}/cases/roe.txt")


def test_a_file_whose_name_is_no_utf_8_is_refused_in_words_that_can_travel(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("one")
    (refusal,) = read([tmp_path])
    assert isinstance(refusal, Refusal)
    assert (refusal.field, refusal.id) == ("id", "caf\\udce9.txt")
    assert "".join(refusal.as_json().values()).encode()


def test_reading_goes_step_by_step(folder: Path) -> None:
    reading = read([folder / "cases", folder / "news.jsonl"])
    next(reading)
    (folder / "news.jsonl").write_text('{"id": 3, "text": "written since"}\n')
    assert next(reading) == Document("3", "written since")


@pytest.mark.slow
def test_a_prefix_is_before_every_id(folder: Path) -> None:
    plain_ids = [document.id for document in read([folder]) if isinstance(document, Document)]
    assert [
        document.id for document in read([folder], Choice(id_prefix="case-7/")) if isinstance(document, Document)
    ] == [f"case-7/{id_}" for id_ in plain_ids]


def test_an_id_that_a_prefix_makes_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("We the People")
    (refusal,) = read([tmp_path], Choice(id_prefix="x" * 510))
    assert isinstance(refusal, Refusal)
    assert (refusal.field, "515 bytes" in refusal.why) == ("id", True)


def test_a_text_may_name_its_document(tmp_path: Path) -> None:
    for name, text in (("a.txt", "We the People"), ("b.txt", "We the People"), ("c.txt", "of the United States")):
        (tmp_path / name).write_text(text)
    first, second, third = [
        document for document in read([tmp_path], Choice(id_from="hash")) if isinstance(document, Document)
    ]
    assert first.id == second.id != third.id
    assert first.origin == ""


@pytest.mark.slow
def test_what_a_file_holds_knows_the_file_and_where_it_was_read(folder: Path) -> None:
    (document,) = read([folder / "page.html"])
    assert isinstance(document, Document)
    assert (document.origin, document.where) == (str(folder / "page.html"), str(folder / "page.html"))
    assert Document("a", "x", origin="/here").as_record()["ibidem.origin"] == "/here"
