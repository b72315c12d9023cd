"""Which rows could be duplicates at all: those that share a key, so that never all pairs are compared.

A pair that the decision joins shares its content hash, its fingerprint, its profile, a band of its min-hash, or, since
two sets that share 40 of 60 terms share one of any 21 of each taken in the same order, one of the terms that are rarest
in the window (the prefix filter of Chaudhuri, Ganti and Kaushik 2006).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.dedupe.verification import Rows, eligible
from ibidem_ingest.decision import Policy, Terms, least_shared
from ibidem_ingest.signatures.packed import WEAK
from ibidem_ingest.signatures.packed_columns import NO_TERM, PackedColumns
from ibidem_ingest.signatures.signature import BANDS

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, slots=True)
class Holders:
    """Who holds which key: one entry for each key and row, keys that only one row holds left out.

    Args:
        key: (e,) number of the key, ascending.
        row: (e,) rows, ascending within a key.
    """

    key: Rows
    row: Rows

    def among(self, rows: NDArray[np.bool_]) -> "Holders":
        """Keep the entries of some rows.

        Args:
            rows: (n,) whether a row is kept.
        """
        kept = np.flatnonzero(rows[self.row])
        return Holders(self.key[kept], self.row[kept])


def holders(columns: PackedColumns, policy: Policy) -> Holders:
    """Find which rows share a key under a policy.

    Args:
        columns: The packed values, in rank order.
        policy: Evidence that it does not count gives no keys.
    """
    words = columns.length > 0
    parts = [shared(folded(columns.content), words)]
    if policy.level != "identical":
        strong = words & (columns.fingerprint != 0) & ((columns.flags & WEAK) == 0)
        if policy.fingerprint is not None:
            parts.append(shared(columns.fingerprint[:, None], strong))
        if policy.profile is not None:
            parts.append(shared(columns.profile[:, None], words & (columns.profile != 0)))
        if policy.slots is not None:
            parts.append(shared(bands(columns.slots), words & (columns.slot_count > 0)))
        if policy.terms is not None:
            parts.append(rarest(columns, policy.terms))
    return joined(parts)


def folded(content: Hashes) -> Hashes:
    """Fold the two halves of a content hash into one; a collision costs a comparison and nothing else."""
    keys: Hashes = content[:, :1] ^ content[:, 1:]
    return keys


def bands(slots: NDArray[np.uint16]) -> Hashes:
    """Return the (n, 33) keys of the bands: three slots and the band's number."""
    wide = slots[:, : 3 * BANDS].astype(np.uint64)
    number = np.arange(BANDS, dtype=np.uint64) << np.uint64(48)
    keys: Hashes = wide[:, 0::3] | wide[:, 1::3] << np.uint64(16) | wide[:, 2::3] << np.uint64(32) | number
    return keys


def shared(keys: Hashes, carried: NDArray[np.bool_]) -> Holders:
    """Find the keys that several rows hold.

    Args:
        keys: (n, k) keys of each row.
        carried: (n,) whether the row has these keys.
    """
    rows = np.flatnonzero(carried)
    return several(keys[rows].ravel(), np.repeat(rows, keys.shape[1]), len(carried))


def several(keys: NDArray[np.generic], rows: Rows, size: int) -> Holders:
    """Group entries by key and drop those that stand alone.

    Args:
        keys: (e,) a key for each entry.
        rows: (e,) its row.
        size: The number of all rows.
    """
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.ones(len(keys), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    alone = new.copy()
    alone[:-1] &= new[1:]
    kept = np.flatnonzero(~alone)
    pairs = np.sort(np.cumsum(new)[kept] * size + rows[order[kept]])
    return Holders(pairs // size, pairs % size) if size else Holders(pairs, pairs)


def rarest(columns: PackedColumns, rule: Terms) -> Holders:
    """Find who shares one of the terms that are rarest among these rows.

    A set of s terms that shares at least m with another is found by its s - m + 1 first terms in any order that is the
    same for all; the order by the number of holders here makes the fewest candidates.
    """
    rows = np.flatnonzero(eligible(columns, rule))
    if not len(rows):
        return Holders(rows, rows)
    terms, held = numbered(columns, rows)
    sizes = columns.term_count[rows].astype(np.int64)
    least = max(1, least_shared(rule.share, int(sizes.min())))
    first = np.argsort(held << 32 | terms, axis=1)
    prefix = np.zeros(terms.shape, bool)
    np.put_along_axis(prefix, first, np.arange(terms.shape[1]) < (sizes - least + 1)[:, None], axis=1)
    at, place = np.nonzero(prefix & (held > 1))
    return several(terms[at, place], rows[at], len(columns))


def numbered(columns: PackedColumns, rows: Rows) -> tuple[Rows, Rows]:
    """Number the terms that occur in some rows, and count their holders; filling is held by more than can be.

    Returns:
        (r, 60) numbers, those of two idf tables apart, and (r, 60) counts.
    """
    table = np.unique(columns.idf[rows], return_inverse=True)[1].reshape(-1, 1).astype(np.int64)
    codes = columns.terms[rows].astype(np.int64)
    _, number, count = np.unique(table << 25 | codes, return_inverse=True, return_counts=True)
    number = number.reshape(codes.shape)
    return number, np.where(codes == NO_TERM, len(rows) + 1, count[number])


def joined(parts: list[Holders]) -> Holders:
    """Join entries of several kinds into one set; their keys are numbered on."""
    keys, above = [], 0
    for part in parts:
        keys.append(part.key + above)
        above += int(part.key[-1]) + 1 if len(part.key) else 0
    return Holders(np.concatenate(keys), np.concatenate([part.row for part in parts]))
