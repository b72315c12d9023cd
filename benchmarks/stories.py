"""Documents of the labelled collections, and their packed values."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign_stream

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")
PAGES = Path("philtrans_pages_scale/docs.jsonl.xz")


def stories(path: Path) -> Iterator[Document]:
    return (item for item in read([path]) if isinstance(item, Document))


def values(documents: Iterator[Document] | Sequence[Document], tables: Tables) -> list[bytes]:
    return [pack(document, signatures) for document, signatures in sign_stream(documents, tables)]
