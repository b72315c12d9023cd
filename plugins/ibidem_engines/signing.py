"""Documents signed as records, ready to store."""

from collections.abc import Iterator, Sequence

from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.sign import batches, digest, sign_and_pack


def records(documents: Sequence[Document], tables: Tables, distinct: Sequence[str] = ()) -> Iterator[Record]:
    """Sign documents in one batch and return their records."""
    for batch in batches(documents):
        for document, (signatures, packed) in zip(batch, sign_and_pack(batch, tables, distinct), strict=True):
            yield Record(
                document=document,
                signatures=signatures,
                version=document.version or 0,
                digest=digest(document, signatures.idf),
                packed=packed,
            )
