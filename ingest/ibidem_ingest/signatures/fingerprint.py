"""idf fingerprint: the six rarest terms and their positions (Conrad, Guo and Schriber 2003, section 6.1).

Candidates are the document's terms in the idf table with idf_norm ≤ 0.8. The six with the highest idf_norm are taken
(ties in code-point order), each with the token offset of its first occurrence, relative to the smallest of the six. In
the order of their idf they are written `term:offset`, joined by one space, in UTF-8, and hashed with SHA-1.
"""

from collections.abc import Sequence
from hashlib import sha1

from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.feature_set import Candidate, RarestTerms
from ibidem_ingest.text.tokens import TokenBatch

TERMS = 6  # of fewer it is weak, and never evidence
SCHEME = "fp1:"


def sign(terms: Sequence[Candidate]) -> str:
    """Fingerprint one document by its candidate terms, rarest first; empty without any.

    >>> sign([Candidate(0, "res", 3), Candidate(1, "ipsa", 4), Candidate(2, "loquitur", 5)])
    'fp1:51e8193accd53ece8d53862a8d2da19965a7d9dd'
    >>> sha1(b"res:0 ipsa:1 loquitur:2").hexdigest()
    '51e8193accd53ece8d53862a8d2da19965a7d9dd'
    """
    rarest = terms[:TERMS]
    origin = min((candidate.first for candidate in rarest), default=0)
    written = " ".join(f"{candidate.term}:{candidate.first - origin}" for candidate in rarest)
    return SCHEME + _sha1(written.encode()).hex() if written else ""


def sign_batch(batch: TokenBatch, rarest: RarestTerms) -> list[bytes]:
    """Fingerprint several documents, as `sign` does; returns the bare hashes, empty without candidates."""
    room = len(batch.buffer) + loops.MAX_NUMBER_BYTES * rarest.first.size
    tokens = (batch.buffer, batch.starts, batch.ends, rarest.first, rarest.offsets, len(batch), TERMS)
    lines = loops.compiled().lines("ibidem_fingerprints", room, len(batch), tokens)
    return [_sha1(line) if line else b"" for line in lines]


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
