"""A stored document as it is shown: whole, with a passage and its title, the query's words marked in both."""

from collections.abc import Mapping
from typing import Any

from ibidem_engines.engine import HIGHLIGHT, Stored
from ibidem_engines.fields import Fields
from ibidem_engines.passages import marked, passage, phrases_of
from ibidem_engines.query import Query
from ibidem_engines.source import as_document, idf_of, version_of

_NO_MARKS = str.maketrans(dict.fromkeys(HIGHLIGHT))


def shown(hit: Mapping[str, Any], fields: Fields, query: Query | None) -> Stored:
    """Read a document with what is shown of it.

    Args:
        hit: As a server gives it; with its own marks, these are taken.
        fields: What the index calls a document's fields.
        query: The words to be marked where the server has marked none.
    """
    source = hit["_source"]
    document = as_document(hit["_id"], source, fields)
    marks = hit.get("highlight", {})
    pieces = [on_one_line(piece, document.text) for piece in marks.get(fields.text, ())]
    return Stored(
        hit["_index"],
        document,
        version_of(source),
        idf_of(source),
        snippets=pieces or [passage(document.text, phrases_of(query, "text"))],
        title=marks[fields.title][0] if fields.title in marks else marked(document.title, phrases_of(query, "title")),
    )


def on_one_line(piece: str, text: str) -> str:
    r"""Put a server's passage on one line, with dots where the text goes on.

    >>> on_one_line("two\nthree", "One two\nthree.")
    '…two three…'
    """
    plain = piece.translate(_NO_MARKS)
    begin = text.find(plain)
    before, after = (text[:begin], text[begin + len(plain) :]) if begin >= 0 else ("", "")
    return f"{'…' if before.strip() else ''}{' '.join(piece.split())}{'…' if after.strip() else ''}"
