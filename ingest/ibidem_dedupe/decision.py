"""Pair decision: whether two documents are duplicates, from their packed signatures alone.

The tables of `levels.md`, the strongest evidence first:

| level | evidence |
|---|---|
| `identical` | equal content hash |
| `near` | min-hash: enough equal slots and a shared band; or full feature sets that share enough terms; or equal strict fingerprints; or equal profiles; or shared characters where the differing words look misread; each with its guards, all within the date window. Where a policy has a learned rule: its sum, and nothing else |
| `partial` | where both are long, a relation of their pages, chunks or unique words (`relations`); a text of 150 tokens with the profile of a long one's page; otherwise containment: one text holds most five-word runs of the other, as min-hash estimates |

Feature sets count at lengths within 5 % and the profile not at all, because trials on four real collections
(`benchmarks/quality.py`: on one half the figures were chosen, on the other they held) find no duplicate by the profile
that is not found without it, and mostly other texts by feature sets where the lengths differ more. Nor does a
fingerprint count for fewer than 50 tokens, where its six terms are half of the text.

Texts of fewer than 20 tokens whose titles differ are duplicates at no level (`signatures.content`).

The decision is symmetric, and monotone: `identical` pairs are also `near` and `partial`. It is not transitive.
"""  # noqa: E501 - a row of a table is one line

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe import column_rules, evidence, pair_evidence
from ibidem_dedupe.pair_evidence import (
    Evidence,
    Guards,
    LongPair,
    minhash_evidence,
    relation_evidence,
    required_fields_conflict,
    same_content_evidence,
    titles_differ,
)
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import NO_DATE, TITLED, Packed, PackedColumns
from ibidem_ingest.signatures.schema import SLOTS


def decide(a: Packed, b: Packed, policy: Policy, long_pair: LongPair | None = None) -> Evidence | None:
    """Decide whether two documents are duplicates under a policy."""
    if not a.length or not b.length or required_fields_conflict(a, b):
        return None
    guards = Guards.compare(a, b)
    found = strongest(a, b, policy, guards)
    excluded = titles_differ(a, b) or not guards.are_within(policy.window_days)
    if excluded or long_pair is None or policy.level != "partial":
        return found
    relation = relation_evidence(a, b, long_pair, policy, guards)
    return replace(found, why={**relation.why, **found.why}) if found and relation else found or relation


