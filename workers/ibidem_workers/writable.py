"""What is noted of a document that nobody can write down: its text as far as it goes, under its id."""

import json
from collections.abc import Mapping

import orjson

from ibidem_ingest.document import printable_id
from ibidem_ingest.errors import Refusal

MOST = 50 << 20
"""Bytes of a record that is kept whole; engines take requests of twice that."""

BEGINNING = 10_000
"""Characters that are kept of one that is not."""


def writable(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return a record that every engine stores: this one, or its id with the beginning of its JSON.

    >>> writable({"id": "a", "text": 1 << 64})
    {'id': 'a', 'unwritable': '{"id": "a", "text": 18446744073709551616}'}
    """
    try:
        if len(orjson.dumps(record)) <= MOST:
            return record
    except (TypeError, ValueError):
        pass
    return {"id": printable_id(record), "unwritable": _as_text(record)[:BEGINNING]}


def printable(refusal: Refusal) -> Refusal:
    """Return a refusal whose words every engine stores: half a character is shown by its number."""
    return Refusal(
        where=_whole(refusal.where),
        id=_whole(refusal.id),
        field=_whole(refusal.field),
        why=_whole(refusal.why),
    )


def _as_text(record: Mapping[str, object]) -> str:
    try:
        return json.dumps(record)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
