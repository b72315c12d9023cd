"""Which of the documents that an index holds can be signed, and which are signed as they are."""

from dataclasses import replace

from ibidem_engines.engine import Record
from ibidem_engines.holding import Held
from ibidem_ingest.digest import digest
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.tables import Tables
from ibidem_ingest.signatures.packed import unpack
from ibidem_ingest.signatures.signature import SCHEMA
from ibidem_workers.records import records
from ibidem_workers.settings import Settings


def refusal(held: Held, text_field: str, max_text: int) -> Refusal | None:
    """Tell why a document cannot be signed; None when it can.

    Args:
        held: The document.
        text_field: What its index calls the text.
        max_text: The most characters that a text may have.
    """
    where, text = f"index {held.name.index}", held.document.text
    if held.fault:
        why = f"{held.fault}; give it a text, or name another field in IBIDEM_FIELDS: text=…"
    elif len(text) > max_text:
        why = f"{len(text):,} characters, at most {max_text:,} are taken; raise IBIDEM_MAX_TEXT"
    else:
        return None
    return Refusal(where, held.name.id, text_field, why)


def is_current(held: Held, tables: Tables) -> bool:
    """Tell whether a document is signed as it is, with the schema and the table of now."""
    table = tables.of(held.document.language)
    name = table.name if table else ""
    if not held.packed or (held.schema, held.idf) != (SCHEMA, name):
        return False
    return held.digest == digest(held.document, held.idf)


def has_words(held: Held) -> bool:
    """Tell whether a signed document had any words."""
    packed = unpack(held.packed)
    return packed is not None and packed.length > 0


def signed_records(held: list[Held], tables: Tables, settings: Settings) -> list[Record]:
    """Sign documents; each keeps the version that it has."""
    made = records([each.document for each in held], tables, settings.distinct)
    return [replace(record, version=each.version) for each, record in zip(held, made, strict=True)]
