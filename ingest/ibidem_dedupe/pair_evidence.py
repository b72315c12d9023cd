"""Evidence of a pair: each kind by a rule over two packed values, with the figures that an answer shows.

Which kinds count, in which order, is the table of `evidence`; the decision is `pairs.decide`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ibidem_dedupe.policy import DISTANT_UNKNOWN, Level, Policy, Terms, min_shared_terms
from ibidem_dedupe.relations import relate
from ibidem_ingest.signatures import minhash, noise
from ibidem_ingest.signatures.long_text import PAGE_TOKENS, LongSignatures, as_page
from ibidem_ingest.signatures.numbers import Numbers, agree, differing_numbers, forms_differ
from ibidem_ingest.signatures.packed import FULL, LONG, NO_DATE, TITLED, WEAK, Packed


@dataclass(frozen=True, slots=True)
class Evidence:
    level: Level  # the strongest level that the pair reaches
    # `content`, `minhash`, `termvector`, `fingerprint`, `profile`, `characters`, or at `partial` `shingles`, `pages`,
    # `chunks` or `words`.
    signature: str
    score: float  # 0 to 1; 1.0 for equal hashes
    why: Mapping[str, object]  # the signature, its figures and the values of the guards, as an answer shows them


# What may differ of two texts whose words are equal.
Beside = Literal["signs", "title", "sender", "mail"]


@dataclass(frozen=True, slots=True)
class Guards:
    """The values that may contradict a pair: dates, numbers, lengths."""

    days_apart: int | None  # days between the two date intervals, 0 if they overlap; None when a date is missing
    length_ratio: float  # length of the shorter text by that of the longer, in tokens
    numbers_agree: bool  # whether the numbers agree (signatures.md 3b)
    differs: Beside | None = None  # what differs beside equal words

    @classmethod
    def compare(cls, a: Packed, b: Packed) -> "Guards":
        return cls(
            days_apart=days_apart(a, b),
            length_ratio=min(a.length, b.length) / max(a.length, b.length),
            numbers_agree=agree(unpack_numbers(a), unpack_numbers(b)),
            differs=difference_beside_words(a, b),
        )


def difference_beside_words(a: Packed, b: Packed) -> Beside | None:
    """Return what differs of two texts with the same words: signs, the title of a short text, or which mail it is."""
    if not a.words or a.content == b.content or (a.length, a.shingles, a.words) != (b.length, b.shingles, b.words):
        return None
    if a.signs != b.signs:
        return "signs"
    if (a.flags | b.flags) & TITLED and (a.flags ^ b.flags or a.title != b.title):
        return "title"
    return "sender" if a.source != b.source else "mail"


def days_apart(a: Packed, b: Packed) -> int | None:
    """Return the days between two date intervals, 0 if they overlap; None if one is missing."""
    if NO_DATE in (a.date_from, a.date_to, b.date_from, b.date_to):
        return None
    return max(0, a.date_from - b.date_to, b.date_from - a.date_to)


def unpack_numbers(packed: Packed) -> Numbers:
    """Return the count and sketch of a document's numbers."""
    return Numbers(packed.numbers, packed.number_sketch)


def titles_differ(a: Packed, b: Packed) -> bool:
    """Return whether the titles of two short texts differ; a missing title passes."""
    return bool(a.flags & b.flags & TITLED) and a.title != b.title


def same_table(a: Packed, b: Packed) -> bool:
    """Return whether two documents were signed with the same idf table; else these signatures do not compare."""
    return any(a.idf) and a.idf == b.idf


