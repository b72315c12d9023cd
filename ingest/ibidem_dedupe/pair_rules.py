"""The decision for many pairs at once: `ibidem_dedupe.decision.decide` over columns, with the same results.

A test proves the two equal. What a pair's evidence says in detail is left to `decide`, asked for what is shown.
"""

from functools import cache

import numpy as np

from ibidem_dedupe import evidence, pair_evidence
from ibidem_dedupe.column_rules import (
    Bools,
    Codes,
    Pairs,
    Rows,
    are_long,
    is_in_window,
    may_match,
    needed_by_size,
    titles_agree,
)
from ibidem_dedupe.decision import decide
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.noise_columns import ESTIMATES, is_noisy
from ibidem_ingest.signatures.packed_columns import PackedColumns

UNDECIDED = 255  # the code of a pair of long texts that only their long signatures can decide on

SLICE = 8_192  # pairs decided on at once: their columns stay in the processor's cache


def verify(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Codes:
    """Decide on many pairs."""
    if loops.IN_USE is None:
        return verify_one_by_one(columns, a, b, policy)
    codes = np.zeros(len(a), np.uint8)
    open_pairs = np.flatnonzero(screen(columns, a, b, policy.candidates))
    for start in range(0, len(open_pairs), SLICE):
        part = open_pairs[start : start + SLICE]
        codes[part] = strongest(Pairs(columns, a[part], b[part]), policy)
    return codes


def verify_one_by_one(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Codes:
    """Decide on many pairs by the definition for one."""
    unpack = cache(lambda row: columns.unpack_row(row) if columns.length[row] else None)
    codes = np.zeros(len(a), np.uint8)
    for place, (row, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        one, another = unpack(row), unpack(other)
        if one is None or another is None:
            continue
        if found := decide(one, another, policy):
            codes[place] = evidence.TABLE.code(found.signature)
        elif policy.level == "partial" and policy.related is not None and pair_evidence.are_long(one, another):
            codes[place] = UNDECIDED
    return codes


def screen(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Bools:
    """Return which pairs a rule may accept, so that the rules run on few pairs.

    Every pair that a rule accepts passes, and some that none accepts.
    """
    if policy.level == "partial" or not all(kind.screened for kind in evidence.TABLE.counted(policy)):
        return np.ones(len(a), bool)
    terms, characters = policy.terms, policy.characters
    noisy = np.zeros(len(columns), bool)
    if characters:
        noisy = is_noisy(columns.noise, characters.misread, characters.misread_dense)
    arrays = (
        columns.content,
        columns.fingerprint,
        columns.profile,
        columns.idf,
        columns.length,
        columns.slot_count,
        columns.term_count,
        columns.noise,
        noisy,
        columns.slots,
        columns.terms,
        needed_by_size(terms.share if terms else 1.0),
    )
    figures = (
        policy.slots.least + 1 if policy.slots else 0,
        policy.fingerprint is not None,
        policy.profile is not None,
        terms is not None,
        int(np.searchsorted(ESTIMATES, characters.least_share)) + 1 if characters else 0,
        characters.pairs if characters else 0,
        *noise.APART,
    )
    lengths = (terms.lengths if terms else 0.0, characters.lengths if characters else 0.0)
    return loops.compiled().screen(arrays, figures, lengths, (a, b))


def strongest(pairs: Pairs, policy: Policy) -> Codes:
    """Check the levels up to the requested one; a pair keeps the first evidence that it passes."""
    codes = np.zeros(len(pairs.a), np.uint8)
    agree = titles_agree(pairs)
    candidates = np.flatnonzero(may_match(pairs) & (agree | (policy.learned is not None)))
    for level in LEVELS[: LEVELS.index(policy.level) + 1]:
        if level != "identical":
            candidates = candidates[is_in_window(pairs.take(candidates), policy.window_days)]
        for kind in evidence.TABLE.at(level):
            if kind.verify and len(candidates):
                mask = kind.verify(pairs.take(candidates), policy) & (agree[candidates] | kind.weighs_titles)
                codes[candidates[mask]] = evidence.TABLE.code(kind.name)
                candidates = candidates[~mask]
    if policy.level == "partial" and policy.related is not None:
        candidates = candidates[agree[candidates]]
        codes[candidates[are_long(pairs.take(candidates))]] = UNDECIDED
    return codes
