"""HTML files: the core text without menus and footers, by trafilatura."""

import re
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import Any

from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.readers.formats import UTF_8, Decoding, Format, load_library
from ibidem_ingest.readers.text import DAMAGED_BYTES, EMPTY_REMEDY, content, first_line

NO_TEXT = "it contains no text besides menus and the like; leave it out, or save its content as text"

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*+=\s*+["']?\s*+([A-Za-z0-9_:.-]+)""", re.IGNORECASE
)
_LATIN = frozenset({"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*", re.ASCII)
# Form feeds are white space in HTML; other control characters, and code points that are no characters, are errors that
# no tree holds.
_CONTROLS = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
# Only a date in the page's metadata is its date; the library would also guess from a copyright line.
_DATES = {"extensive_search": False, "original_date": True, "min_date": "1000-01-01"}


def html_record(path: Path, max_text: int, decoding: Decoding = UTF_8) -> dict[str, object]:
    """Read an HTML file: its core text, `<title>`, language, and the date and URL in its head."""
    trafilatura = load_library(Format.HTML)
    source, damage = _decode(content(path, max_text, decoding.encoding), decoding)
    html = _CONTROLS.sub(" ", source)
    if not html.strip():
        raise Unreadable(EMPTY_REMEDY)
    if "\x00" in html:
        raise Unreadable(f"a null byte at character {html.index(chr(0)):,}; it is not HTML, or damaged", "text")
    with translate_errors():
        tree = _tree(html)
        record = _head(tree, trafilatura)
        extract = trafilatura.bare_extraction(tree, include_comments=False)
    text = "" if extract is None else (extract.text or "").strip()
    if not text:
        raise Unreadable(NO_TEXT, "text")
    return {**record, "text": text, "title": record["title"] or first_line(text), DAMAGED_BYTES: damage}


def _decode(data: bytes, decoding: Decoding) -> tuple[str, int]:
    """Decode as UTF-8, or with the declared charset, without guessing; counts the replacement characters."""
    with translate_errors():
        try:
            return data.decode().removeprefix("\ufeff"), 0
        except UnicodeDecodeError:
            match = _CHARSET.search(data[:4_096])
            charset = match[1].decode().lower() if match else "utf-8"
            if charset in {"utf-8", "utf8"}:
                return decoding.decode(data)
        try:  # like browsers, Latin-1 is read as Windows-1252
            return data.decode("cp1252" if charset in _LATIN else charset), 0
        except LookupError:
            return data.decode(), 0


def _tree(html: str) -> Any:
    """Parse a page; done here because the library rejects pages without `<html>` or `<body>`."""
    lxml = import_module("lxml.html")
    return lxml.document_fromstring(html.encode(), parser=lxml.HTMLParser(encoding="utf-8"))


def _head(tree: Any, trafilatura: Any) -> dict[str, object]:
    """Read title, language, date and address from the head of a page."""
    language = tree.get("lang") or ""
    record: dict[str, object] = {
        "title": " ".join((tree.findtext(".//title") or "").split()),
        "language": language if _LANGUAGE.fullmatch(language) else "",
    }
    head = tree.find("head")
    if head is None:
        return record
    root = _tree("<html><body></body></html>")
    root.insert(0, deepcopy(head))
    metadata = trafilatura.extract_metadata(root, date_config=_DATES)
    return record | {"date": iso_date(metadata.date or ""), "url": metadata.url or ""}
