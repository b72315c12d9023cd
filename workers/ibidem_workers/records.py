"""From documents to what an engine stores: sign, pack, digest."""

from collections.abc import Iterator, Sequence

from ibidem_engines.engine import Record
from ibidem_ingest.digest import digest
from ibidem_ingest.document import Document
from ibidem_ingest.idf.tables import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign


def records(documents: Sequence[Document], tables: Tables, distinct: Sequence[str] = ()) -> Iterator[Record]:
    """Sign documents in one batch and make the records to be written.

    Args:
        documents: Each with its version.
        tables: The idf tables by language.
        distinct: Names of the fields that must not differ between duplicates.
    """
    for document, signatures in zip(documents, sign(documents, tables), strict=True):
        yield Record(
            document=document,
            signatures=signatures,
            version=document.version or 0,
            digest=digest(document, signatures.idf),
            packed=pack(document, signatures, distinct),
        )
