"""An HTML file is its core text, with what its head says of itself and nothing guessed."""

from pathlib import Path

import pytest

from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.html import html_record

BODY = """<nav><a href="/">Home</a> <a href="/about">About us</a></nav>
<article><h1>Opinion</h1>{}</article><footer>Copyright 2020 The Gazette</footer>"""
TEXT = """<p>The court of appeals held that the parties had agreed to the terms of the contract, and that the
contract was not void for want of consideration, because each had promised something to the other.</p>
<p>We affirm the judgment of the district court in every part of it, and remand for the question of costs.</p>"""
PAGE = (
    "<!DOCTYPE html><html lang='en-US'><head><title>Roe v.\n Doe</title>{}</head><body>"
    + BODY.format(TEXT)
    + "</body></html>"
)


def read(tmp_path: Path, html: str | bytes, max_text: int = 10_000) -> dict[str, object]:
    path = tmp_path / "f.html"
    path.write_bytes(html if isinstance(html, bytes) else html.encode())
    return html_record(path, max_text)


def test_only_the_core_text_is_read(tmp_path: Path) -> None:
    text = str(read(tmp_path, PAGE.format(""))["text"])
    assert text.startswith("Opinion\nThe court of appeals held")
    assert text.endswith("the question of costs.")


def test_title_language_date_and_address_are_what_the_page_says_of_itself(tmp_path: Path) -> None:
    head = '<meta name="date" content="1798-05-03"><link rel="canonical" href="https://gazette.org/roe">'
    record = read(tmp_path, PAGE.format(head))
    values = {name: record[name] for name in ("title", "language", "date", "url")}
    assert values == {
        "title": "Roe v. Doe",
        "language": "en-US",
        "date": "1798-05-03",
        "url": "https://gazette.org/roe",
    }


@pytest.mark.parametrize("head", ["", '<meta name="date" content="soon">'])
def test_a_page_without_a_date_of_its_own_gets_none_from_its_copyright_line(tmp_path: Path, head: str) -> None:
    assert read(tmp_path, PAGE.format(head))["date"] == ""


def test_a_page_without_a_title_takes_its_first_line(tmp_path: Path) -> None:
    assert read(tmp_path, "<p>We the People of the United States</p>")["title"] == "We the People of the United States"


def test_a_page_with_an_xml_declaration_and_form_feeds_is_read(tmp_path: Path) -> None:
    declared = "<?xml version='1.0' encoding='utf-8'?><html xmlns='http://www.w3.org/1999/xhtml'>"
    assert str(read(tmp_path, declared + "<body><p>We</p>\f<p>§ 5.</p></body></html>")["text"]).split() == [
        "We",
        "§",
        "5.",
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<meta charset='iso-8859-1'><p>“Café”</p>".encode("cp1252"),
        b"<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'>"
        + "<p>“Café”</p>".encode("cp1252"),
        b"\xef\xbb\xbf" + "<p>“Café”</p>".encode(),
        "\ufeff<html><body><p>“Café”</p></body></html>".encode("utf-16-le"),
    ],
)
def test_a_page_is_decoded_as_it_declares(tmp_path: Path, html: bytes) -> None:
    assert read(tmp_path, html)["text"] == "“Café”"


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"<html><body></body></html>", "it contains no text"),
        (b"<html><frameset><frame src='x'></frameset></html>", "it contains no text"),
        (b"<!-- nothing -->", "it is not HTML"),
        (b"<p>caf\xe9 fa\xe7ade</p>", "not UTF-8: byte 0xe9 at offset 6"),
        (b"<meta charset='klingon'><p>caf\xe9</p>", "not UTF-8: byte 0xe9"),
        (b"<meta charset='ascii85-x'><p>caf\xe9</p>", "not UTF-8"),
        (b"<p>one\x00two</p>", "a null byte at character 6"),
        (b"<p>" + b"x" * 40_000, "more than 40,000 bytes"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, html: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(tmp_path, html)
