"""All copies of a document: what has to go when a court or an author wants a text taken down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ibidem_engines.engine import Engine, Hit, Search
from ibidem_engines.query import Filter, Query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.clues import clues
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.tokens import tokens

AT_ONCE = 500

TEXTS_AT_ONCE = 20
"""Documents whose texts are in memory together."""


def stored_hits(engine: Engine, ids: Sequence[str]) -> Iterator[Hit]:
    """Yield the packed signatures of documents by their ids; ids that are not there are left out."""
    for start in range(0, len(ids), AT_ONCE):
        some = tuple(Filter("id", id_) for id_ in ids[start : start + AT_ONCE])
        yield from engine.window(Query(filters=some), AT_ONCE).hits


@dataclass(frozen=True, slots=True)
class Takedown:
    """What goes with some documents.

    Args:
        ids: Theirs, then those of their copies, each once.
        others: Documents that bear the content hash of one of them and hold another text: they stay.
    """

    ids: Sequence[str]
    others: Sequence[str] = ()


def with_identical_copies(engine: Engine, ids: Sequence[str]) -> Takedown:
    """Find all documents with the same words and figures in the same order as some.

    Those that bear the same content hash are found by it, and their texts compared: somebody may have made a text for
    the hash of another, to have that deleted with his own.

    Args:
        engine: Where they are.
        ids: Documents of which all copies are wanted.

    Raises:
        UsageError: An id is not there, so that its copies cannot be known.
    """
    packed = {hit.id: unpack(hit.packed) for hit in stored_hits(engine, ids) if hit.packed is not None}
    if missing := [id_ for id_ in ids if packed.get(id_) is None]:
        raise UsageError(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}",
            "its identical copies cannot be known; name only documents that are there",
        )
    named = [one for one in packed.values() if one is not None]
    wanted = set(texts(engine, list(dict.fromkeys(ids))).values())
    found = [id_ for id_ in dict.fromkeys(copies(engine, named)) if id_ not in packed]
    bear = texts(engine, found)
    same = [id_ for id_ in found if bear.get(id_) in wanted]
    return Takedown([*dict.fromkeys(ids), *same], sorted(bear.keys() - same))


def texts(engine: Engine, ids: Sequence[str]) -> dict[str, bytes]:
    """Hash the words and figures of documents as nobody can forge it; those that are gone are left out."""
    return {
        stored.document.id: blake2b(" ".join(tokens(stored.document.text)).encode()).digest()
        for start in range(0, len(ids), TEXTS_AT_ONCE)
        for stored in engine.fetch([(engine.index, id_) for id_ in ids[start : start + TEXTS_AT_ONCE]])
    }


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
