"""Learned evidence: candidates whose weighted figures add up, for one pair and over columns."""

from collections.abc import Sequence
from math import exp, frexp, sqrt

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe import column_rules, pair_evidence
from ibidem_dedupe.column_rules import Bools, Figures, NoiseFigures, Pairs, Rows
from ibidem_dedupe.pair_evidence import Evidence, Guards, build_evidence, days_apart, same_table, unpack_numbers
from ibidem_dedupe.policy import FIGURES, Learned, Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import minhash, noise
from ibidem_ingest.signatures.minhash import correct_for_chance
from ibidem_ingest.signatures.numbers import agree, compare, differing_numbers
from ibidem_ingest.signatures.packed import NO_DATE, Packed
from ibidem_ingest.signatures.schema import BANDS

MIN_TERMS = 5  # terms of the smaller set without which sets say nothing

MAX_UNKNOWN, MAX_LIFT = 3.0, 5.0  # limits of two ratios whose denominators may be small

SLICE = 8_192  # pairs whose figures are computed at once: bounds the memory


def logarithm(value: float) -> float:
    """Return a logarithm to base 2, linear between powers of two.

    >>> logarithm(1.0), logarithm(6.0), logarithm(8.0)
    (0.0, 2.5, 3.0)
    """
    mantissa, exponent = frexp(value)
    return exponent - 2 + 2 * mantissa


def changed(share: float) -> float:
    """Return the share of words or characters that changed, given the share of common runs.

    >>> changed(1.0), changed(0.0)
    (0.0, 1.0)
    """
    return 1 - sqrt(sqrt(2 * share / (1 + share)))


def measure(a: Packed, b: Packed) -> list[float]:
    """Return the figures of a pair, in the order of `FIGURES`."""
    shared = correct_for_chance(minhash.compare(a.slots, b.slots))
    return [
        *_runs(a, b, shared),
        *_terms(a, b),
        *_characters(a, b),
        min(a.length, b.length) / max(a.length, b.length),
        logarithm(float(min(a.length, b.length))),
        logarithm(float(max(a.length, b.length))),
        *_numbers(a, b, shared),
        float(any(a.title) and any(b.title)) * (1 if a.title == b.title else -1),
        float(any(a.fingerprint) and a.fingerprint == b.fingerprint),
        float(any(a.profile) and a.profile == b.profile),
        *((0.0, 0.0) if (days := days_apart(a, b)) is None else (logarithm(1.0 + days), 1.0)),
        float(any(a.source) and a.source == b.source),
    ]


def _runs(a: Packed, b: Packed, shared: float) -> Sequence[float]:
    common = shared * (a.shingles + b.shingles) / (1 + shared)
    equal = sum(a.slots[at : at + 3] == b.slots[at : at + 3] for at in range(0, 3 * BANDS, 3))
    return (
        shared,
        min(1.0, common / min(a.shingles, b.shingles)),
        min(1.0, common / max(a.shingles, b.shingles)),
        equal / BANDS,
        changed(shared),
    )


def _terms(a: Packed, b: Packed) -> Sequence[float]:
    least = min(len(a.terms), len(b.terms))
    if least < MIN_TERMS or not same_table(a, b):
        return 0.0, 0.0
    return len(set(a.terms) & set(b.terms)) / least, 1.0


def _characters(a: Packed, b: Packed) -> Sequence[float]:
    one, other = noise.read(a.noise), noise.read(b.noise)
    if not one.run or one.run != other.run or not same_table(a, b):
        return (0.0,) * 8
    equal = [left == right for left, right in zip(one.slots, other.slots, strict=True)]
    share = noise.estimate(sum(equal))
    two = sum(
        equal[first] and equal[second] for first, second in zip(noise.FIRST_SLOTS, noise.SECOND_SLOTS, strict=True)
    )
    runs, unknown = noise.estimate_difference(share, one.runs, other.runs), noise.estimate_unknown(one, other)
    unknown_terms, size = one.unknown + other.unknown, one.runs + other.runs
    alike = sum(left == right for left, right in zip(one.terms, other.terms, strict=True))
    return (
        share,
        1.0,
        two / len(noise.FIRST_SLOTS),
        changed(share),
        min(MAX_UNKNOWN, unknown / max(1.0, runs / noise.RUNS_OF_A_WORD)),
        min(1.0, unknown_terms * noise.RUNS_OF_A_WORD / size),
        alike / noise.OF_TERMS,
        min(MAX_LIFT, unknown * size / max(1.0, runs * unknown_terms)),
    )