def strongest(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Check the levels up to the requested one; the first evidence counts."""
    excluded = titles_differ(a, b)
    for level in LEVELS[: LEVELS.index(policy.level) + 1]:
        if level != "identical" and not guards.are_within(policy.window_days):
            return None
        for kind in evidence.TABLE.at(level):
            if excluded and not kind.weighs_titles:
                continue
            if kind.decide and (found := kind.decide(a, b, policy, guards)):
                return found
    return None


UNDECIDED = 255  # the code of a pair of long texts that only their long signatures can decide on

SLICE = 8_192  # pairs decided on at once: their columns stay in the processor's cache


def verify(columns: PackedColumns, a: column_rules.Rows, b: column_rules.Rows, policy: Policy) -> column_rules.Codes:
    """Decide on many pairs."""
    if loops.IN_USE is None:
        return verify_one_by_one(columns, a, b, policy)
    codes = np.zeros(len(a), np.uint8)
    open_pairs = np.flatnonzero(screen(columns, a, b, policy.candidates))
    for start in range(0, len(open_pairs), SLICE):
        part = open_pairs[start : start + SLICE]
        codes[part] = strongest_codes(column_rules.Pairs(columns, a[part], b[part]), policy)
    return codes


def verify_one_by_one(
    columns: PackedColumns, a: column_rules.Rows, b: column_rules.Rows, policy: Policy
) -> column_rules.Codes:
    """Decide on many pairs by the definition for one."""
    unpack = cache(lambda row: columns.unpack_row(row) if columns.length[row] else None)
    codes = np.zeros(len(a), np.uint8)
    for place, (row, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        one, another = unpack(row), unpack(other)
        if one is None or another is None:
            continue
        if found := decide(one, another, policy):
            codes[place] = evidence.TABLE.code(found.signature)
        elif policy.level == "partial" and policy.related is not None and pair_evidence.may_relate(one, another):
            codes[place] = UNDECIDED
    return codes


def screen(columns: PackedColumns, a: column_rules.Rows, b: column_rules.Rows, policy: Policy) -> column_rules.Bools:
    """Return which pairs a rule may accept, so that the rules run on few pairs.

    Every pair that a rule accepts passes, and some that none accepts.
    """
    if policy.level == "partial" or not all(kind.screened for kind in evidence.TABLE.counted(policy)):
        return np.ones(len(a), bool)
    terms, characters = policy.terms, policy.characters
    arrays = (
        columns.content,
        columns.fingerprint,
        columns.profile,
        columns.idf,
        columns.length,
        columns.slot_count,
        columns.term_count,
        columns.noise,
        column_rules.RUNS,
        columns.slots,
        columns.terms,
        column_rules.needed_by_size(terms.share if terms else 1.0),
    )
    figures = (
        policy.slots.least + 1 if policy.slots else 0,
        policy.fingerprint is not None,
        policy.profile is not None,
        terms is not None,
        int(np.searchsorted(column_rules.ESTIMATES, characters.least_share)) + 1 if characters else 0,
        characters.pairs if characters else 0,
        *noise.SLOT_OFFSETS,
    )
    of_characters = (characters.lengths, characters.misread, characters.misread_dense) if characters else (0.0,) * 3
    shares = (terms.lengths if terms else 0.0, *of_characters, noise.RUNS_OF_A_WORD, noise.RUNS_OF_A_BIGRAM)
    return loops.compiled().screen(arrays, figures, shares, (a, b))


def strongest_codes(pairs: column_rules.Pairs, policy: Policy) -> column_rules.Codes:
    """Check the levels up to the requested one; a pair keeps the first evidence that it passes."""
    codes = np.zeros(len(pairs.a), np.uint8)
    titled = (pairs.columns.flags[pairs.a] & pairs.columns.flags[pairs.b] & TITLED) != 0
    agree = ~titled | pairs.has_equal(pairs.columns.title)
    candidates = np.flatnonzero(column_rules.may_match(pairs) & (agree | (policy.learned is not None)))
    for level in LEVELS[: LEVELS.index(policy.level) + 1]:
        if level != "identical":
            candidates = candidates[column_rules.is_in_window(pairs.take(candidates), policy.window_days)]
        for kind in evidence.TABLE.at(level):
            if kind.verify and len(candidates):
                mask = kind.verify(pairs.take(candidates), policy) & (agree[candidates] | kind.weighs_titles)
                codes[candidates[mask]] = evidence.TABLE.code(kind.name)
                candidates = candidates[~mask]
    if policy.level == "partial" and policy.related is not None:
        candidates = candidates[agree[candidates]]
        codes[candidates[column_rules.may_relate(pairs.take(candidates))]] = UNDECIDED
    return codes


Build = Callable[[int, Guards], Evidence]  # builds the evidence of a pair from its number of equal slots and its guards

# Kinds of evidence whose figures are at hand; the others need the packed values.
BUILD: dict[str, Build] = {
    "content": lambda _, guards: same_content_evidence(guards),
    "minhash": lambda equal, guards: minhash_evidence(equal, SLOTS, guards),
}


def evidence_of_pairs(
    columns: PackedColumns, a: column_rules.Rows, b: column_rules.Rows, policy: Policy
) -> Iterator[Evidence | None]:
    """Yield the evidence of each pair; None if the two documents are not duplicates."""
    if loops.IN_USE is None:
        for row, other in zip(map(columns.unpack_row, a.tolist()), map(columns.unpack_row, b.tolist()), strict=True):
            yield decide(row, other, policy) if row and other else None
        return
    names = [evidence.TABLE.name(code) for code in verify(columns, a, b, policy).tolist()]
    equal_slots = (columns.slots[a] == columns.slots[b]).sum(axis=1).tolist()
    for row, other, name, equal, guards in zip(
        a.tolist(), b.tolist(), names, equal_slots, guards_of(column_rules.Pairs(columns, a, b)), strict=True
    ):
        if name in BUILD:
            yield BUILD[name](equal, guards)
        else:
            values = columns.unpack_row(row), columns.unpack_row(other)
            yield decide(values[0], values[1], policy) if name and values[0] and values[1] else None


def guards_of(pairs: column_rules.Pairs) -> Iterator[Guards]:
    """Yield the guards of each pair, as `Guards.compare` returns them."""
    columns, a, b = pairs.columns, pairs.a, pairs.b
    start, end = columns.date_from, columns.date_to
    is_missing = (start == NO_DATE) | (end == NO_DATE)
    days = np.maximum(0, np.maximum(start[a] - end[b], start[b] - end[a]))
    is_equal = (columns.numbers[a] == columns.numbers[b]) & (columns.number_sketch[a] == columns.number_sketch[b]).all(
        axis=1
    )
    parts = (days, is_missing[a] | is_missing[b], pairs.lengths, pairs.numbers_agree, is_equal, differences(pairs))
    for apart, missing, ratio, agree, equal, differs in zip(*(part.tolist() for part in parts), strict=True):
        yield Guards(None if missing else apart, ratio, agree, equal, differs)


def differences(pairs: column_rules.Pairs) -> NDArray[np.object_]:
    """Return `difference_beside_words` of each pair."""
    columns, a, b = pairs.columns, pairs.a, pairs.b
    found = np.full(len(a), None, object)
    same = (columns.words[a] > 0) & (columns.content[a] != columns.content[b]).any(axis=1)
    for name in ("length", "shingles", "words"):
        same &= pairs.has_equal(getattr(columns, name))
    one, other = columns.flags[a], columns.flags[b]
    titled = ((one | other) & TITLED > 0) & ((one != other) | ~pairs.has_equal(columns.title))
    found[same] = "mail"
    found[same & ~pairs.has_equal(columns.source)] = "sender"
    found[same & titled] = "title"
    found[same & ~pairs.has_equal(columns.signs)] = "signs"
    return found
