"""Documents of an index, read by id; manual overrides of pairs of them are added, removed and read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ibidem_dedupe.overrides import VERDICTS, DocumentRef, Override, Verdict
from ibidem_engines.engine import Engine, StoredDocument
from ibidem_engines.ledger import load_overrides
from ibidem_engines.query import Filter, Query
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import unpack
from ibidem_workers.groups.service import follow_decisions


def read_document(engine: Engine, id_: str, remedy: str = "find ids with: ibidem search QUERY") -> Document:
    """Read a document of an index."""
    documents = engine.fetch([(engine.index, id_)])
    if not documents:
        raise MissingDocument(f"no document {id_!r} in index {engine.index!r}", remedy)
    return documents[0].document


def titles(engine: Engine, names: Sequence[DocumentRef]) -> Mapping[DocumentRef, str]:
    """Return the titles of documents, except for deleted ones."""
    return {(each.index, each.document.id): each.document.title for each in engine.fetch(names)} if names else {}


def stored_documents(engine: Engine, progress: Callable[[int], None]) -> Iterator[Document]:
    """Yield all documents of an index in full."""
    count = 0
    for hits in engine.scan(size=AT_ONCE):
        yield from (stored.document for stored in fetch_documents(engine, [(hit.index, hit.id) for hit in hits]))
        count += len(hits)
        progress(count)


def fetch_documents(engine: Engine, names: Sequence[DocumentRef]) -> Iterator[StoredDocument]:
    """Yield documents in full; missing ones are skipped."""
    for start in range(0, len(names), TEXTS_AT_ONCE):
        yield from engine.fetch(names[start : start + TEXTS_AT_ONCE])


AT_ONCE = 500

TEXTS_AT_ONCE = 20  # documents whose texts are in memory together


def fetch_hits(engine: Engine, values: Sequence[str], field: str = "id") -> Iterator[Hit]:
    """Yield the packed signatures of documents by id, or by another field; missing ones are skipped."""
    for start in range(0, len(values), AT_ONCE):
        query = Query(filters=tuple(Filter(field, value) for value in values[start : start + AT_ONCE]))
        ranking = engine.search(query, AT_ONCE)
        if ranking.total > len(ranking.hits):  # several indexes have the same ids
            ranking = engine.search(query, ranking.total)
        yield from ranking.hits


def add_override(engine: Engine, pair: tuple[str, str], verdict: Verdict, *, author: str, reason: str = "") -> Override:
    """Store a manual decision, replacing an earlier one, and settle the stored groups of both documents."""
    (a, content_a), (b, content_b) = find_pair(engine, *pair)
    word = Override(
        a=a,
        b=b,
        verdict=verdict,
        author=author,
        reason=reason,
        date=datetime.now(UTC).date().isoformat(),
        content_a=content_a,
        content_b=content_b,
    )
    engine.put_records("overrides", {word.key: word.as_record()})
    follow_decisions(engine)
    return word


def remove_override(
    engine: Engine, a: str, b: str, select: Callable[[Engine, list[Override]], list[Override]] = lambda _, words: words
) -> list[Override]:
    """Remove and return the manual decision on two documents, and settle their stored groups without it."""
    overrides = select(engine, [word for word in load_overrides(engine) if {word.a[1], word.b[1]} == {a, b}])
    if not overrides:
        raise MissingDocument(f"no manual decision on {a!r} and {b!r}", "list them with: ibidem overrides list")
    engine.delete_records("overrides", [word.key for word in overrides])
    follow_decisions(engine)
    return overrides


def readable_overrides(engine: Engine, overrides: Iterable[Override]) -> list[Override]:
    """Return the overrides whose documents both exist and are readable by the engine's user."""
    overrides = list(overrides)
    known_names = set(names(engine, sorted({name for word in overrides for _, name in (word.a, word.b)})))
    return [word for word in overrides if word.a in known_names and word.b in known_names]


def read_decision(engine: Engine, a: str, b: str) -> Override | None:
    """Return the manual decision on two readable documents; None if there is none."""
    on_pair = [each for each in load_overrides(engine) if {each.a[1], each.b[1]} == {a, b}]
    return next(iter(readable_overrides(engine, on_pair)), None)


def names(engine: Engine, ids: Sequence[str]) -> list[DocumentRef]:
    """Return index and id of the existing documents."""
    return [(hit.index, hit.id) for hit in fetch_hits(engine, ids)]


def read_verdict(typed: str) -> Verdict:
    """Parse a verdict."""
    for verdict in VERDICTS:
        if typed == verdict:
            return verdict
    raise UsageError(f"verdict {typed!r} is not known", f"allowed: {', '.join(VERDICTS)}")


def find_pair(engine: Engine, a: str, b: str) -> tuple[tuple[DocumentRef, str], tuple[DocumentRef, str]]:
    """Return index, id and content hash of two documents; a decision becomes stale when a hash changes."""
    names_by_id: dict[str, list[tuple[DocumentRef, str]]] = {a: [], b: []}
    for hit in fetch_hits(engine, [a, b]):
        packed = unpack(hit.packed) if hit.packed is not None else None
        if packed is not None:
            names_by_id[hit.id].append(((hit.index, hit.id), content_key(packed)))
    if missing := [id_ for id_, each in names_by_id.items() if not each]:
        raise MissingDocument(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}", "name two ids"
        )
    for id_, each in names_by_id.items():
        if len(each) > 1:
            indices = ", ".join(sorted(index for (index, _), _ in each))
            raise UsageError(f"document {id_!r} is in several indexes: {indices}", "name one of them in IBIDEM_INDEX")
    return names_by_id[a][0], names_by_id[b][0]
