"""Candidate pairs of stored documents: pairs that share the evidence which the decision needs.

Duplicates are looked up by the keys of a document, as far as the policy counts these keys as evidence.

Every pair that the decision would accept is a candidate; the decision refuses a few of the candidates.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.policy import Characters, Policy, Terms, min_shared_terms
from ibidem_engines.stored_groups import LeadKeys, Several
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.lookup_keys import LookupField, character_values, content_key, lookup_keys
from ibidem_ingest.signatures.minhash import BAND_ROWS
from ibidem_ingest.signatures.packed import FULL, WEAK, Packed
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.schema import BANDS, FULL_SET, RAREST


def min_rare_terms(rule: Terms) -> int:
    """Return how many of their 25 rarest terms two full sets share at least, when they share enough of their 60 terms.

    >>> min_rare_terms(Terms())
    5
    """
    return max(1, RAREST - (FULL_SET - min_shared_terms(rule.share, FULL_SET)))


def content_keys(packed: Packed) -> LeadKeys:
    """Return the look-up key of identical documents."""
    return LeadKeys({"content": [content_key(packed)]})


def near_keys(packed: Packed, policy: Policy, keys: Mapping[LookupField, Sequence[str]] | None = None) -> LeadKeys:
    """Return the look-up keys of near duplicates.

    Args:
        packed: The document's signatures.
        policy: The policy; keys of signatures that it does not count as evidence are left out.
        keys: Its look-up keys, where `lookup_keys_batch` has made them for several documents at once.
    """
    if policy.level == "identical":
        return LeadKeys({})
    evidence = {
        "fingerprint": policy.fingerprint is not None,
        "profile": policy.profile is not None,
        "bands": policy.slots is not None,
    }
    keys = lookup_keys(packed) if keys is None else keys
    several: dict[LookupField, Several] = {}
    if policy.terms is not None and "rare" in keys:
        several["rare"] = _require(keys["rare"], min_rare_terms(policy.terms), packed.length, policy.terms.lengths)
    if policy.characters is not None and "characters" in keys:
        several["characters"] = _require(
            keys["characters"], policy.characters.pairs, packed.length, policy.characters.lengths
        )
    return LeadKeys({clue: values for clue, values in keys.items() if evidence.get(clue)}, several)


def _require(values: Sequence[str], min_shared: int, length: int, ratio: float) -> Several:
    """Require so many common values, and a length within a ratio of the document's."""
    ratio = ratio or 1e-9
    return Several(values, min_shared, ceil(length * ratio), min(floor(length / ratio), 2**31 - 1))


Keys = NDArray[np.uint64]
Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]
Pairs = tuple[Rows, Rows]

AT_ONCE = 2_000_000
"""Pairs that share a key and are held at once: bounds the memory."""

TABLE = 8
"""Counts that a table of all pairs may have for each pair that shares a key: a larger one takes longer than sorting."""


def find_candidates(a: PackedColumns, b: PackedColumns, policy: Policy) -> list[list[int]]:
    """Return for each row of `a` the rows of `b` that may be its duplicates, ascending.

    Args:
        a: Packed columns of documents.
        b: Packed columns of other documents, or `a` itself for the earlier rows of it.
        policy: The policy of the decision.
    """
    candidates: list[set[int]] = [set() for _ in range(len(a))]
    for rows, partners in _candidate_pairs(a, b, policy):
        mask = _guards_agree(a, b, rows, partners)
        for row, partner in zip(rows[mask].tolist(), partners[mask].tolist(), strict=True):
            candidates[row].add(partner)
    return [sorted(each) for each in candidates]


