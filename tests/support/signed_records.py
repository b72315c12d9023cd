"""Records that are signed by hand, in the plainest way: the shape of real signatures, none of their finer rules."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import xxhash

from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.long_text import sign_long
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures

IDF = "00112233445566aa"
MULTIPLIERS = np.array([[xxhash.xxh64_intdigest(b"slot", slot) | 1] for slot in range(SLOTS)], np.uint64)


def least_hashes(words: list[str]) -> tuple[int, ...]:
    """Return the least hash of a shingle for each slot: one digest of each shingle, mixed anew for every slot."""
    shingles = {" ".join(words[at : at + 5]) for at in range(max(1, len(words) - 4))}
    digests = np.array([[xxhash.xxh64_intdigest(shingle.encode()) for shingle in shingles]], np.uint64)
    return tuple(((digests * MULTIPLIERS) >> np.uint64(48)).min(axis=1).tolist())


def signatures_of(text: str, name: str) -> Signatures:
    words = text.lower().split()
    digest = xxhash.xxh3_128_hexdigest(" ".join(words).encode())
    codes = tuple(sorted({xxhash.xxh32_intdigest(word.encode()) & 0xFFFFF for word in words}))
    return Signatures(
        length=len(words),
        shingles=len(set(words)),
        content=f"ch4:{digest}" if words else f"ch4:none:{name}",
        fingerprint=f"fp1:{digest}{'0' * 8}" if words else "",
        weak=False,
        profile=f"tp1:{xxhash.xxh3_128_hexdigest(' '.join(sorted(words)).encode())}" if len(words) > 4 else "",
        numbers=0,
        number_sketch=(),
        terms=codes[:FULL_SET],
        full=len(codes) >= FULL_SET,
        slots=least_hashes(words) if words else (),
        idf=IDF if words else "",
    )


def packed_records(documents: Iterable[Document], signed: Iterable[Signatures]) -> list[Record]:
    """Pair documents with their signatures, each as its first version."""
    rows = enumerate(zip(documents, signed, strict=True))
    return [Record(each, signatures, 1, f"{at:032x}", pack(each, signatures)) for at, (each, signatures) in rows]


def make_record(name: str, text: str = "grain prices rose in chicago", version: int = 1, **fields: object) -> Record:
    document = Document(name, text, **fields)  # type: ignore[arg-type]
    long_signatures = sign_long(document)
    signatures = replace(signatures_of(text, name), long=long_signatures.encode() if long_signatures else b"")
    digest = xxhash.xxh3_128_hexdigest(repr(document).encode())
    return Record(document, signatures, version, digest, pack(document, signatures))