def _numbers(a: Packed, b: Packed, shared: float) -> Sequence[float]:
    one, other = unpack_numbers(a), unpack_numbers(b)
    differing = differing_numbers(one, other)
    return (
        float(agree(one, other)),
        compare(one, other),
        logarithm(1 + differing),
        min(1.0, differing / ((1 - shared) * min(a.length, b.length) + 1)),
        logarithm(1.0 + min(a.numbers, b.numbers)),
    )


_CHANGED = np.array([changed(share) for share in column_rules.SIMILARITIES.tolist()])
_CHANGED_CHARACTERS = np.array([changed(share) for share in column_rules.ESTIMATES.tolist()])


def measure_columns(pairs: Pairs) -> Figures:
    """`measure` for many pairs."""
    if loops.IN_USE is None:
        rows = [
            (pairs.columns.unpack_row(a), pairs.columns.unpack_row(b)) for a, b in zip(pairs.a, pairs.b, strict=True)
        ]
        return np.array([measure(a, b) for a, b in rows if a and b]).reshape(len(rows), len(FIGURES))
    figures = np.zeros((len(pairs.a), len(FIGURES)))
    for start in range(0, len(pairs.a), SLICE):
        part = slice(start, start + SLICE)
        subset = Pairs(pairs.columns, pairs.a[part], pairs.b[part])
        equal = subset.columns.slots[subset.a] == subset.columns.slots[subset.b]
        lengths = subset.columns.length[subset.a], subset.columns.length[subset.b]
        columns = [
            *_run_columns(subset, equal),
            *_term_columns(subset),
            *_character_columns(subset),
            subset.lengths,
            _logarithms(np.minimum(*lengths)),
            _logarithms(np.maximum(*lengths)),
            *_number_columns(subset, column_rules.SIMILARITIES[equal.sum(axis=1)]),
            *_hash_columns(subset),
        ]
        figures[part] = np.stack(columns, axis=1)
    return figures


def _run_columns(pairs: Pairs, equal: NDArray[np.bool_]) -> Sequence[Figures]:
    count = equal.sum(axis=1)
    shared = column_rules.SIMILARITIES[count]
    a, b = pairs.columns.shingles[pairs.a], pairs.columns.shingles[pairs.b]
    common = shared * (a + b) / (1 + shared)
    first, second, third = (equal[:, at : 3 * BANDS : 3] for at in range(3))
    bands = (first & second & third).sum(axis=1)
    contained = [np.minimum(1.0, common / size) for size in (np.minimum(a, b), np.maximum(a, b))]
    return shared, *contained, bands / BANDS, _CHANGED[count]


def _term_columns(pairs: Pairs) -> Sequence[Figures]:
    columns = pairs.columns
    least = np.minimum(columns.term_count[pairs.a], columns.term_count[pairs.b]).astype(np.int64)
    known = pairs.shares(columns.idf) & (least >= MIN_TERMS)
    shared = column_rules.count_shared(columns.terms, pairs.a, pairs.b)
    return np.where(known, shared / np.maximum(1, least), 0.0), known.astype(np.float64)


def _character_columns(pairs: Pairs) -> Sequence[Figures]:
    blocks = pairs.columns.noise
    known = pairs.shares(blocks[:, noise.SLOTS]) & pairs.shares(pairs.columns.idf)
    equal, two, _ = column_rules.equal_runs(blocks, pairs.a, pairs.b)
    a, b = NoiseFigures.read(pairs.columns, pairs.a), NoiseFigures.read(pairs.columns, pairs.b)
    share, unknown_terms, size = column_rules.ESTIMATES[equal], a.unknown + b.unknown, a.runs + b.runs
    runs, unknown = noise.estimate_difference(share, a.runs, b.runs), column_rules.differing_terms(a, b)
    figures = (
        share,
        np.ones(len(share)),
        two / len(noise.FIRST_SLOTS),
        _CHANGED_CHARACTERS[equal],
        np.minimum(MAX_UNKNOWN, unknown / np.maximum(1.0, runs / noise.RUNS_OF_A_WORD)),
        np.minimum(1.0, unknown_terms * noise.RUNS_OF_A_WORD / size),
        (a.terms == b.terms).sum(axis=1) / noise.OF_TERMS,
        np.minimum(MAX_LIFT, unknown * size / np.maximum(1.0, runs * unknown_terms)),
    )
    return [np.where(known, each, 0.0) for each in figures]


