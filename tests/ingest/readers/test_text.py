"""Text, HTML, Markdown, PDF, Word files and books: what readers see, in UTF-8 or as declared, and nothing guessed."""

import bz2
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import docx
import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.books import CONTAINER, docx_record, epub_record, pdf_record
from ibidem_ingest.readers.formats import Choice, Decoding
from ibidem_ingest.readers.text import html_record, markdown_record, text_record
from ingest.readers import test_inputs
from support.pdf_files import pdf
from support.readings import parted

COMPRESS = test_inputs.COMPRESS | {".bz2": bz2.compress}


def write(folder: Path, data: str | bytes) -> Path:
    path = folder / "f"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_the_first_line_that_is_not_blank_is_the_title(tmp_path: Path) -> None:
    text = "\n  COMPLAINT \n\n1. Plaintiff résides\n"
    assert text_record(write(tmp_path, text), 1_000) == {"text": text, "title": "COMPLAINT", "damaged_bytes": 0}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n\f", "it is empty"),
        (b"caf\xe9 fa\xe7ade", "not UTF-8: byte 0xe9 at offset 3"),
        (b"\xff\xfea\x00\x00\xd8", "not UTF-16-LE"),
        (b"x" * 4_001, "more than 4,000 bytes"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        text_record(write(tmp_path, data), 1_000)


def test_one_damaged_byte_is_replaced_and_counted_unless_reading_is_strict(tmp_path: Path) -> None:
    path, text = write(tmp_path, b"caf\xe9 open"), "caf\ufffd open"
    assert text_record(path, 1_000) == {"text": text, "title": text, "damaged_bytes": 1}
    with pytest.raises(Unreadable, match="iconv -f"):
        text_record(path, 1_000, Decoding(strict=True))


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_compressed_text_is_read_as_the_file_inside_by_its_byte_order_mark(
    tmp_path: Path, suffix: str, encoding: str
) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESS[suffix]("We the People\nof the Union".encode(encoding)))
    assert text_record(path, 1_000)["title"] == "We the People"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_compressed_text_that_was_cut_is_refused_and_not_read_in_part(tmp_path: Path, suffix: str) -> None:
    path, text = tmp_path / f"a.txt{suffix}", " ".join(str(number**50) for number in range(9_000))
    path.write_bytes(COMPRESS[suffix](text.encode())[:-1_000])
    with pytest.raises(Unreadable, match="ends in the middle"):
        text_record(path, 1_000_000)


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


def read_html(folder: Path, html: str | bytes) -> dict[str, object]:
    return html_record(write(folder, html), 10_000)


def test_only_the_core_text_is_read(tmp_path: Path) -> None:
    text = str(read_html(tmp_path, PAGE.format(""))["text"])
    assert text.startswith("Opinion\nThe court of appeals held")
    assert text.endswith("the question of costs.")


def test_title_language_date_and_address_are_what_the_page_says_of_itself(tmp_path: Path) -> None:
    head = '<meta name="date" content="1798-05-03"><link rel="canonical" href="https://gazette.org/roe">'
    record = read_html(tmp_path, PAGE.format(head))
    expected = {"title": "Roe v. Doe", "language": "en", "date": "1798-05-03", "url": "https://gazette.org/roe"}
    assert record.items() >= expected.items()


@pytest.mark.parametrize("head", ["", '<meta name="date" content="soon">'])
def test_a_page_without_a_date_of_its_own_gets_none_from_its_copyright_line(tmp_path: Path, head: str) -> None:
    assert read_html(tmp_path, PAGE.format(head))["date"] == ""


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
    assert read_html(tmp_path, html)["text"] == "“Café”"


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
def test_html_what_cannot_be_read_says_why(tmp_path: Path, html: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_html(tmp_path, html)


MARKUP_PAGE = """---
layout: post
---
<!-- nobody sees this -->
Some words *before* it.

# The `csrf` *token*

See [the guide](https://a.b/c) and ![a picture](d.png).

- one **thing**
- another

| a | b |
|---|---|
| c | d |

```python
print("x")
```
"""


def test_marks_are_no_text_and_the_first_heading_is_the_title(tmp_path: Path) -> None:
    record = markdown_record(write(tmp_path, MARKUP_PAGE), 10_000)
    assert record["title"] == "The csrf token"
    assert " ".join(str(record["text"]).split()) == (
        'Some words before it. The csrf token See the guide and a picture. one thing another a b c d print("x")'
    )


@pytest.mark.parametrize("text", ["", "   \n", "---\na: b\n---\n", "<!-- x -->", "[a]: https://b"])
def test_what_shows_nothing_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unreadable, match="it is empty"):
        markdown_record(write(tmp_path, text), 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 9_000, "> " * 4_000 + "x", "*a " * 3_000, "`" * 9_999, "x\x00y", "![" * 4_000])
