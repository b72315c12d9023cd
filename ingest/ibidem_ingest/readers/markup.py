"""Texts of fields in HTML or Markdown: what a reader sees, without tags, entities and the comments of editors."""

from html import unescape

from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.errors import translate_errors
from ibidem_ingest.mail.html_body import html_to_text
from ibidem_ingest.readers.text import markdown_blocks

ESCAPED = 3  # times that exports escape a text, at most


def strip_markup(text: str, format_: str) -> str:
    r"""Return what a reader sees of a text in a format of fields; its pages remain pages.

    >>> strip_markup("<!-- wp:paragraph --><p>Caf&eacute; <b>No</b>va</p><p>open</p>", "html")
    'Café Nova\n\nopen'
    >>> strip_markup("# Café\n*open*", "markdown")
    'Café\n\nopen'
    """
    if not format_:
        return text
    strip = _strip_html if format_ == "html" else _strip_markdown
    with translate_errors():
        return PAGE_BREAK.join(strip(page) for page in text.split(PAGE_BREAK))


def _strip_html(page: str) -> str:
    seen = html_to_text(page, quote="").strip()
    for _ in range(ESCAPED):  # entities that are left were meant to be read
        seen = unescape(seen)
    return seen


def _strip_markdown(page: str) -> str:
    return "\n\n".join(text for _, text in markdown_blocks(page)).strip()
