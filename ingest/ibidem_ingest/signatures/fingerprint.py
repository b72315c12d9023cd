"""idf fingerprint: the six rarest terms and their positions (Conrad, Guo and Schriber 2003, section 6.1).

Candidates are the document's terms in the idf table with idf_norm ≤ 0.8. The six with the highest idf_norm are taken
(ties in code-point order), each with the token offset of its first occurrence, relative to the smallest of the six. In
the order of their idf they are written `term:offset`, joined by one space, in UTF-8, and hashed with SHA-1.
"""

from collections.abc import Sequence
from hashlib import sha1
from typing import NamedTuple

import numpy as np

from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.text.tokens import TokenBatch

TERMS = 6
SCHEME = "fp1:"


class Fingerprint(NamedTuple):
    value: str  # `fp1:` and 40 hex digits; empty when there is no candidate
    weak: bool  # whether there were fewer than six candidates: it is then never evidence


NONE = Fingerprint("", weak=True)


def sign(tokens: Sequence[str], table: Table) -> Fingerprint:
    """Fingerprint one document.

    >>> table = Table.build("en", 9, {"res": 5, "ipsa": 6, "loquitur": 7}, "three words")
    >>> sign("the thing speaks: res ipsa loquitur".split(), table).value
    'fp1:51e8193accd53ece8d53862a8d2da19965a7d9dd'
    >>> sha1(b"res:0 ipsa:1 loquitur:2").hexdigest()
    '51e8193accd53ece8d53862a8d2da19965a7d9dd'
    """
    rarest = candidates(tokens, table)[0][:TERMS]
    if not rarest:
        return NONE
    origin = min(candidate.first for candidate in rarest)
    written = " ".join(f"{candidate.term}:{candidate.first - origin}" for candidate in rarest)
    return Fingerprint(SCHEME + _sha1(written.encode()).hex(), len(rarest) < TERMS)


class FingerprintColumns(NamedTuple):
    values: Sequence[bytes]  # SHA-1 of each, 20 bytes; none if there is no candidate
    terms: Sequence[int]  # how many terms each is made of


def sign_batch(batch: TokenBatch, rarest: RarestTerms) -> FingerprintColumns:
    """Fingerprint several documents, as `sign` does."""
    room = len(batch.buffer) + loops.MAX_NUMBER_BYTES * rarest.first.size
    tokens = (batch.buffer, batch.starts, batch.ends, rarest.first, rarest.offsets, len(batch), TERMS)
    lines = loops.compiled().lines("ibidem_fingerprints", room, len(batch), tokens)
    digests = [_sha1(line) if line else b"" for line in lines]
    return FingerprintColumns(digests, np.minimum(np.diff(rarest.offsets), TERMS).tolist())


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
