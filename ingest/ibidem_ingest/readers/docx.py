"""Word files (`.docx`): paragraphs and tables, by python-docx."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem_ingest.languages import is_code
from ibidem_ingest.readers.error_map import Unreadable, translate_errors, unreadable_when_damaged
from ibidem_ingest.readers.formats import Format, library_for
from ibidem_ingest.readers.text import first_line

HEADINGS = ("Title", "Heading 1")
"""Names of the styles in which a title is written."""


def record_of(path: Path, max_text: int) -> dict[str, object]:
    """Read a file; its title is the one it gives itself, else its first heading, else its first line.

    When it was made is not taken for its date.

    Args:
        path: The file.
        max_text: The most characters that its text may have.

    Raises:
        Unreadable: It is damaged, too long or without any text, or the system does not let it be read; or the library
            is missing.
    """
    docx = library_for(Format.DOCX)
    lines: list[str] = []
    title, size = "", 0
    with translate_errors(), path.open("rb") as file, unreadable_when_damaged("Word file"):
        document = docx.Document(file)
        for style, line in _lines(document.iter_inner_content()):
            size += len(line) + 1
            if size - 1 > max_text:
                raise Unreadable(f"more than {max_text:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
            if not title and style in HEADINGS:
                title = first_line(line)
            lines.append(line)
        named = " ".join((document.core_properties.title or "").split())
        language = (document.core_properties.language or "").strip()
    text = "\n".join(lines).strip()
    if not text:
        raise Unreadable("it holds no text; leave it out, or save what it shows as text", "text")
    said = {"language": language.replace("_", "-").partition("-")[0]}
    return {"text": text, "title": named or title or first_line(text)} | (said if is_code(said["language"]) else {})


def _lines(blocks: Any) -> Iterator[tuple[str, str]]:
    """Yield each paragraph with the name of its style, and the rows of tables."""
    for block in blocks:
        if hasattr(block, "rows"):
            for row in block.rows:
                yield "", "\t".join(" ".join(cell.text.split()) for cell in row.cells)
        else:
            yield (block.style.name if block.style is not None else ""), block.text
