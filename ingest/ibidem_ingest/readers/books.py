"""Word, EPUB and PDF: files of a library's format, with their pages, title and other fields."""

import posixpath
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ibidem_ingest.dates import iso_date
from ibidem_ingest.document import language_code
from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.text import BYTES_A_CHARACTER, EMPTY_REMEDY, first_line

# Pdfium's marks for a hyphen at a line's end, where a word goes on, and the residue of broken fonts.
_MARKS = str.maketrans({"\x02": None, "\ufffe": None, "\x00": None, "\r": None})


def pdf_record(path: Path, max_text: int) -> dict[str, object]:
    """Read a PDF file, page by page; its title is that of its metadata, else its first line.

    When it was made is not taken for its date.
    """
    pdfium = load_library(Format.PDF)
    with translate_errors(), path.open("rb") as file:
        if not file.read(1):
            raise Unreadable(EMPTY_REMEDY)
        pdf = pdfium.PdfDocument(file)
        try:
            pages = list(_limit(_pages(pdf), max_text))
            title = " ".join(pdf.get_metadata_value("Title").translate(_MARKS).split())
        finally:
            pdf.close()
    text = "\n".join(pages)
    if not text.strip():
        reason = f"none of its {len(pages)} pages contains text; recognise it first, for example with: ocrmypdf"
        raise Unreadable(reason, "text")
    return {"pages": pages, "title": title or first_line(text)}


def _pages(pdf: Any) -> Iterator[str]:
    for page in pdf:
        words = page.get_textpage()
        text = words.get_text_bounded().translate(_MARKS)
        words.close()
        page.close()
        yield text