def _candidate_pairs(a: PackedColumns, b: PackedColumns, policy: Policy) -> Iterator[Pairs]:
    join = partial(_join, a, b)
    yield from join(_content)
    if policy.level == "identical":
        return
    if policy.fingerprint is not None:
        yield from join(_fingerprint)
    if policy.profile is not None:
        yield from join(_profile)
    if policy.slots is not None:
        for rows, partners in join(_bands):
            equal = (a.slots[rows] == b.slots[partners]).view(np.uint8).sum(axis=1, dtype=np.uint8)
            mask = equal >= policy.slots.equal
            yield rows[mask], partners[mask]
    if policy.terms is not None:
        for rows, partners in join(_rare, min_rare_terms(policy.terms)):
            yield _filter_terms(a, b, rows, partners, policy.terms)
    if policy.characters is not None:
        for rows, partners in join(_characters, policy.characters.pairs):
            yield _filter_characters(a, b, rows, partners, policy.characters)


def _join(
    a: PackedColumns, b: PackedColumns, keys: Callable[[PackedColumns], Keys], min_shared: int = 1
) -> Iterator[Pairs]:
    """Yield the pairs that share so many keys of a kind."""
    a_keys = keys(a)
    return join_by_keys(a_keys, a_keys if b is a else keys(b), min_shared)


def _guards_agree(a: PackedColumns, b: PackedColumns, rows: Rows, partners: Rows) -> Bools:
    """Return which pairs agree in guard and title, as `decision.differ_where_they_must_not` does for one pair."""
    agree: Bools = np.ones(len(rows), bool)
    for left, right in ((a.guard[rows], b.guard[partners]), (a.title[rows], b.title[partners])):
        agree &= (left == right) | (left == 0) | (right == 0)
    return agree


def join_by_keys(a: Keys, b: Keys, min_shared: int = 1) -> Iterator[Pairs]:
    """Yield the pairs of rows that share so many keys, each pair once; zero means no key.

    Args:
        a: (n, k) keys of n rows.
        b: (m, l) keys of m rows; where it is `a`, each row is paired with earlier ones only.
        min_shared: How many keys a pair has to share.

    >>> a, b = np.array([[1, 2], [3, 0]], np.uint64), np.array([[2, 1], [0, 5]], np.uint64)
    >>> [(rows.tolist(), partners.tolist()) for rows, partners in join_by_keys(a, b)]
    [([0], [0])]
    >>> a = np.array([[1, 2], [3, 1]], np.uint64)
    >>> [(rows.tolist(), partners.tolist()) for rows, partners in join_by_keys(a, a)]
    [([1], [0])]
    """
    owners = np.repeat(np.arange(len(b)), b.shape[1])
    order = np.argsort(b, axis=None, kind="stable")
    keys, owners = b.ravel()[order], owners[order]
    start = np.searchsorted(keys, a, "left")
    end = _positions(order).reshape(a.shape) if b is a else np.searchsorted(keys, a, "right")
    times = np.where(a != 0, end - start, 0)
    budget = np.cumsum(times.sum(axis=1)) // AT_ONCE
    for part in np.unique(budget).tolist():
        rows = np.flatnonzero(budget == part)
        offsets = np.repeat(rows - rows[0], times.shape[1]) * len(b)
        entries = _spread(offsets, start[rows].ravel(), times[rows].ravel(), owners)
        row, partner = np.divmod(_find_repeats(entries, len(rows) * len(b), min_shared), max(1, len(b)))
        yield row + rows[0], partner


def _find_repeats(numbers: Rows, limit: int, minimum: int) -> Rows:
    """Find the numbers that occur so often: counted in a table unless most of that would stay empty, else sorted.

    Args:
        numbers: (n,) numbers from 0 on.
        limit: Above all of them.
        minimum: How often a number occurs at least.

    >>> _find_repeats(np.array([5, 1, 5]), 6, 2).tolist(), _find_repeats(np.array([5, 1, 5]), 600, 2).tolist()
    ([5], [5])
    """
    if limit <= TABLE * len(numbers):
        return np.flatnonzero(np.bincount(numbers, minlength=limit) >= minimum)
    values, counts = np.unique(numbers, return_counts=True)
    return values[counts >= minimum]


