"""All copies of a document: what has to go when a court or an author wants a text taken down."""

from collections.abc import Iterator, Sequence

from ibidem_engines.engine import Engine, Hit, Search
from ibidem_engines.query import Filter, Query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.clues import clues
from ibidem_ingest.signatures.packed import Packed, unpack

AT_ONCE = 500


def stored_hits(engine: Engine, ids: Sequence[str]) -> Iterator[Hit]:
    """Yield the packed signatures of documents by their ids; ids that are not there are left out."""
    for start in range(0, len(ids), AT_ONCE):
        some = tuple(Filter("id", id_) for id_ in ids[start : start + AT_ONCE])
        yield from engine.window(Query(filters=some), AT_ONCE).hits


def with_identical_copies(engine: Engine, ids: Sequence[str]) -> list[str]:
    """Return ids and those of all documents with the same words and figures in the same order.

    Args:
        engine: Where they are.
        ids: Documents of which all copies are wanted.

    Returns:
        The ids given, then the copies, each once.

    Raises:
        UsageError: An id is not there, so that its copies cannot be known.
    """
    packed = {hit.id: unpack(hit.packed) for hit in stored_hits(engine, ids) if hit.packed is not None}
    if missing := [id_ for id_ in ids if packed.get(id_) is None]:
        raise UsageError(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}",
            "its identical copies cannot be known; name only documents that are there",
        )
    found = dict.fromkeys(ids)
    found.update(dict.fromkeys(copies(engine, [one for one in packed.values() if one is not None])))
    return list(found)


def copies(engine: Engine, documents: Sequence[Packed]) -> Iterator[str]:
    """Yield the ids of the documents with an equal content hash; where a look-up is cut short, by reading the index."""
    searches = [Search({"content": clues(one)["content"]}, own=one.id) for one in documents]
    answers = engine.find(searches)
    yield from (hit.id for answer in answers for hit in answer.hits)
    cut = {one.content for one, answer in zip(documents, answers, strict=True) if answer.same > len(answer.hits)}
    if cut:
        for hit in (hit for part in engine.scan() for hit in part):
            other = unpack(hit.packed) if hit.packed is not None else None
            if other is not None and other.content in cut:
                yield hit.id
