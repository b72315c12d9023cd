"""Documents of an index: read by id, and deleted with tombstones, if requested with identical copies.

Manual overrides of pairs of them are added, removed and read.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from ibidem_dedupe.overrides import VERDICTS, DocumentRef, Override, Verdict
from ibidem_engines.engine import Engine, Outcome, SignatureLookup, WriteStatus
from ibidem_engines.ledger import Tombstone, load_overrides, read_entries
from ibidem_engines.query import Filter, Query
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.text.tokens import tokens
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
        for start in range(0, len(hits), TEXTS_AT_ONCE):
            for stored in engine.fetch([(hit.index, hit.id) for hit in hits[start : start + TEXTS_AT_ONCE]]):
                yield stored.document
        count += len(hits)
        progress(count)


AT_ONCE = 500

TEXTS_AT_ONCE = 20  # documents whose texts are in memory together


def fetch_hits(engine: Engine, ids: Sequence[str]) -> Iterator[Hit]:
    """Yield the packed signatures of documents by id; missing ids are skipped."""
    for start in range(0, len(ids), AT_ONCE):
        query = Query(filters=tuple(Filter("id", id_) for id_ in ids[start : start + AT_ONCE]))
        ranking = engine.search(query, AT_ONCE)
        if ranking.total > len(ranking.hits):  # several indexes have the same ids
            ranking = engine.search(query, ranking.total)
        yield from ranking.hits


@dataclass(frozen=True, slots=True)
class Takedown:
    """Documents to delete, with the copies found."""

    ids: Sequence[str]  # the ids of the documents, then of their copies, each once
    others: Sequence[str] = ()  # documents that have the content hash of one of them and another text: they stay


def find_copies(engine: Engine, ids: Sequence[str]) -> Takedown:
    """Find all documents with the same words and figures in the same order.

    Those that have the same content hash are found by it, and their texts compared: a text may have been made to
    collide with another one's hash, so that both are deleted.
    """
    packed = {hit.id: unpack(hit.packed) for hit in fetch_hits(engine, ids) if hit.packed is not None}
    if missing := [id_ for id_ in ids if packed.get(id_) is None]:
        raise UsageError(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}",
            "its identical copies cannot be determined; name only documents that exist",
        )
    values = [value for value in packed.values() if value is not None]
    contents = set(texts(engine, list(dict.fromkeys(ids))).values())
    other_ids = [id_ for id_ in dict.fromkeys(copies(engine, values)) if id_ not in packed]
    other_texts = texts(engine, other_ids)
    copy_ids = [id_ for id_ in other_ids if other_texts.get(id_) in contents]
    return Takedown([*dict.fromkeys(ids), *copy_ids], sorted(other_texts.keys() - copy_ids))


def texts(engine: Engine, ids: Sequence[str]) -> dict[str, bytes]:
    """Return cryptographic hashes of the words and figures of documents; missing documents are skipped."""
    return {
        entry.document.id: blake2b(" ".join(tokens(entry.document.text)).encode()).digest()
        for start in range(0, len(ids), TEXTS_AT_ONCE)
        for entry in engine.fetch([(engine.index, id_) for id_ in ids[start : start + TEXTS_AT_ONCE]])
    }


def copies(engine: Engine, documents: Sequence[Packed]) -> Iterator[str]:
    """Yield the ids of documents with an equal content hash; the index is scanned if a look-up was cut."""
    searches = [SignatureLookup({"content": [content_key(value)]}, own_id=value.id) for value in documents]
    answers = engine.find(searches)
    yield from (hit.id for answer in answers for hit in answer.hits)
    cut = {value.content for value, answer in zip(documents, answers, strict=True) if answer.copies > len(answer.hits)}
    if cut:
        for hit in (hit for part in engine.scan() for hit in part):
            other = unpack(hit.packed) if hit.packed is not None else None
            if other is not None and other.content in cut:
                yield hit.id


def delete(engine: Engine, ids: Sequence[str], version: int | None = None, tombstone_days: int = 30) -> list[Outcome]:
    """Delete documents; versions submitted earlier are no longer written."""
    any_version = version is None
    outcomes = engine.delete(ids, time.time_ns() // 1_000 if version is None else version, any_version=any_version)
    engine.refresh()
    clear_tombstones(engine, datetime.now(UTC) - timedelta(days=tombstone_days))
    if kept := [outcome for outcome in outcomes if outcome.status in (WriteStatus.STALE, WriteStatus.REFUSED)]:
        first = kept[0]
        newer = "leave the version out, which deletes any version, or name a newer one"
        raise UsageError(
            f"{len(kept)} of {len(outcomes)} documents are not deleted: {first.id!r}: {first.why}",
            newer if first.status is WriteStatus.STALE else "delete it by the name of its index",
        )
    return outcomes


def clear_tombstones(engine: Engine, cutoff: datetime) -> int:
    """Remove tombstones of deletions before a time, unless replaced meanwhile; returns how many."""
    entries = engine.get_records("tombstones")
    return engine.delete_unchanged("tombstones", {key: entry for key, entry in entries if _is_before(entry, cutoff)})


def _is_before(entry: object, cutoff: datetime) -> bool:
    """Return whether a tombstone was set before a time; False for damaged records."""
    return any(stone.time and stone.time < cutoff for _, stone in read_entries([("", entry)], Tombstone.from_record))


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
