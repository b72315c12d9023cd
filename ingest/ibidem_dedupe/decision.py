"""Pair decision: whether two documents are duplicates, from their packed signatures alone.

The tables of `levels.md`, the strongest evidence first:

| level | evidence |
|---|---|
| `identical` | equal content hash |
| `near` | min-hash: enough equal slots and a shared band; or full feature sets that share enough terms; or equal strict fingerprints; or equal profiles; or shared characters where the differing words look misread; each with its guards, all within the date window. Where a policy has a learned rule: its sum, and nothing else |
| `partial` | where both are long, a relation of their pages, chunks or unique words (`relations`); otherwise containment: one text holds most five-word runs of the other, as min-hash estimates |

Feature sets count at lengths within 5 % and the profile not at all, because trials on four real collections
(`benchmarks/quality.py`: on one half the figures were chosen, on the other they held) find no duplicate by the profile
that is not found without it, and mostly other texts by feature sets where the lengths differ more. Nor does a
fingerprint count for fewer than 50 tokens, where its six terms are half of the text.

Texts of fewer than 20 tokens whose titles differ are duplicates at no level (`signatures.content`).

The decision is symmetric, and monotone: `identical` pairs are also `near` and `partial`. It is not transitive.
"""  # noqa: E501 - a row of a table is one line

from dataclasses import replace

from ibidem_dedupe import evidence
from ibidem_dedupe.pair_evidence import (
    Evidence,
    Guards,
    LongPair,
    differ_where_they_must_not,
    relation_evidence,
    titles_differ,
)
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_ingest.signatures.packed import Packed


def decide(a: Packed, b: Packed, policy: Policy, long_pair: LongPair | None = None) -> Evidence | None:
    """Decide whether two documents are duplicates under a policy."""
    if not a.length or not b.length or differ_where_they_must_not(a, b):
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
