"""idf fingerprint: the six rarest terms and where they are (Conrad, Guo and Schriber 2003, section 6.1).

Candidates are the document's terms in the idf table with idf_norm ≤ 0.8. The six with the highest idf_norm are taken
(ties in code-point order), each with the token offset of its first occurrence, relative to the smallest of the six. In
the order of their idf they are written `term:offset`, joined by one space, in UTF-8, and hashed with SHA-1. In the
binned fingerprint each offset is rounded up to a multiple of 25, the end of its bin; 0 and the multiples themselves
stay. With bins of another size, say 10, the value begins with `fb1.10:`, so that it equals none of 25.
"""

from collections.abc import Sequence
from hashlib import sha1
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.text.tokens import TokenBatch

TERMS = 6
BIN = 25
STRICT, BINNED = "fp1:", "fb1:"
_WRITTEN = [b" ".join([b"%b:%d"] * terms) for terms in range(TERMS + 1)]


class Fingerprint(NamedTuple):
    """The fingerprint of one document.

    Args:
        strict: `fp1:` and 40 hex digits; empty when there is no candidate.
        binned: `fb1:` and 40 hex digits (with bins of 10 `fb1.10:`); empty when there is no candidate.
        weak: Whether there were fewer than six candidates: it is then never evidence.
    """

    strict: str
    binned: str
    weak: bool


NONE = Fingerprint("", "", weak=True)


def sign(tokens: Sequence[str], table: Table, bin_size: int = BIN) -> Fingerprint:
    """Fingerprint one document.

    Args:
        tokens: Its tokens.
        table: The idf table of its language.
        bin_size: Tokens in a bin of the binned fingerprint.

    >>> table = Table.build("en", 9, {"res": 5, "ipsa": 6, "loquitur": 7}, "three words")
    >>> sign("the thing speaks: res ipsa loquitur".split(), table).strict
    'fp1:51e8193accd53ece8d53862a8d2da19965a7d9dd'
    >>> sha1(b"res:0 ipsa:1 loquitur:2").hexdigest()
    '51e8193accd53ece8d53862a8d2da19965a7d9dd'
    """
    rarest = candidates(tokens, table)[0][:TERMS]
    terms = [candidate.term.encode() for candidate in rarest]
    origin = min((candidate.first for candidate in rarest), default=0)
    offsets = [candidate.first - origin for candidate in rarest]
    binned = [-(-offset // bin_size) * bin_size for offset in offsets]
    ends, counts = [2 * len(terms)], [len(terms)]
    strict, bins = (_digests(_interleave(terms, places), ends, counts) for places in (offsets, binned))
    return FingerprintColumns(strict, bins, counts, _scheme(bin_size)).rows()[0]


class FingerprintColumns(NamedTuple):
    """The fingerprints of several documents.

    Args:
        strict: SHA-1 of each, 20 bytes; none where there is no candidate.
        binned: The same of the binned ones.
        terms: How many terms each is made of.
        scheme: That of the binned ones.
    """

    strict: Sequence[bytes]
    binned: Sequence[bytes]
    terms: Sequence[int]
    scheme: str = BINNED

    def rows(self) -> list[Fingerprint]:
        """Return the fingerprints document by document."""
        rows = zip(self.strict, self.binned, self.terms, strict=True)
        return [
            Fingerprint(STRICT + strict.hex(), self.scheme + binned.hex(), terms < TERMS) if terms else NONE
            for strict, binned, terms in rows
        ]


def none_batch(documents: int) -> FingerprintColumns:
    """Return the value for documents without fingerprints."""
    return FingerprintColumns([b""] * documents, [b""] * documents, [0] * documents)


def sign_batch(batch: TokenBatch, rarest: RarestTerms, bin_size: int = BIN) -> FingerprintColumns:
    """Fingerprint several documents, as `sign` does each."""
    counts = np.minimum(np.diff(rarest.offsets), TERMS)
    if loops.IN_USE and bin_size > 1:
        tokens = (batch.buffer, batch.starts, batch.ends)
        text, at = loops.IN_USE.fingerprints(tokens, (rarest.first, rarest.offsets), TERMS, bin_size)
        digests = [_sha1(text[a : b - 1]) if b > a else b"" for a, b in pairwise(at)]
        return FingerprintColumns(digests[::2], digests[1::2], counts.tolist(), _scheme(bin_size))
    ends = counts.cumsum()
    position = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    first = rarest.first.take(np.repeat(rarest.offsets[:-1], counts) + position)
    mask = counts > 0
    origins = np.minimum.reduceat(first, (ends - counts)[mask]) if first.size else first
    offsets = first - np.repeat(origins, counts[mask])
    places = zip(batch.starts.take(first).tolist(), batch.ends.take(first).tolist(), strict=True)
    terms = [batch.buffer[start:end] for start, end in places]
    bounds, sizes = (2 * ends).tolist(), counts.tolist()
    strict = _digests(_interleave(terms, offsets.tolist()), bounds, sizes)
    binned = _digests(_interleave(terms, (-(-offsets // bin_size) * bin_size).tolist()), bounds, sizes)
    return FingerprintColumns(strict, binned, sizes, _scheme(bin_size))


def _interleave(terms: Sequence[bytes], offsets: Sequence[int]) -> list[bytes | int]:
    """Return a term, its offset, the next term, and so on."""
    entries: list[bytes | int] = [0] * (2 * len(terms))
    entries[0::2] = terms
    entries[1::2] = offsets
    return entries


def _scheme(bin_size: int) -> str:
    return BINNED if bin_size == BIN else f"fb1.{bin_size}:"


def _digests(terms: list[bytes | int], ends: Sequence[int], counts: Sequence[int]) -> list[bytes]:
    """Hash the terms and offsets of several documents."""
    rows = zip(ends, counts, strict=True)
    return [_sha1(_WRITTEN[count] % tuple(terms[end - 2 * count : end])) if count else b"" for end, count in rows]


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
