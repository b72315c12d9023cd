"""Learned evidence: candidates whose weighted figures add up, for one pair and over columns."""

import numpy as np

from ibidem_dedupe import column_rules, pair_evidence
from ibidem_dedupe.column_rules import Bools, Figures, Pairs
from ibidem_dedupe.learned import Learned, probability
from ibidem_dedupe.pair_evidence import Evidence, Guards, build_evidence
from ibidem_dedupe.pair_figures import measure, measure_columns
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import Packed

# Evidence that makes a pair a candidate, by the figures of `Policy.candidates`: an index finds no others.
CANDIDATES: tuple[pair_evidence.Rule, ...] = (
    pair_evidence.similar_shingles,
    pair_evidence.shared_terms,
    pair_evidence.same_fingerprint,
    pair_evidence.similar_characters,
)

CANDIDATE_COLUMNS: tuple[column_rules.Rule, ...] = (
    column_rules.similar_shingles,
    column_rules.shared_terms,
    column_rules.same_fingerprint,
    column_rules.similar_characters,
)


def likely_duplicates(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by a learned rule: the sum of the weighted figures is not negative."""
    rule, loose = policy.learned, policy.candidates
    if rule is None or not any(find(a, b, loose, guards) for find in CANDIDATES):
        return None
    figures = measure(a, b)
    total = rule.total(figures)
    if total < 0:
        return None
    parts = {part: round(share, 2) for part, share in rule.parts(figures).items()}
    sums: dict[str, object] = {"sum": round(total, 2), "start": round(rule.intercept, 2), "parts": parts}
    return build_evidence("near", "learned", probability(total), sums, guards)


def likely_duplicates_columns(pairs: Pairs, policy: Policy) -> Bools:
    """`likely_duplicates` for many pairs."""
    mask = np.zeros(len(pairs.a), bool)
    rule = policy.learned
    if rule is None:
        return mask
    selection = np.flatnonzero(is_candidate(pairs, policy.candidates))
    mask[selection] = add_up(rule, measure_columns(pairs.take(selection))) >= 0
    return mask


def is_candidate(pairs: Pairs, loose_policy: Policy) -> Bools:
    """Return which pairs share enough to be scored by the learned rule."""
    mask = np.zeros(len(pairs.a), bool)
    for find in CANDIDATE_COLUMNS:
        left = np.flatnonzero(~mask)
        mask[left] = find(pairs.take(left), loose_policy)
    return mask


def add_up(rule: Learned, figures: Figures) -> Figures:
    """Compute `Learned.total` for many pairs, adding in the same order, since a matrix product rounds differently."""
    totals = np.full(len(figures), rule.intercept)
    for column, each in enumerate(rule.weights):
        totals += each.weight * (figures[:, column] - each.centre)
    return totals
