"""The candidate terms of each document, rarest first: what fingerprint and feature set are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ibidem_ingest.idf.table import ABSENT, Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.text.terms import TermGroups, first_and_count, is_term
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import Hashes, Places, wh1


@dataclass(frozen=True, eq=False, slots=True)
class RarestTerms:
    """The candidate terms of a batch: in the idf table with idf_norm of at most 0.8; document by document, by rank.

    Args:
        rank: Rank of each candidate; ascending within a document.
        first: Place of its first occurrence, counted in tokens of the batch.
        offsets: Where each document's candidates begin, and the end; documents + 1.
        strange: `wh1` of the terms that are not in the table at all, document by document.
        strange_offsets: Where each document's begin, and the end.
    """

    rank: Places
    first: Places
    offsets: Places
    strange: Hashes
    strange_offsets: Places

    @classmethod
    def of(cls, batch: TokenBatch, groups: TermGroups, table: Table) -> "RarestTerms":
        """Look up the terms of a batch.

        Args:
            batch: The tokens.
            groups: Their distinct ones.
            table: The idf table of their language.
        """
        words = groups.vocabulary
        ranks = table.ranks(words.hashes)
        if loops.IN_USE:
            columns = (ranks, words.shapes.is_term.view(np.uint8), words.hashes)
            pairs, limits = (groups.word, groups.document, groups.first), (table.first_allowed, ABSENT)
            return cls(*loops.IN_USE.rarest(pairs, columns, limits, len(batch)))
        absent = ranks == ABSENT
        positions = np.flatnonzero((~absent & (ranks >= table.first_allowed)).take(groups.word))
        rank, document = ranks.take(groups.word.take(positions)), groups.document.take(positions)
        order = _by_rank(document, rank)
        strange = np.flatnonzero((absent & words.shapes.is_term).take(groups.word))
        strange = strange.take(np.argsort(groups.document.take(strange), kind="stable"))
        return cls(
            rank=rank.take(order),
            first=groups.first.take(positions.take(order)),
            offsets=_offsets(document, len(batch)),
            strange=words.hashes.take(groups.word.take(strange)),
            strange_offsets=_offsets(groups.document.take(strange), len(batch)),
        )


class Candidate(NamedTuple):
    """One candidate term of one document.

    Args:
        rank: Its rank in the idf table.
        term: The term.
        first: Token offset of its first occurrence.
    """

    rank: int
    term: str
    first: int


def candidates(tokens: Sequence[str], table: Table) -> tuple[list[Candidate], list[int]]:
    """Look up the terms of one document, as `RarestTerms` does for many.

    Returns:
        The candidates, rarest first; and `wh1` of the terms that are not in the table.
    """
    known: dict[int, Candidate] = {}
    strange = []
    for term, (first, _) in first_and_count(tokens).items():
        if not is_term(term):
            continue
        hash_ = wh1(term)
        rank = table.rank(hash_)
        if rank == ABSENT:
            strange.append(hash_)
        elif rank >= table.first_allowed:
            known.setdefault(rank, Candidate(rank, term, first))  # words of one hash are one word, as in a batch
    return sorted(known.values()), strange


def _offsets(document: Places, documents: int) -> Places:
    """Return where each document's terms begin, and the end, once they are in the order of documents."""
    return np.concatenate(([0], np.bincount(document, minlength=documents).cumsum()))


def _by_rank(document: Places, rank: Places) -> Places:
    """Order terms by document, then rank: one sort of keys made of both and of the place, where 64 bits hold them."""
    place_bits = max(1, int(rank.size).bit_length())
    document_bits = int(document.max(initial=0)).bit_length()
    if place_bits + 24 + document_bits > 63:
        return np.lexsort((rank, document))
    keys = (document << 24 | rank) << place_bits
    keys |= np.arange(rank.size)
    keys.sort()
    keys &= (1 << place_bits) - 1
    return keys
