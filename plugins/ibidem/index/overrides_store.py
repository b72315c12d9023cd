"""Add, remove and read the manual overrides of an index."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from ibidem.dedupe.overrides import VERDICTS, DocumentRef, Override, Verdict, load_overrides
from ibidem.index.documents import stored_hits
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import Missing, UsageError
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import unpack


def add_override(engine: Engine, pair: tuple[str, str], verdict: Verdict, *, author: str, reason: str = "") -> Override:
    """Keep a manual decision; an earlier one on the same pair is replaced.

    Args:
        engine: The index of both documents.
        pair: Their ids.
        verdict: `not` or `same`.
        author: Who says so.
        reason: Why.

    Raises:
        Missing: One of them is not there, or carries no signatures.
    """
    content_a, content_b = contents(engine, *pair)
    word = Override(
        a=(engine.index, pair[0]),
        b=(engine.index, pair[1]),
        verdict=verdict,
        author=author,
        reason=reason,
        date=datetime.now(UTC).date().isoformat(),
        content_a=content_a,
        content_b=content_b,
    )
    engine.put_records("overrides", {word.key: word.as_record()})
    return word


def remove_override(
    engine: Engine, a: str, b: str, seen: Callable[[Engine, list[Override]], list[Override]] = lambda _, words: words
) -> list[Override]:
    """Remove what was said of two documents, and return it.

    Args:
        engine: The index of both documents.
        a: Id of one.
        b: Id of the other.
        seen: Chooses the words that someone may know of; all of them by default.

    Raises:
        Missing: Nothing was said of them that he may know of.
    """
    pair = {(engine.index, a), (engine.index, b)}
    overrides = seen(engine, [word for word in load_overrides(engine) if {word.a, word.b} == pair])
    if not overrides:
        raise Missing(f"no manual decision on {a!r} and {b!r}", "see: ibidem overrides list")
    engine.delete_records("overrides", [word.key for word in overrides])
    return overrides


def readable_overrides(engine: Engine, words: Iterable[Override]) -> list[Override]:
    """Return the words on documents that may both be read with the engine's rights, and are still there.

    Args:
        engine: The index, as someone may read it.
        words: What readers said.
    """
    words = list(words)
    there = set(names(engine, sorted({name for word in words for _, name in (word.a, word.b)})))
    return [word for word in words if word.a in there and word.b in there]


def names(engine: Engine, ids: Sequence[str]) -> list[DocumentRef]:
    """Return index and id of the documents that are there."""
    return [(hit.index, hit.id) for hit in stored_hits(engine, ids)]


def read_verdict(typed: str) -> Verdict:
    """Read a verdict.

    Raises:
        UsageError: It is none.
    """
    for known in VERDICTS:
        if typed == known:
            return known
    raise UsageError(f"verdict {typed!r} is not known", f"allowed: {', '.join(VERDICTS)}")


def contents(engine: Engine, a: str, b: str) -> tuple[str, str]:
    """Return the content hashes of two documents, so that the word is known as stale when a text changes."""
    packed = {hit.id: unpack(hit.packed) for hit in stored_hits(engine, [a, b]) if hit.packed is not None}
    first, second = packed.get(a), packed.get(b)
    if first is None or second is None:
        missing = [id_ for id_ in (a, b) if packed.get(id_) is None]
        raise Missing(f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}", "name two ids")
    return content_key(first), content_key(second)