def test_what_is_broken_or_nests_without_an_end_is_read_or_refused(tmp_path: Path, text: str) -> None:
    with suppress(Unreadable):
        assert markdown_record(write(tmp_path, text), 10_000)["text"]


def test_each_page_is_a_page_also_an_empty_one(tmp_path: Path) -> None:
    data = pdf([["We the People", "of the United States"], [], ["Article I"]], title="Constitution")
    record = pdf_record(write(tmp_path, data), 1_000)
    assert record == {"pages": ["We the People\nof the United States", "", "Article I"], "title": "Constitution"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pdf([["We the People"]], encrypted=True), "it is encrypted; save it without a password first"),
        (pdf([[], []]), "none of its 2 pages contains text; recognise it first, for example with: ocrmypdf"),
        (b"", "it is empty; leave it out"),
        (b"plain words", r"not a PDF, or damaged \(PDFium: "),
        (pdf([["We the People"]])[:300], r"not a PDF, or damaged \(PDFium: "),
        (pdf([["x" * 60]] * 20), "more than 1,000 characters; split it or raise IBIDEM_MAX_TEXT"),
    ],
)
def test_pdf_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        pdf_record(write(tmp_path, data), 1_000)


SEEN = "The duty on grain was raised & nobody paid."
WRITTEN = (
    SEEN.replace("&", "&amp;"),
    SEEN.replace("&", "&amp;amp;"),
    f"<p>{SEEN}</p>",
    f"<!-- wp:paragraph --><p class=lead><i>{SEEN[:5]}</i>{SEEN[5:]}</p><style>p {{}}</style>",
    "<div>The duty on grain<br>was raised &#38; nobody&nbsp;paid.</div><script>let paid = 1</script>",
)


@pytest.mark.parametrize(
    ("name", "head", "row"), [("a.jsonl", "", '{{"id": "{}", "text": "{}"}}'), ("a.csv", "id,text\n", '{},"{}"')]
)
def test_markup_is_no_text_and_entities_are_letters(tmp_path: Path, name: str, head: str, row: str) -> None:
    (tmp_path / name).write_text(head + "\n".join(row.format(at, text) for at, text in enumerate(WRITTEN)))
    found, _ = parted(read([tmp_path / name], Choice(text_format="html")))
    assert [" ".join(each.text.split()) for each in found] == [SEEN] * len(WRITTEN)


@pytest.mark.parametrize(
    ("format_", "pages", "none"),
    [("markdown", "# One\n*two*\f[three](x.html)", "***"), ("html", "<p>One<p>two\f<i>three", "<!-- wp:spacer -->")],
)
def test_pages_remain_and_text_without_words_is_refused(tmp_path: Path, format_: str, pages: str, none: str) -> None:
    records = [{"id": "a", "text": pages}, {"id": "b", "text": none}]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(each) for each in records))
    (document,), (refusal,) = parted(read([tmp_path / "a.jsonl"], Choice(text_format=format_)))
    assert document.pages == ("One\n\ntwo", "three")
    assert (refusal.where, refusal.id, refusal.field) == (f"{tmp_path}/a.jsonl:2", "b", "text")
    assert "without words; leave it out" in refusal.why


def test_a_text_that_was_escaped_very_often_takes_no_longer_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": f"one &{'amp;' * 200_000}"}))
    (document,), _ = parted(read([tmp_path / "a.jsonl"], Choice(text_format="html")))
    assert document.text.startswith("one &amp;amp;")


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


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="more than 20 characters"):
        docx_record(write_book(tmp_path / "a.docx"), 20)


CHAPTER = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{}</body></html>"
PARTS = {
    CONTAINER: "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>",
    "OPS/book.opf": """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf">
        <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The  Lease</dc:title>
        <dc:language>en-GB</dc:language><dc:creator>Ann</dc:creator><dc:publisher>Chambers</dc:publisher><dc:date>1987-10-19</dc:date></metadata>
        <manifest><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
        <item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
        <item id="c" href="c.css" media-type="text/css"/>
        <item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
        <spine><itemref idref="a"/><itemref idref="gone"/><itemref idref="c"/><itemref idref="b"/></spine></package>""",
    "OPS/one.xhtml": CHAPTER.format("<h1>One</h1><p>The tenant <i>shall</i> pay.</p><script>hidden()</script>"),
    "OPS/text/two b.xhtml": CHAPTER.format("<p>The landlord<br/>repairs.</p>"),
    "OPS/c.css": "p {}",
}


def write_epub(path: Path, **changes: str) -> Path:
    """Write a book whose parts are not compressed, so that changes of its bytes reach them."""
    with zipfile.ZipFile(path, "w") as book:
        for name, text in (PARTS | changes).items():
            book.writestr(name, text)
    return path


