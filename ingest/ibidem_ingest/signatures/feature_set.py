"""Feature set: the 60 terms with the highest idf (Conrad, Guo and Schriber 2003, section 7), in a fixed order.

A term is coded as its rank in the idf table, so a sorted set has its rarest terms first. A document with 20 to 59
candidates is padded with its terms that are not in the table, coded by hash above the table's range, lowest code first.
With fewer than 20 there is no set. Score = |A ∩ B| / min(|A|, |B|); the minimum is ours.

idf fingerprint: the six rarest terms and their positions (section 6.1). Candidates are the document's terms in the idf
table with idf_norm ≤ 0.8. The six with the highest idf_norm are taken (ties in code-point order), each with the token
offset of its first occurrence, relative to the smallest of the six. In the order of their idf they are written
`term:offset`, joined by one space, in UTF-8, and hashed with SHA-1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha1
from typing import NamedTuple

import numpy as np

from ibidem_ingest.idf.table import ABSENT, Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import TermGroups, TokenBatch, is_term
from ibidem_ingest.text.word_hash import Hashes, Places, wh1

TERMS = 60
MIN_TERMS = 20
_CODES = 1 << 24
FINGERPRINT_TERMS = 6  # of fewer it is weak, and never evidence
FINGERPRINT_SCHEME = "fp1:"


@dataclass(frozen=True, eq=False, slots=True)
class RarestTerms:
    """The candidate terms of a batch: in the idf table with idf_norm of at most 0.8; by document, then rank."""

    rank: Places  # rank of each candidate; ascending within a document
    first: Places  # place of its first occurrence, counted in tokens of the batch
    offsets: Places  # where each document's candidates begin, and the end; documents + 1
    unknown_terms: Hashes  # `wh1` of the terms that are not in the table at all, document by document
    strange_offsets: Places  # where each document's begin, and the end

    @classmethod
    def look_up(cls, batch: TokenBatch, groups: TermGroups, table: Table | None) -> "RarestTerms":
        if table is None:
            none, offsets = np.zeros(0, np.int64), np.zeros(len(batch) + 1, np.int64)
            return cls(none, none, offsets, np.zeros(0, np.uint64), offsets)
        words, size = groups.vocabulary, groups.word.size
        pairs = (groups.word, groups.document, groups.first, size, len(batch))
        columns = (table.ranks(words.hashes), words.shapes.is_term.view(np.uint8), words.hashes)
        rank, first = np.empty((2, size), np.int64)
        offsets, strange_offsets = np.empty((2, len(batch) + 1), np.int64)
        out = (rank, first, offsets, unknown := np.empty(size + 1, np.uint64), strange_offsets)
        loops.call("ibidem_rarest", *pairs, *columns, table.first_allowed, ABSENT, *out)
        end = offsets[-1]
        return cls(rank[:end], first[:end], offsets, unknown[: strange_offsets[-1]], strange_offsets)


class Candidate(NamedTuple):
    rank: int  # its rank in the idf table
    term: str
    first: int  # token offset of its first occurrence


def candidates(tokens: Sequence[str], table: Table) -> tuple[list[Candidate], list[int]]:
    """Look up the terms of one document, as `RarestTerms` does for many."""
    by_rank: dict[int, Candidate] = {}
    unknown_terms = []
    seen = set[str]()
    for first, term in enumerate(tokens):
        if term in seen or not is_term(term):
            continue
        seen.add(term)
        hash_ = wh1(term)
        rank = table.rank(hash_)
        if rank == ABSENT:
            unknown_terms.append(hash_)
        elif rank >= table.first_allowed:
            by_rank.setdefault(rank, Candidate(rank, term, first))  # words of one hash are one word, as in a batch
    return sorted(by_rank.values()), unknown_terms


def sign(terms: Sequence[Candidate], unknown_terms: Sequence[int], size: int) -> tuple[int, ...]:
    """Collect the feature set of one document by its candidates, its unknown terms and the size of the table.

    Returns at most 60 codes of 24 bits, ascending; none when there is no set. With 60 candidates it is full.

    >>> sign([Candidate(rank, "word", rank) for rank in range(20)], [], 20)[:3]
    (0, 1, 2)
    """
    if len(terms) < MIN_TERMS:
        return ()
    ranks = [candidate.rank for candidate in terms[:TERMS]]
    return (*ranks, *sorted({size + hash_ % (_CODES - size) for hash_ in unknown_terms})[: TERMS - len(ranks)])


def sign_batch(rarest: RarestTerms, table: Table | None) -> tuple[Places, Places]:
    """Collect the feature sets of several documents, as `sign` does: the codes of all, and how many each has."""
    counts = np.empty(rarest.offsets.size - 1, np.int64)
    codes = np.empty(counts.size * TERMS, np.int64)
    columns = (rarest.rank, rarest.offsets, rarest.unknown_terms, rarest.strange_offsets, counts.size)
    limits = (table.size if table else 0, _CODES, MIN_TERMS, TERMS)
    size = loops.call("ibidem_features", *columns, *limits, codes, counts)
    return codes[:size], counts


def fingerprint(terms: Sequence[Candidate]) -> str:
    """Fingerprint one document by its candidate terms, rarest first; empty without any.

    >>> fingerprint([Candidate(0, "res", 3), Candidate(1, "ipsa", 4), Candidate(2, "loquitur", 5)])
    'fp1:51e8193accd53ece8d53862a8d2da19965a7d9dd'
    >>> sha1(b"res:0 ipsa:1 loquitur:2").hexdigest()
    '51e8193accd53ece8d53862a8d2da19965a7d9dd'
    """
    rarest = terms[:FINGERPRINT_TERMS]
    origin = min((candidate.first for candidate in rarest), default=0)
    written = " ".join(f"{candidate.term}:{candidate.first - origin}" for candidate in rarest)
    return FINGERPRINT_SCHEME + _sha1(written.encode()).hex() if written else ""


def fingerprint_batch(batch: TokenBatch, rarest: RarestTerms) -> list[bytes]:
    """Fingerprint several documents, as `fingerprint` does; returns the bare hashes, empty without candidates."""
    room = len(batch.buffer) + loops.MAX_NUMBER_BYTES * rarest.first.size
    tokens = (batch.buffer, batch.starts, batch.ends, rarest.first, rarest.offsets, len(batch), FINGERPRINT_TERMS)
    return [_sha1(line) if line else b"" for line in loops.lines("ibidem_fingerprints", room, len(batch), tokens)]


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
