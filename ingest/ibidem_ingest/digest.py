"""The digest of a record: equal digests mean that writing the record again would change nothing."""

import orjson
import xxhash

from ibidem_ingest.document import Document
from ibidem_ingest.signatures.signature import SCHEMA


def digest(document: Document, table: str, schema: str = SCHEMA) -> str:
    """Hash all that is stored of a document, its version aside.

    Args:
        document: The document; where its fields stand in their order does not matter.
        table: Name of the idf table it is signed with; empty when no table speaks its language.
        schema: The signatures' schema.

    Returns:
        32 hex digits: xxh3-128 of the canonical JSON (keys sorted, no spaces, UTF-8) of all fields, schema and table.

    >>> digest(Document("a", "We the People", version=1), "") == digest(Document("a", "We the People", version=2), "")
    True
    """
    record = {
        "id": document.id,
        "text": document.text,
        "title": document.title,
        "date": document.date,
        "source": document.source,
        "url": document.url,
        "language": document.language,
        "meta": document.meta if type(document.meta) is dict else dict(document.meta),
        "schema": schema,
        "table": table,
    }
    return xxhash.xxh3_128_hexdigest(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
