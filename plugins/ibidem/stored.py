"""Documents of an index, by their ids."""

from collections.abc import Mapping, Sequence

from ibidem.dedupe.overrides import Name
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Missing


def stored_document(engine: Engine, id_: str, remedy: str = "ids are shown by: ibidem search QUERY") -> Document:
    """Read a document of an index.

    Args:
        engine: The index.
        id_: The document's id.
        remedy: What to do when there is none.

    Raises:
        Missing: No such document.
    """
    found = engine.fetch([(engine.index, id_)])
    if not found:
        raise Missing(f"no document {id_!r} in index {engine.index!r}", remedy)
    return found[0].document


def titles(engine: Engine, names: Sequence[Name]) -> Mapping[Name, str]:
    """Return the titles of documents; those that are gone are left out.

    Args:
        engine: The index.
        names: Index and id of each.
    """
    return {(each.index, each.document.id): each.document.title for each in engine.fetch(names)} if names else {}
