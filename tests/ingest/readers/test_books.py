"""Word files and books in EPUB in their order, and one story as other programs wrote it (`written/README.md`)."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.books import CONTAINER, docx_record, epub_record
from support.readings import parted


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
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
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