def _positions(order: Rows) -> Rows:
    """Return where each entry is in an order.

    >>> _positions(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order))
    return positions


def _spread(first: Rows, start: Rows, times: Rows, owners: Rows) -> Rows:
    """Add to each number the owners of a range, one after the other.

    >>> _spread(np.array([10, 20]), np.array([0, 1]), np.array([2, 1]), np.array([3, 4])).tolist()
    [13, 14, 24]
    """
    ends = np.cumsum(times)
    step = np.arange(int(times.sum())) - np.repeat(ends - times - start, times)
    return np.repeat(first, times) + owners[step]


def _filter_terms(a: PackedColumns, b: PackedColumns, rows: Rows, partners: Rows, rule: Terms) -> Pairs:
    """Keep the pairs whose sets share enough terms at similar lengths."""
    lengths = a.length[rows], b.length[partners]
    mask = np.minimum(*lengths) / np.maximum(np.maximum(*lengths), 1) >= rule.lengths
    mask &= a.idf[rows] == b.idf[partners]
    rows, partners = rows[mask], partners[mask]
    codes = np.sort(np.concatenate((a.terms[rows], b.terms[partners]), axis=1), axis=1)
    overlap = ((codes[:, 1:] == codes[:, :-1]) & (codes[:, 1:] < 1 << 24)).sum(axis=1)
    sizes = np.minimum(a.term_count[rows], b.term_count[partners]).astype(int)
    minimum = np.array([min_shared_terms(rule.share, size) for size in range(61)])[sizes]
    mask = overlap >= minimum
    return rows[mask], partners[mask]


def _filter_characters(a: PackedColumns, b: PackedColumns, rows: Rows, partners: Rows, rule: Characters) -> Pairs:
    """Keep the pairs with the same idf table that share enough slots of the sketch of their character runs."""
    minimum = min(
        (equal for equal in range(noise.SLOTS + 1) if noise.estimate(equal) >= rule.share), default=noise.SLOTS
    )
    equal = (a.noise[rows, : noise.SLOTS] == b.noise[partners, : noise.SLOTS]).sum(axis=1)
    mask = (equal >= minimum) & (a.idf[rows] == b.idf[partners])
    return rows[mask], partners[mask]


def _content(columns: PackedColumns) -> Keys:
    """Mix both halves of a content hash into one key; equal hashes have equal keys."""
    keys: Keys = columns.content[:, 0] ^ (columns.content[:, 1] * np.uint64(0x9E3779B97F4A7C15))
    return keys[:, None]


def _profile(columns: PackedColumns) -> Keys:
    return columns.profile[:, None]


def _fingerprint(columns: PackedColumns) -> Keys:
    return np.where(columns.flags & WEAK, 0, columns.fingerprint).astype(np.uint64)[:, None]


def _bands(columns: PackedColumns) -> Keys:
    """Write each band with its number as one key."""
    slots = columns.slots[:, : BANDS * BAND_ROWS].astype(np.uint64).reshape(-1, BANDS, BAND_ROWS)
    number = np.arange(1, BANDS + 1, dtype=np.uint64) << np.uint64(48)
    keys = slots[..., 0] << np.uint64(32) | slots[..., 1] << np.uint64(16) | slots[..., 2] | number
    return np.where(columns.slot_count[:, None] > 0, keys, 0).astype(np.uint64)


def _rare(columns: PackedColumns) -> Keys:
    """Number the rarest terms of full sets from one."""
    terms = columns.terms[:, :RAREST].astype(np.uint64) + np.uint64(1)
    return np.where((columns.flags & FULL)[:, None] > 0, terms, 0).astype(np.uint64)


def _characters(columns: PackedColumns) -> Keys:
    keys = character_values(columns.idf, columns.noise)
    return np.where(columns.noise[:, noise.SLOTS, None] > 0, keys, 0).astype(np.uint64)
