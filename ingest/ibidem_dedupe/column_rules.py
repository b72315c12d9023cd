"""Rules over columns: each kind of evidence for many pairs at once, equal to `pair_evidence` for one pair."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.policy import DISTANT_UNKNOWN, LONG_TOKENS, Policy, Terms, min_shared_terms
from ibidem_ingest.kernel.loops import call, check
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.long_text import PAGE_TOKENS
from ibidem_ingest.signatures.minhash import MIN_FOR_CONTAINMENT, correct_for_chance
from ibidem_ingest.signatures.noise import estimate_difference
from ibidem_ingest.signatures.numbers import FEW, FORM, FORM_SHARE, MIN_SHARE
from ibidem_ingest.signatures.packed import FULL, LONG, NO_DATE, NO_NUMBER, NO_TERM, WEAK, PackedColumns
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS

Bools = NDArray[np.bool_]
Rows = NDArray[np.int64]
Codes = NDArray[np.uint8]
Figures = NDArray[np.float64]

ALL_ROWS = slice(None)  # all rows


@dataclass(frozen=True, eq=False)
class Pairs:
    columns: PackedColumns  # the packed values
    a: Rows  # (m,) rows
    b: Rows  # (m,) rows

    def take(self, selection: NDArray[np.int64]) -> "Pairs":
        return Pairs(self.columns, self.a[selection], self.b[selection])

    def has_equal(self, column: NDArray[np.generic]) -> Bools:
        """Return whether a column has the same value on both sides."""
        mask: Bools = column[self.a] == column[self.b]
        return mask

    def shares(self, column: NDArray[np.generic]) -> Bools:
        """Return whether a column has the same value on both sides, which is not 0."""
        mask: Bools = (column[self.a] != 0) & self.has_equal(column)
        return mask

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Ratio of the lengths of the shorter and the longer text."""
        a, b = self.columns.length[self.a], self.columns.length[self.b]
        return np.minimum(a, b) / np.maximum(np.maximum(a, b), 1)

    @cached_property
    def numbers_shared(self) -> Figures:
        """Share of the numbers that both texts have: `numbers.compare`."""
        sketches = self.columns.number_sketch
        check(len(sketches), self.a, self.b)
        shared, union = np.empty((2, self.a.size), np.int64)
        columns = (sketches, sketches.shape[1], self.a, self.b, self.a.size, NO_NUMBER)
        call("ibidem_shared_smallest", *columns, shared, union)
        return np.where(union > 0, shared / np.maximum(1, union), 1.0)

    @property
    def numbers_differing(self) -> Figures:
        """Estimated number of numbers in only one text: `numbers.differing_numbers`."""
        counts = self.columns.numbers.astype(np.float64)
        return estimate_difference(self.numbers_shared, counts[self.a], counts[self.b])

    def forms_differ(self) -> Bools:
        """Return whether both texts are forms whose numbers differ: `numbers.forms_differ`."""
        counts, length = self.columns.numbers, self.columns.length
        of_a, of_b = (FORM * counts[rows].astype(np.int64) >= length[rows] for rows in (self.a, self.b))
        mask: Bools = of_a & of_b & (self.numbers_shared < FORM_SHARE)
        return mask

    def numbers_agree(self) -> Bools:
        """Return whether the numbers agree: `numbers.agree`."""
        counts = self.columns.numbers
        agree: Bools = (np.minimum(counts[self.a], counts[self.b]) < FEW) | (self.numbers_shared >= MIN_SHARE)
        return agree


def may_match(pairs: Pairs) -> Bools:
    """Return which pairs have words on both sides and no conflicting required fields."""
    columns = pairs.columns
    words = (columns.length[pairs.a] > 0) & (columns.length[pairs.b] > 0)
    a, b = columns.guard[pairs.a], columns.guard[pairs.b]
    may: Bools = words & ((a == b) | (a == 0) | (b == 0))
    return may