def _limit(texts: Iterable[str], max_text: int) -> Iterator[str]:
    """Yield pages, chapters or lines until the end, or until they are too long."""
    size = -1
    for text in texts:
        size += len(text) + 1
        if size > max_text:
            raise Unreadable(f"more than {max_text:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
        yield text


HEADINGS = ("Title", "Heading 1")  # names of the styles in which a title is written
CORE_PROPERTIES = "application/vnd.openxmlformats-package.core-properties+xml"  # media type of a Word file's metadata


def docx_record(path: Path, max_text: int) -> dict[str, object]:
    """Read a Word file; its title is from its metadata, its first heading or its first line.

    Its date of creation is not taken for the document's date.
    """
    docx = load_library(Format.DOCX)
    headings: list[str] = []
    with translate_errors("Word file"), path.open("rb") as file:
        document = docx.Document(file)
        styles = {style.style_id: style.name for style in document.styles}
        lines = list(_limit(_lines(document.iter_inner_content(), styles, headings), max_text))
        own_title, language = _title_and_language(document.part.package)
    text = "\n".join(lines).strip()
    if not text:
        raise Unreadable("it contains no text; leave it out, or save its content as text", "text")
    title = own_title or next(filter(None, map(first_line, headings)), "") or first_line(text)
    return {"text": text, "title": title, "language": language_code(language)}


def _title_and_language(package: Any) -> tuple[str, str]:
    """Return what the metadata of a Word file says, or empty strings.

    LibreOffice names the relation to it in another way than Word. Where python-docx finds none it makes a title up.
    """
    for part in package.iter_parts():
        if part.content_type == CORE_PROPERTIES:
            properties = part.core_properties
            return " ".join((properties.title or "").split()), (properties.language or "").strip()
    return "", ""


def _lines(blocks: Any, styles: Mapping[str, str], headings: list[str]) -> Iterator[str]:
    """Yield each paragraph, and the rows of tables; headings are collected."""
    for block in blocks:
        if hasattr(block, "rows"):
            for row in block.rows:
                yield "\t".join(" ".join(cell.text.split()) for cell in row.cells)
        else:
            headings += [block.text] if styles.get(block._p.style) in HEADINGS else []  # noqa: SLF001 - see above
            yield block.text


CONTAINER = "META-INF/container.xml"
CHAPTERS = frozenset({"application/xhtml+xml", "text/html"})
BLOCKS = "p|div|br|li|tr|h1|h2|h3|h4|h5|h6|blockquote|pre|section|td"
DAMAGE = "it is not a valid EPUB"


def epub_record(path: Path, max_text: int) -> dict[str, object]:
    """Read an EPUB book: its chapters are its pages; title, language, author and date are from its metadata."""
    load_library(Format.EPUB)
    with translate_errors("EPUB"), path.open("rb") as file, zipfile.ZipFile(file) as book:
        package = _package(book)
        root = _xml(_read(book, package, max_text))
        pages = list(filter(None, _limit(_chapters(book, posixpath.dirname(package), root, max_text), max_text)))
    if not pages:
        raise Unreadable("it contains no text; leave it out", "text")
    names = ("title", "creator", "publisher", "date", "language")
    paths = [f"string(//*[local-name()='metadata']/*[local-name()='{name}']/text())" for name in names]
    metadata = {name: " ".join(root.xpath(path).split()) for name, path in zip(names, paths, strict=True)}
    return {
        "pages": pages,
        "title": metadata["title"] or first_line(pages[0]),
        "source": metadata["publisher"],
        "date": iso_date(metadata["date"]) or metadata["date"],
        "language": language_code(metadata["language"]),
        "meta": {"author": metadata["creator"]} if metadata["creator"] else {},
    }


def _package(book: zipfile.ZipFile) -> str:
    if CONTAINER not in book.namelist():
        raise Unreadable(f"{DAMAGE}: it has no {CONTAINER}; save it again, or leave it out")
    paths = _xml(_read(book, CONTAINER, 100_000)).xpath("//*[local-name()='rootfile']/@full-path")
    if not paths or paths[0] not in book.namelist():
        raise Unreadable(f"{DAMAGE}: it lists no files; save it again, or leave it out")
    return str(paths[0])


def _chapters(book: zipfile.ZipFile, folder: str, root: Any, max_text: int) -> Iterator[str]:
    files = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in root.xpath("//*[local-name()='manifest']/*[local-name()='item']")
        if item.get("media-type") in CHAPTERS
    }
    names = set(book.namelist())
    for name in root.xpath("//*[local-name()='spine']/*[local-name()='itemref']/@idref"):
        if files.get(name) in names:
            yield _text(_read(book, files[name], max_text))


def _read(book: zipfile.ZipFile, name: str, max_text: int) -> bytes:
    """Read a file of the archive, up to the maximum size of a text."""
    limit = max_text * BYTES_A_CHARACTER
    try:
        with book.open(name) as file:
            data = file.read(limit + 1)
    except (RuntimeError, NotImplementedError) as error:
        raise Unreadable(f"{name} in it cannot be read ({error}); save it without a password", "text") from error
    if len(data) > limit:
        raise Unreadable(f"{name} in it has more than {limit:,} bytes; split it or raise IBIDEM_MAX_TEXT", "text")
    return data


def _xml(data: bytes) -> Any:
    """Parse XML without fetching or expanding external entities."""
    etree = import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    root = etree.fromstring(data, parser)
    if root is None:
        raise Unreadable(f"{DAMAGE}: its list of files is not XML; save it again, or leave it out")
    return root


def _text(data: bytes) -> str:
    """Read the visible text of a chapter."""
    html = import_module("lxml.html")
    if not data.strip():
        return ""
    tree = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    for element in tree.xpath("//script|//style|//head"):
        element.drop_tree()
    for block in tree.xpath("|".join(f"//{name}" for name in BLOCKS.split("|"))):
        block.tail = f"\n{block.tail or ''}"
    lines = (" ".join(line.split()) for line in tree.text_content().splitlines())
    return "\n".join(line for line in lines if line).replace("\x00", "\ufffd")
