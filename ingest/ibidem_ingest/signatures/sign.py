"""All signatures of documents: in batches by compiled loops, or one by one in Python, with the same results.

Plain is the definition. It serves where there is little text, and where no compiler made the loops. Of a mail only what
its author wrote is signed (`mail.parts`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import orjson
import xxhash

from ibidem_ingest.document import PAGE_BREAK, Document, text_batches
from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.language import add_languages
from ibidem_ingest.mail.parts import mail_key, signed_part
from ibidem_ingest.signatures import content, feature_set, long_text, minhash, noise, numbers, text_profile
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.signatures.long_text import MIN_TOKENS, PagedTokens
from ibidem_ingest.signatures.noise import is_source_code
from ibidem_ingest.signatures.packed import SignedColumns, pack
from ibidem_ingest.signatures.schema import SCHEMA, Signatures, StoredSignatures
from ibidem_ingest.text.layout import remove_all_layout, remove_layout
from ibidem_ingest.text.passages import NO_PASSAGES, leave_out
from ibidem_ingest.text.tokens import TermGroups, tokens, tokens_and_signs
from ibidem_ingest.text.word_hash import Shingles, shingles, wh1

T = TypeVar("T")


# Characters in a batch: more would leave the processor's cache, fewer would wait for the calls.
BATCH_CHARACTERS = 800_000

# Characters below which plain Python is faster than the 300 calls that a batch takes (tried with one document).
PLAIN_BELOW = 400

# Make glibc keep the memory of freed arrays instead of returning it to the system each time: the size from which it
# gives blocks back grows with the greatest such block that was freed (mallopt(3), "dynamic mmap threshold"), so one is
# made, never written to, and freed. Without it a quarter of the time of signing goes into taking the same pages again.
bytes(24 << 20)


def sign(documents: Sequence[Document], tables: Tables) -> list[Signatures]:
    """Sign documents.

    Args:
        documents: In any order, of any languages. Where no idf table speaks a document's language, it has no
            fingerprint and no feature set; all else remains.
        tables: The idf tables.

    Returns:
        The signatures of each document, in the same order.

    Raises:
        UsageError: Something among them is not a document.
    """
    if strangers := [each for each in documents if not isinstance(each, Document)]:
        raise UsageError(
            f"{short_repr(strangers[0])} is not a document", "create one with Document(id, text) or read_record"
        )
    return [each for batch in batches(documents) for each in _map_by_table(batch, tables, sign_batch)]


def batches(documents: Iterable[Document], characters: int = BATCH_CHARACTERS) -> Iterator[list[Document]]:
    """Split a stream of documents into batches, each document with its language."""
    return text_batches(add_languages(documents), characters, beside=0)


def sign_one(document: Document, table: Table | None) -> Signatures:
    """Sign one document in plain Python."""
    document = signed_part(document)
    written, signs = tokens_and_signs(document.text)
    plain = replace(document, text=remove_layout(document.text))
    words = written if plain.text == document.text else tokens_and_signs(plain.text)[0]
    passages = table.passages if table else NO_PASSAGES
    words = leave_out([words], passages)[0] if passages.size else words
    hashes = shingles([wh1(word) for word in words])
    figures = numbers.sign(words)
    terms, unknown_terms = candidates(words, table) if table else ([], [])
    title = " ".join(tokens(document.title)) if document.title else ""
    may_be_long = len(words) >= MIN_TOKENS or PAGE_BREAK in plain.text
    long_signatures = long_text.sign_long(plain, passages) if may_be_long else None
    is_titled = content.counts_title(written[: content.MIN_UNTITLED_TOKENS], title, signs)
    return Signatures(
        length=len(words),
        shingles=len(set(hashes)),
        content=content.sign(written, document.id, title if is_titled else "", signs, mail_key(document)),
        fingerprint=feature_set.fingerprint(terms),
        weak=len(terms) < feature_set.FINGERPRINT_TERMS,
        profile=text_profile.sign(words),
        numbers=figures.distinct,
        number_sketch=figures.sketch,
        terms=feature_set.sign(terms, unknown_terms, table.size) if table else (),
        full=len(terms) >= feature_set.TERMS,
        slots=minhash.stored_slots(minhash.sketch(hashes)),
        idf=table.name if table else "",
        title=title,
        titled=is_titled,
        noise=noise.NONE if is_source_code(document.text) else noise.sign(words, table),
        long=long_signatures.encode() if long_signatures else b"",
        words=content.short_hash(" ".join(written).encode()),
        signs=content.short_hash(signs.encode()),
    )


def sign_batch(documents: Sequence[Document], table: Table | None) -> list[Signatures]:
    """Sign the documents of one idf table, or without a table, by the compiled loops if available."""
    if loops.IN_USE is None or _is_little(documents):
        return [sign_one(document, table) for document in documents]
    return sign_columns(documents, table).rows()


def sign_columns(documents: Sequence[Document], table: Table | None) -> SignedColumns:
    """Sign documents as `sign_batch` does, and return the signatures as columns."""
    documents = [signed_part(document) for document in documents]
    texts = [document.text for document in documents]
    plain = remove_all_layout(texts)
    page_tokens = PagedTokens.tokenize(plain)
    words, signs = page_tokens.batch.join_tokens(), list(page_tokens.signs)
    written_lengths = page_tokens.batch.lengths.tolist()
    if table is not None and table.passages.size:
        page_tokens = page_tokens.without(table.passages)
    batch = page_tokens.batch
    groups = TermGroups.group(batch)
    sequences = Shingles.hash(batch.hashes, batch.offsets)
    if changed := [number for number, text in enumerate(texts) if text != plain[number]]:
        written = PagedTokens.tokenize([texts[number] for number in changed])
        for number, *its in zip(changed, written.batch.join_tokens(), written.signs, strict=True):
            words[number], signs[number] = its
    titles = [document.title for document in documents]
    titles, is_titled = content.sign_titles(words, signs, written_lengths, titles)
    counted = [title if counts else "" for title, counts in zip(titles, is_titled, strict=True)]
    rarest = RarestTerms.look_up(batch, groups, table)
    number_counts, number_sketch = numbers.sign_batch(batch, groups)
    terms, term_counts = feature_set.sign_batch(rarest, table)
    noisy = noise.sign_blocks(batch, rarest, table)
    noisy[list(map(is_source_code, texts))] = 0
    return SignedColumns(
        idf=table.name if table else "",
        names=[document.id for document in documents],
        lengths=batch.lengths,
        shingles=sequences.distinct(),
        contents=list(map(content.digest, words, counted, signs, map(mail_key, documents))),
        words=list(map(content.short_hash, words)),
        signs=list(map(content.short_hash, signs)),
        titles=titles,
        title_flags=is_titled,
        profiles=text_profile.sign_batch(batch, groups),
        numbers=number_counts,
        number_sketch=number_sketch,
        slots=minhash.sign_batch(sequences),
        fingerprints=feature_set.fingerprint_batch(batch, rarest),
        candidates=np.diff(rarest.offsets),
        terms=terms,
        term_counts=term_counts,
        noise=noisy,
        long=[each.encode() if each else b"" for each in long_text.sign_batch(page_tokens, groups, sequences)],
    )


def sign_and_pack(
    documents: Iterable[Document], tables: Tables, distinct: Sequence[str] = ()
) -> Iterator[tuple[Document, StoredSignatures, bytes]]:
    """Sign a stream of documents in batches, so that memory does not grow with their number.

    Yields each document with its language, the additionally stored signatures, and the packed value.
    """

    def pack_batch(batch: Sequence[Document], table: Table | None) -> list[tuple[Document, StoredSignatures, bytes]]:
        if loops.IN_USE is None or _is_little(batch):
            signed = [sign_one(document, table) for document in batch]
            stored = [StoredSignatures(each.length, each.idf, each.long) for each in signed]
            values = [pack(document, each, distinct) for document, each in zip(batch, signed, strict=True)]
        else:
            columns = sign_columns(batch, table)
            lengths = zip(columns.lengths.tolist(), columns.long, strict=True)
            stored = [StoredSignatures(length, columns.idf, long) for length, long in lengths]
            values = columns.pack(batch, distinct)
        return list(zip(batch, stored, values, strict=True))

    for batch in batches(documents):
        yield from _map_by_table(batch, tables, pack_batch)


def _map_by_table(
    documents: Sequence[Document], tables: Tables, work: Callable[[Sequence[Document], Table | None], Sequence[T]]
) -> list[T]:
    """Apply a function to the documents of each idf table; the results are in the order of the documents."""
    places: dict[Table | None, list[int]] = defaultdict(list)
    current = {language: tables.of(language) for language in {document.language for document in documents}}
    for place, document in enumerate(documents):
        places[current[document.language]].append(place)
    results: dict[int, T] = {}
    for table, members in places.items():
        results |= zip(members, work([documents[place] for place in members], table), strict=True)
    return [results[place] for place in range(len(documents))]


def _is_little(documents: Sequence[Document]) -> bool:
    return sum(len(document.text) for document in documents) < PLAIN_BELOW


def digest(document: Document, table: str, schema: str = SCHEMA) -> str:
    """Hash all stored fields of a document except for its version.

    >>> digest(Document("a", "We the People", version=1), "") == digest(Document("a", "We the People", version=2), "")
    True
    """
    record = {name: getattr(document, name) for name in ("id", "text", "title", "date", "source", "url", "language")}
    record |= {"meta": dict(document.meta), "schema": schema, "table": table}
    return xxhash.xxh3_128_hexdigest(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
