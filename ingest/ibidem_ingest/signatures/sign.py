"""Sign documents: all signatures of each, in batches over numpy, or one by one in plain Python where that is faster."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ibidem_ingest.document import Document
from ibidem_ingest.idf.rarest import RarestTerms
from ibidem_ingest.idf.table import Table
from ibidem_ingest.idf.tables import Tables
from ibidem_ingest.shingles import Shingles, shingles
from ibidem_ingest.signatures import content, fingerprint, minhash, numbers, termvector, textprofile
from ibidem_ingest.signatures.signature import Signatures
from ibidem_ingest.termgroups import TermGroups
from ibidem_ingest.tokens import TokenBatch, tokens
from ibidem_ingest.wordhash import wh1

SHORT = 2_000
"""Characters below which a batch is signed in plain Python: a numpy call costs more than a few words."""

MOST = 600_000
"""Characters of a batch; beyond, its arrays leave the processor's cache."""


def sign(documents: Sequence[Document], tables: Tables) -> list[Signatures]:
    """Sign documents.

    Args:
        documents: In any languages; each is signed on its own, batches only make it faster.
        tables: The idf tables; a language without one has no fingerprint and no feature set.

    Returns:
        The signatures of each document, in the same order.
    """
    signed: list[Signatures] = []
    for language, following in groupby(documents, key=lambda document: document.language):
        table = tables.of(language)
        for batch in batches(list(following)):
            signed += sign_batch(batch, table) if _characters(batch) >= SHORT else [sign_one(d, table) for d in batch]
    return signed


def batches(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    """Cut documents into batches of at most 600,000 characters; a longer one is a batch of its own."""
    start = size = 0
    for place, document in enumerate(documents):
        if size and size + len(document.text) > MOST:
            yield documents[start:place]
            start, size = place, 0
        size += len(document.text)
    if start < len(documents):
        yield documents[start:]


def sign_one(document: Document, table: Table | None) -> Signatures:
    """Sign one document in plain Python, with the same result as in a batch."""
    words = tokens(document.text)
    figures = numbers.sign(words)
    printed = fingerprint.sign(words, table) if table else fingerprint.NONE
    features = termvector.sign(words, table) if table else termvector.NONE
    return Signatures(
        length=len(words),
        shingles=len(set(shingles([wh1(word) for word in words]))),
        content=content.sign(words, document.id),
        fingerprint=printed.strict,
        fingerprint_binned=printed.binned,
        weak=printed.weak,
        profile=textprofile.sign(words),
        numbers=figures.distinct,
        number_sketch=figures.sketch,
        terms=features.codes,
        full=features.full,
        slots=minhash.sign(words),
        idf=table.name if table else "",
    )


def sign_batch(documents: Sequence[Document], table: Table | None) -> list[Signatures]:
    """Sign documents of one language in one batch."""
    batch = TokenBatch.of([document.text for document in documents])
    groups = TermGroups.of(batch)
    shingled = Shingles.of(batch.hashes, batch.offsets)
    columns = zip(
        batch.lengths.tolist(),
        shingled.distinct().tolist(),
        content.sign_batch(batch, [document.id for document in documents]),
        textprofile.sign_batch(batch, groups),
        numbers.sign_batch(batch, groups),
        minhash.sign_batch(shingled).tolist(),
        *_by_idf(batch, groups, table),
        strict=True,
    )
    return [
        Signatures(
            length=length,
            shingles=distinct,
            content=same,
            fingerprint=printed.strict,
            fingerprint_binned=printed.binned,
            weak=printed.weak,
            profile=profile,
            numbers=figures.distinct,
            number_sketch=figures.sketch,
            terms=features.codes,
            full=features.full,
            slots=tuple(slots) if length else (),
            idf=table.name if table else "",
        )
        for length, distinct, same, profile, figures, slots, printed, features in columns
    ]


def _by_idf(
    batch: TokenBatch, groups: TermGroups, table: Table | None
) -> tuple[list[fingerprint.Fingerprint], list[termvector.FeatureSet]]:
    """Make the signatures that need an idf table."""
    if table is None:
        return [fingerprint.NONE] * len(batch), [termvector.NONE] * len(batch)
    rarest = RarestTerms.of(batch, groups, table)
    return fingerprint.sign_batch(batch, rarest), termvector.sign_batch(rarest, table)


def _characters(documents: Sequence[Document]) -> int:
    return sum(len(document.text) for document in documents)
