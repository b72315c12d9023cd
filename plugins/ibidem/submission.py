"""Submit documents from a program: through the queue into the index, with a summary of the run."""

from collections.abc import Iterable, Mapping

from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.short_repr import short_repr
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.runs import summary
from ibidem_workers.settings import Settings, load


def submit(
    documents: Iterable[Document | Refusal], settings: Settings | None = None, *, wait: bool = True
) -> dict[str, object]:
    """Send documents through the queue into the index.

    Args:
        documents: What to index, from `read`, `read_record` or made by hand; refusals among them are noted.
        settings: Where to; read from environment and files when None.
        wait: Whether to wait until every document is accounted for; with the file queue workers are then started.

    Returns:
        State of the run, as `ibidem ingest --json` prints it.

    Raises:
        UsageError: What is given is not documents; those before are in the queue.
        Unavailable: Engine or broker did not answer.
    """
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise UsageError(f"{short_repr(documents)} is no list of documents", "give several: [Document(id, text), …]")
    settings = settings or load()
    run = ingest_documents(map(_document, documents), settings, wait=wait)
    engine = open_engine(settings.address, settings.index)
    try:
        return summary(engine, run)
    finally:
        engine.close()


def _document(given: object) -> Document | Refusal:
    """Refuse what is neither document nor refusal; a document's fields are checked where it is signed."""
    if not isinstance(given, Document | Refusal):
        raise UsageError(f"{short_repr(given)} is no document", "make one with Document(id, text) or read_record")
    return given