def _logarithms(values: NDArray[np.generic]) -> Figures:
    """`logarithm` of many values."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    logarithms: Figures = exponent - 2 + 2 * mantissa
    return logarithms


def _number_columns(pairs: Pairs, runs: Figures) -> Sequence[Figures]:
    columns = pairs.columns
    shortest = np.minimum(columns.length[pairs.a], columns.length[pairs.b])
    fewest: Rows = np.minimum(columns.numbers[pairs.a], columns.numbers[pairs.b]).astype(np.int64)
    differing = pairs.numbers_differing
    return (
        pairs.numbers_agree().astype(np.float64),
        pairs.numbers_shared,
        _logarithms(1 + differing),
        np.minimum(1.0, differing / ((1 - runs) * shortest + 1)),
        _logarithms(1 + fewest),
    )


def _hash_columns(pairs: Pairs) -> Sequence[Figures]:
    """Return the figures of titles, hashes, dates and sources."""
    columns = pairs.columns
    titled = (columns.title[pairs.a] != 0) & (columns.title[pairs.b] != 0)
    gap = np.maximum(
        columns.date_from[pairs.a] - columns.date_to[pairs.b], columns.date_from[pairs.b] - columns.date_to[pairs.a]
    )
    dated = (columns.date_from[pairs.a] != NO_DATE) & (columns.date_from[pairs.b] != NO_DATE)
    return (
        np.where(titled, np.where(pairs.shares(columns.title), 1.0, -1.0), 0.0),
        pairs.shares(columns.fingerprint).astype(np.float64),
        pairs.shares(columns.profile).astype(np.float64),
        np.where(dated, _logarithms(1 + np.maximum(0, gap)), 0.0),
        dated.astype(np.float64),
        pairs.shares(columns.source).astype(np.float64),
    )


# Evidence that makes a pair a candidate, by the figures of `Policy.candidates`: an index finds no others.
CANDIDATES: tuple[tuple[pair_evidence.Rule, column_rules.Rule], ...] = (
    (pair_evidence.similar_shingles, column_rules.similar_shingles),
    (pair_evidence.shared_terms, column_rules.shared_terms),
    (pair_evidence.same_fingerprint, column_rules.same_fingerprint),
    (pair_evidence.similar_characters, column_rules.similar_characters),
)


def likely_duplicates(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by a learned rule: the sum of the weighted figures is not negative."""
    rule, loose = policy.learned, policy.candidates
    if rule is None or not any(find(a, b, loose, guards) for find, _ in CANDIDATES):
        return None
    figures = measure(a, b)
    total = rule.total(figures)
    if total < 0:
        return None
    parts = {part: round(share, 2) for part, share in rule.parts(figures).items()}
    sums: dict[str, object] = {"sum": round(total, 2), "start": round(rule.intercept, 2), "parts": parts}
    return build_evidence("near", "learned", 1 / (1 + exp(-total)), sums, guards)  # the logistic function


def likely_duplicates_columns(pairs: Pairs, policy: Policy) -> Bools:
    """`likely_duplicates` for many pairs."""
    mask = np.zeros(len(pairs.a), bool)
    rule = policy.learned
    if rule is None:
        return mask
    for _, find in CANDIDATES:
        left = np.flatnonzero(~mask)
        mask[left] = find(pairs.take(left), policy.candidates)
    selection = np.flatnonzero(mask)
    mask[selection] = add_up(rule, measure_columns(pairs.take(selection))) >= 0
    return mask


def add_up(rule: Learned, figures: Figures) -> Figures:
    """Compute `Learned.total` for many pairs, adding in the same order, since a matrix product rounds differently."""
    totals = np.full(len(figures), rule.intercept)
    for column, each in enumerate(rule.weights):
        totals += each.weight * (figures[:, column] - each.centre)
    return totals