def is_in_window(pairs: Pairs, days: int | None) -> Bools:
    """Return which pairs are within the date window; a missing date passes."""
    if days is None:
        return np.ones(len(pairs.a), bool)
    start, end = pairs.columns.date_from, pairs.columns.date_to
    missing = (start == NO_DATE) | (end == NO_DATE)
    gap = np.maximum(start[pairs.a] - end[pairs.b], start[pairs.b] - end[pairs.a])
    within_days: Bools = missing[pairs.a] | missing[pairs.b] | (gap <= days)
    return within_days


def same_content(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.same_content` for many pairs."""
    del policy
    columns = pairs.columns
    return (
        pairs.has_equal(columns.content[:, 0])
        & pairs.has_equal(columns.content[:, 1])
        & pairs.has_equal(columns.scheme)
    )


def similar_shingles(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.similar_shingles` for many pairs."""
    columns = pairs.columns
    mask = np.zeros(len(pairs.a), bool)
    if policy.slots is None:
        return mask
    with_slots = (columns.slot_count[pairs.a] > 0) & (columns.slot_count[pairs.b] > 0)
    is_long = np.minimum(columns.length[pairs.a], columns.length[pairs.b]) >= LONG_TOKENS
    bands = (SLOTS // policy.band_rows, policy.band_rows)
    for kind, equal in ((~is_long, policy.slots.equal), (is_long, policy.slots.needed(LONG_TOKENS))):
        selection = np.flatnonzero(with_slots & kind)
        similar = np.empty(selection.size, bool)
        a, b = pairs.a[selection], pairs.b[selection]
        check(len(columns), a, b)
        call("ibidem_equal_slots", columns.slots, SLOTS, a, b, selection.size, equal, *bands, similar)
        mask[selection] = similar
    return mask


def eligible(columns: PackedColumns, rule: Terms, rows: Rows | slice = ALL_ROWS) -> Bools:
    """Return which rows have a feature set long enough to compare: `pair_evidence.eligible` for many rows."""
    sizes: Bools = (columns.term_count[rows] >= max(1, rule.smallest)) & (columns.idf[rows] != 0)
    return sizes & ((columns.flags[rows] & FULL) > 0) if rule.full else sizes


def shared_terms(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.shared_terms` for many pairs."""
    mask = np.zeros(len(pairs.a), bool)
    rule = policy.terms
    if rule is None:
        return mask
    columns = pairs.columns
    selection = np.flatnonzero(pairs.has_equal(columns.idf) & (pairs.lengths >= rule.lengths))
    selection = selection[eligible(columns, rule, pairs.a[selection]) & eligible(columns, rule, pairs.b[selection])]
    if rule.numbers:
        subset = pairs.take(selection)
        selection = selection[subset.numbers_agree() & ~subset.forms_differ()]
    a, b = pairs.a[selection], pairs.b[selection]
    min_shared = needed_by_size(rule.share)[np.minimum(columns.term_count[a], columns.term_count[b])]
    mask[selection] = count_shared(columns.terms, a, b) >= min_shared
    return mask


@lru_cache(maxsize=64)
def needed_by_size(share: float) -> NDArray[np.int64]:
    """Return the minimum number of shared terms for each size of the smaller set."""
    return np.array([min_shared_terms(share, size) for size in range(FULL_SET + 1)])


def count_shared(terms: NDArray[np.int32], a: Rows, b: Rows) -> NDArray[np.int64]:
    """Count the terms that pairs of rows share; padding does not count."""
    check(len(terms), a, b)
    counts = np.empty(a.size, np.int64)
    call("ibidem_shared_values", terms, terms.shape[1], a, b, a.size, NO_TERM, counts)
    return counts


def same_fingerprint(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.same_fingerprint` for many pairs."""
    columns, rule = pairs.columns, policy.fingerprint
    if rule is None:
        return np.zeros(len(pairs.a), bool)
    mask = np.zeros(len(pairs.a), bool)
    selection = np.flatnonzero(pairs.shares(columns.fingerprint))
    subset = pairs.take(selection)
    agrees = subset.shares(columns.idf) & subset.has_equal(columns.numbers)
    for rows in (subset.a, subset.b):
        agrees &= ((columns.flags[rows] & WEAK) == 0) & (columns.length[rows] >= rule.shortest)
    agrees &= (columns.number_sketch[subset.a] == columns.number_sketch[subset.b]).all(axis=1)
    mask[selection] = agrees & (subset.lengths >= rule.lengths)
    return mask


def same_profile(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.same_profile` for many pairs."""
    profiles = pairs.columns.profile
    if policy.profile is None:
        return np.zeros(len(pairs.a), bool)
    equal: Bools = pairs.shares(profiles) & (pairs.lengths >= policy.profile)
    selection = np.flatnonzero(equal)
    equal[selection] = pairs.take(selection).numbers_agree()
    return equal


def similar_characters(pairs: Pairs, policy: Policy) -> Bools:
    """Return which pairs share enough characters: `pair_evidence.similar_characters` for many pairs."""
    mask = np.zeros(len(pairs.a), bool)
    rule = policy.characters
    if rule is None:
        return mask
    run = pairs.columns.noise[:, noise.SLOTS]
    may = pairs.shares(run) & (pairs.shares(pairs.columns.idf) | (run[pairs.a] == noise.DENSE_RUN))
    may &= (run[pairs.a] < noise.POOR_TABLE) | rule.few
    blocks = pairs.columns.noise
    of_a, of_b = (is_noisy(blocks[rows], rule.misread, rule.misread_dense) for rows in (pairs.a, pairs.b))
    selection = np.flatnonzero(may & (of_a | of_b))
    selection = selection[pairs.take(selection).lengths >= rule.lengths]
    equal, slot_pairs, band = equal_runs(blocks, pairs.a[selection], pairs.b[selection])
    share = ESTIMATES[equal]
    positions = np.flatnonzero((share >= rule.least_share) & band & (slot_pairs >= rule.pairs))
    if rule.numbers:
        positions = positions[~pairs.take(selection[positions]).forms_differ()]
    selection, share = selection[positions], share[positions]
    subset = pairs.take(selection)
    a, b = NoiseFigures.read(pairs.columns, subset.a), NoiseFigures.read(pairs.columns, subset.b)
    runs, terms = estimate_difference(share, a.runs, b.runs), differing_terms(a, b)
    words = np.maximum(1.0, runs / runs_of_a_term(run[subset.a]))
    least_unknown = rule.unknown * np.where(run[subset.a] == noise.DENSE_RUN, noise.UNKNOWN_BIGRAMS, 1.0)
    least_unknown *= np.where(share < rule.share, DISTANT_UNKNOWN, 1.0)
    min_unknown = least_unknown + rule.numbers * (subset.numbers_differing / words)
    lift = np.where(run[subset.a] == noise.DENSE_RUN, 0.0, rule.lift)
    often = terms * (a.runs + b.runs) >= lift * runs * (a.unknown + b.unknown)
    mask[selection] = (terms / words >= min_unknown) & often
    return mask


def contained_shingles(pairs: Pairs, policy: Policy) -> Bools:
    """`pair_evidence.contained_shingles` for many pairs."""
    columns, rule = pairs.columns, policy.contained
    mask = np.zeros(len(pairs.a), bool)
    if rule is None:
        return mask
    may = (columns.slot_count > 0) & (columns.length >= rule.shortest)
    is_long: Bools = (columns.flags & LONG) > 0
    selection = np.flatnonzero(may[pairs.a] & may[pairs.b] & ~(is_long[pairs.a] & is_long[pairs.b]))
    a, b = pairs.a[selection], pairs.b[selection]
    equal = (columns.slots[a] == columns.slots[b]).sum(axis=1)
    similarity, sizes = SIMILARITIES[equal], (columns.shingles[a], columns.shingles[b])
    # `minhash.containment` of many pairs
    share = similarity * (sizes[0] + sizes[1]) / ((1 + similarity) * np.maximum(1, np.minimum(*sizes)))
    mask[selection] = np.where(equal < MIN_FOR_CONTAINMENT, 0.0, np.minimum(1.0, share)) >= rule.share
    return mask


def may_relate(pairs: Pairs) -> Bools:
    """`pair_evidence.may_relate` for many pairs."""
    columns = pairs.columns
    is_long: Bools = (columns.flags & LONG) > 0
    may = is_long | may_be_page(columns)
    result: Bools = may[pairs.a] & may[pairs.b] & (is_long[pairs.a] | is_long[pairs.b])
    return result


def may_be_page(columns: PackedColumns) -> Bools:
    """`pair_evidence.may_be_page` for many texts."""
    may: Bools = ((columns.flags & LONG) == 0) & (columns.length >= PAGE_TOKENS) & (columns.profile != 0)
    return may


Rule = Callable[[Pairs, Policy], Bools]  # returns which pairs of rows are duplicates by one kind of evidence

# The share of shingles that two texts have in common, by equal slots.
SIMILARITIES = np.array([correct_for_chance(equal / SLOTS) for equal in range(SLOTS + 1)])

# The share of runs that two texts have in common, by equal slots.
ESTIMATES = np.array([noise.estimate(equal) for equal in range(noise.SLOTS + 1)])

RUNS = np.array([2 ** (code / 8) for code in range(256)])  # the number of runs, by its code


def equal_runs(blocks: Codes, a: Rows, b: Rows) -> tuple[Rows, Rows, Bools]:
    """Return for pairs of noise blocks the numbers of equal slots and of slots, and whether a band is equal."""
    check(len(blocks), a, b)
    (equal, slot_pairs), band = np.empty((2, a.size), np.int64), np.empty(a.size, bool)
    columns = (blocks, blocks.shape[1], a, b, a.size, *noise.SLOT_OFFSETS)
    call("ibidem_equal_runs", *columns, equal, slot_pairs, band)
    return equal, slot_pairs, band


def runs_of_a_term(run: Codes) -> Figures:
    """`noise.Noise.runs_of_a_term` for many blocks."""
    return np.where(run == noise.DENSE_RUN, noise.RUNS_OF_A_BIGRAM, noise.RUNS_OF_A_WORD)


def is_noisy(block: Codes, share: float, dense: float) -> Bools:
    """Return which blocks are noisy: `noise.Noise.is_noisy` for many blocks."""
    run, runs, unknown = (block.view(noise.COLUMNS)[name][:, 0] for name in ("run", "runs", "unknown"))
    least = np.where(run == noise.DENSE_RUN, dense, share)
    noisy: Bools = (run > 0) & (unknown * runs_of_a_term(run) >= least * RUNS[runs])
    return noisy


@dataclass(frozen=True, eq=False, slots=True)
class NoiseFigures:
    """Figures of noise blocks without the slots of the character runs, as `noise.read` parses one."""

    runs: Figures  # (n,) about how many runs
    unknown: Figures  # (n,) terms that are in no idf table
    terms: Codes  # (n, 8) slots of these

    @classmethod
    def read(cls, columns: PackedColumns, rows: Rows) -> "NoiseFigures":
        block = columns.noise[rows].view(noise.COLUMNS)[:, 0]
        return cls(RUNS[block["runs"]], block["unknown"].astype(np.float64), block["terms"])


def differing_terms(a: NoiseFigures, b: NoiseFigures) -> Figures:
    """`noise.estimate_unknown` for many pairs."""
    equal = (a.terms == b.terms).sum(axis=1)
    share = np.maximum(0.0, equal / noise.OF_TERMS - noise.CHANCE)
    return estimate_difference(np.where((a.unknown > 0) & (b.unknown > 0), share, 0.0), a.unknown, b.unknown)
