"""Documents of the labelled collections."""

from collections.abc import Iterator
from pathlib import Path

from ibidem_ingest.document import Document
from ibidem_ingest.readers import read

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")


def stories(path: Path) -> Iterator[Document]:
    return (item for item in read([path]) if isinstance(item, Document))