def test_chapters_are_pages_in_the_order_of_the_book(tmp_path: Path) -> None:
    assert epub_record(write_epub(tmp_path / "a.epub"), 10_000) == {
        "pages": ["One\nThe tenant shall pay.", "The landlord\nrepairs."],
        "title": "The Lease",
        "source": "Chambers",
        "date": "1987-10-19",
        "language": "en",
        "meta": {"author": "Ann"},
    }


def test_entities_of_the_list_of_files_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    entity = f"<!DOCTYPE p [<!ENTITY x SYSTEM 'file://{secret}'>]>"
    package = PARTS["OPS/book.opf"].replace("<package", f"{entity}<package").replace("The  Lease", "The &x;")
    assert "hidden" not in str(epub_record(write_epub(tmp_path / "a.epub", **{"OPS/book.opf": package}), 10_000))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({CONTAINER: "<container/>"}, "lists no files"),
        ({CONTAINER: "no XML"}, "not a valid EPUB"),
        ({"OPS/book.opf": ""}, "not a valid EPUB"),
        ({"OPS/book.opf": "<package/>"}, "no text"),
        ({"OPS/one.xhtml": "x" * 50_000}, "more than"),
        (
            {"OPS/one.xhtml": CHAPTER.format("y " * 3_000), "OPS/text/two b.xhtml": CHAPTER.format("z " * 3_000)},
            "more than",
        ),
    ],
    ids=["no files", "no list", "empty", "no chapters", "large", "long"],
)
def test_a_broken_book_is_refused(tmp_path: Path, changes: dict[str, str], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        epub_record(write_epub(tmp_path / "a.epub", **changes), 5_000)


BROKEN = {"empty": b"", "no zip": b"We the People", "cut off": b"PK\x03\x04 cut off"}


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "kind"), [("docx", "Word file"), ("epub", "EPUB")])
def test_what_is_no_book_is_refused_and_the_next_is_read(tmp_path: Path, suffix: str, kind: str) -> None:
    for name, data in BROKEN.items():
        (tmp_path / f"{name}.{suffix}").write_bytes(data)
    with zipfile.ZipFile(tmp_path / f"another.{suffix}", "w") as other:
        other.writestr("a.txt", "no book")
    write = {"docx": write_book, "epub": write_epub}[suffix]
    (tmp_path / f"half.{suffix}").write_bytes(write(tmp_path / f"whole.{suffix}").read_bytes()[:200])
    (_,), refusals = parted(read([tmp_path]))
    assert [f"not a valid {kind}" in each.why for each in refusals] == [True] * 5


@pytest.mark.slow
def test_a_chapter_that_unpacks_into_gigabytes_is_never_unpacked_as_a_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.epub", "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in PARTS.items():
            if name != "OPS/one.xhtml":
                book.writestr(name, text)
        with book.open("OPS/one.xhtml", "w", force_zip64=True) as chapter:
            for _ in range(300):
                chapter.write(b" " * (1 << 20))
    with pytest.raises(Unreadable, match="more than"):
        epub_record(tmp_path / "a.epub", 10_000)


FOLDER = Path(__file__).parent / "written"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.stem in {"ebooklib", "pandoc", "libreoffice"})

MEETING = (
    "The harbour board met on Tuesday to settle how the new breakwater should be paid for. Two of its members wanted a "
    "loan over thirty years, since the stones will last longer than any of them."
)
VOTE = "After an hour the question was put off until the engineer has counted the stones: “none” is"


Story = Callable[[str], Document]


@pytest.fixture(scope="module")
def story() -> Story:
    """Return the only document of one of the files, which are read together."""
    paths = [FOLDER / name for name in FILES]
    items = list(read(paths))
    assert all(isinstance(item, Document) for item in items), items
    documents = {Path(item.where).name: item for item in items if isinstance(item, Document)}
    assert len(documents) == len(items) == len(FILES)
    return documents.__getitem__


@pytest.mark.parametrize("name", FILES)
def test_the_words_of_each_file_are_read_and_nothing_of_its_markup(story: Story, name: str) -> None:
    words = " ".join(story(name).text.split())
    assert words.index(MEETING) < words.index(VOTE)
    assert "an answer, said Zoë." in words
    assert "2,410" in words
    assert not set("<>") & set(words)


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".md", ".txt", ".pdf"))])
def test_the_title_is_the_one_that_the_file_gives_itself(story: Story, name: str) -> None:
    assert story(name).title == "The harbour board"


@pytest.mark.parametrize("name", ["ebooklib.epub", "pandoc.epub"])
def test_a_book_has_its_date_and_a_page_for_each_chapter(story: Story, name: str) -> None:
    book = story(name)
    assert book.date == "2024-03-04"
    meeting, vote = (
        next(n for n, page in enumerate(book.pages) if each in page) for each in ("The meeting", "The vote")
    )
    assert meeting < vote