def same_content(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Identical: the same words and figures in the same order."""
    del policy
    return build_evidence("identical", "content", 1.0, {}, guards) if equal_content(a, b) else None


def equal_content(a: Packed, b: Packed) -> bool:
    """Return whether two content hashes are equal and have the same scheme."""
    return a.scheme == b.scheme and a.content == b.content


def similar_shingles(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by min-hash: a shared band and enough equal slots; numbers are not a guard, since shingles contain them."""
    if policy.slots is None or not a.slots or len(a.slots) != len(b.slots):
        return None
    equal = minhash.equal_slots(a.slots, b.slots)
    if equal < policy.slots.needed(min(a.length, b.length)):
        return None
    if not minhash.shares_band(a.slots, b.slots, policy.band_rows):
        return None
    share = equal / len(a.slots)
    figures = {"shared": equal, "of": len(a.slots), "estimate": round(minhash.correct_for_chance(share), 3)}
    return build_evidence("near", "minhash", share, figures, guards)


def shared_terms(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by feature sets: enough of the smaller set's rarest terms are shared, and no guard contradicts."""
    rule = policy.terms
    if rule is None or not same_table(a, b) or not (eligible(a, rule) and eligible(b, rule)):
        return None
    if guards.length_ratio < rule.lengths:
        return None
    if rule.numbers and (not guards.numbers_agree or are_different_forms(a, b)):
        return None
    count, least_size = len(set(a.terms) & set(b.terms)), min(len(a.terms), len(b.terms))
    if count < min_shared_terms(rule.share, least_size):
        return None
    return build_evidence("near", "termvector", count / least_size, {"shared": count, "of": least_size}, guards)


def are_different_forms(a: Packed, b: Packed) -> bool:
    """Return whether both texts are forms, such as receipts, whose numbers differ."""
    return forms_differ(unpack_numbers(a), unpack_numbers(b), (a.length, b.length))


def eligible(packed: Packed, rule: Terms) -> bool:
    """Return whether a document's feature set can be compared at all."""
    return len(packed.terms) >= max(1, rule.smallest) and (bool(packed.flags & FULL) or not rule.full)


def same_fingerprint(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by fingerprint: equal and not weak, long enough, almost equal lengths, and equal numbers."""
    rule = policy.fingerprint
    if rule is None or (a.flags | b.flags) & WEAK or not same_table(a, b):
        return None
    if not any(a.fingerprint) or a.fingerprint != b.fingerprint or min(a.length, b.length) < rule.shortest:
        return None
    if guards.length_ratio < rule.lengths or unpack_numbers(a) != unpack_numbers(b):
        return None
    return build_evidence("near", "fingerprint", 1.0, {}, guards)


def same_profile(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by text profile: equal, similar lengths, and numbers that agree."""
    if policy.profile is None or not any(a.profile) or a.profile != b.profile:
        return None
    if guards.length_ratio < policy.profile or not guards.numbers_agree:
        return None
    return build_evidence("near", "profile", 1.0, {}, guards)


def similar_characters(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near by characters: enough runs of characters are shared, and the differing words look misread."""
    rule = policy.characters
    if rule is None or guards.length_ratio < rule.lengths or (rule.numbers and are_different_forms(a, b)):
        return None
    noise_a, noise_b = noise.read(a.noise), noise.read(b.noise)
    is_noisy = any(each.is_noisy(rule.misread, rule.misread_dense) for each in (noise_a, noise_b))
    comparable = noise_a.run == noise_b.run > 0 and is_noisy
    if not comparable or (noise_a.run >= noise.POOR_TABLE and not rule.few):
        return None
    if not (noise_a.dense or same_table(a, b)):
        return None
    equal = minhash.equal_slots(noise_a.slots, noise_b.slots)
    share = noise.estimate(equal)
    if share < rule.least_share or not noise.shares_keys(noise_a.slots, noise_b.slots, rule.pairs):
        return None
    runs, terms = noise.estimate_difference(share, noise_a.runs, noise_b.runs), noise.estimate_unknown(noise_a, noise_b)
    words = max(1.0, runs / noise_a.runs_of_a_term)
    least_unknown = rule.unknown * (noise.UNKNOWN_BIGRAMS if noise_a.dense else 1)
    least_unknown *= DISTANT_UNKNOWN if share < rule.share else 1
    minimum = least_unknown + rule.numbers * (differing_numbers(unpack_numbers(a), unpack_numbers(b)) / words)
    unknown = terms / words
    lift = 0.0 if noise_a.dense else rule.lift
    if unknown < minimum or terms * (noise_a.runs + noise_b.runs) < lift * runs * (noise_a.unknown + noise_b.unknown):
        return None
    figures = {"shared": equal, "of": noise.SLOTS, "estimate": round(share, 3), "unknown": round(min(1.0, unknown), 2)}
    return build_evidence("near", "characters", share, figures, guards)


def contained_shingles(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Partial by containment: the larger text has most shingles of the smaller; not if both texts are long."""
    rule = policy.contained
    if rule is None or a.flags & b.flags & LONG or min(a.length, b.length) < rule.shortest:
        return None
    share = minhash.containment(a.slots, b.slots, a.shingles, b.shingles)
    if share < rule.share:
        return None
    is_smaller = (a.shingles, a.content, a.id) < (b.shingles, b.content, b.id)
    figures = {"relation": "part_of" if is_smaller else "contains", "estimate": round(share, 3)}
    return build_evidence("partial", "shingles", share, figures, guards)


def build_evidence(
    level: Level, signature: str, score: float, figures: Mapping[str, object], guards: Guards
) -> Evidence:
    """Build the evidence: signature, its figures, then the guards."""
    why = {
        "signature": signature,
        **figures,
        "days_apart": guards.days_apart,
        "length_ratio": round(guards.length_ratio, 2),
        "numbers_agree": guards.numbers_agree,
        **({"differs": guards.differs} if guards.differs else {}),
    }
    return Evidence(level, signature, round(score, 3), why)


Rule = Callable[[Packed, Packed, Policy, Guards], Evidence | None]

LongPair = tuple[LongSignatures, LongSignatures]

# Relation of a document to another, by which of the two contains the other.
DIRECTED: Mapping[str, str] = {"a": "contains", "b": "part_of"}


def relation_evidence(a: Packed, b: Packed, long_pair: LongPair, policy: Policy, guards: Guards) -> Evidence | None:
    """Partial by a relation of two long texts, named from the first document's side."""
    is_swap = (a.content, a.id) > (b.content, b.id)
    relation = relate(*(long_pair[::-1] if is_swap else long_pair))
    if policy.related is None or relation is None or relation.confidence < policy.related:
        return None
    relation = relation.swap() if is_swap else relation
    figures = {
        "relation": relation.label,
        **({"direction": DIRECTED[relation.contains]} if relation.contains else {}),
        "confidence": round(relation.confidence, 3),
        "parts": long_pair[0].parts,
        "own": {"from": relation.a[0], "to": relation.a[1], "of": len(long_pair[0])},
        "other": {"from": relation.b[0], "to": relation.b[1], "of": len(long_pair[1])},
        # Most pairs have no relation, so whole texts are compared only here.
        "signals": {
            **relation.signals,
            "whole": round(minhash.correct_for_chance(minhash.compare(a.slots, b.slots)), 3),
        },
    }
    return build_evidence("partial", long_pair[0].parts, relation.confidence, figures, guards)


def may_relate(a: Packed, b: Packed) -> bool:
    """Return whether both texts are long enough for a relation, or one is and the other may be a page of it."""
    return bool((a.flags | b.flags) & LONG) and all(each.flags & LONG or may_be_page(each) for each in (a, b))


def may_be_page(text: Packed) -> bool:
    """Return whether a short text may be a page of a long one."""
    return not text.flags & LONG and text.length >= PAGE_TOKENS and any(text.profile)


def page_of(text: Packed) -> LongSignatures | None:
    """Return a short text as a page; None if it says too little."""
    return as_page(text.length, int.from_bytes(text.profile)) if may_be_page(text) else None
