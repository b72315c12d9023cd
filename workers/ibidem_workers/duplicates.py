"""Which of the documents just written had a duplicate in the index already."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ibidem_engines.engine import Clue, Engine, Found, Hit, Outcome, Record, Search
from ibidem_ingest.decision import Policy, decide
from ibidem_ingest.signatures.clues import bands
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.signatures.signature import Signatures
from ibidem_workers.account import Duplicate

MOST_HITS = 50
"""Of one field; a form that so many share needs no more of them to be known as one."""

LOOKED_UP: tuple[Clue, ...] = ("content", "bands", "fingerprint", "profile")
"""Rare terms are left out: too dear to look up for every document of a load."""

HASH = len("fp1:") + 16
"""Characters of a fingerprint or profile that are looked up."""


class Written(NamedTuple):
    """A record that was written, with what the engine said of it."""

    record: Record
    outcome: Outcome

    @property
    def id(self) -> str:
        """The document's id."""
        return self.record.document.id


def duplicates(engine: Engine, written: Sequence[Written], policy: Policy) -> list[Duplicate]:
    """Look up documents that were just written and name an earlier duplicate of each, the most alike level first.

    Of two duplicates that were written at the same time by two workers, each sees the other, and the one with the
    larger `order` counts. A text that stands twice in the batch is looked up once.

    Args:
        engine: Where they were written, refreshed.
        written: Records with words, and their outcomes.
        policy: What counts as a duplicate.
    """
    within, others = _within(written, policy)
    found = engine.find([_search(one) for one in others])
    known: dict[tuple[str, str, int], Packed | None] = {}
    earlier = (_earlier(one, answer, policy, known) for one, answer in zip(others, found, strict=True) if answer.hits)
    return within + [duplicate for duplicate in earlier if duplicate is not None]


def _within(written: Sequence[Written], policy: Policy) -> tuple[list[Duplicate], list[Written]]:
    """Part the documents that are identical to an earlier one of their own batch from the others."""
    first: dict[str, Written] = {}
    within, others = [], []
    for one in sorted(written, key=lambda one: one.outcome.order):
        other = first.setdefault(one.record.signatures.content, one)
        if other is not one and one.outcome.order and _identical(one.record, other.record, policy):
            within.append(Duplicate(one.id, other.id, "identical"))
        else:
            others.append(one)
    return within, others


def _identical(one: Record, other: Record, policy: Policy) -> bool:
    a, b = unpack(one.packed), unpack(other.packed)
    return a is not None and b is not None and decide(a, b, policy.at("identical")) is not None


def _search(one: Written) -> Search:
    # What an earlier try wrote has no order in this outcome: it is read from the document's own hit.
    return Search(values(one.record.signatures), limit=MOST_HITS, own=one.id if one.outcome.order else "")


def values(signatures: Signatures) -> dict[Clue, list[str]]:
    """Return a document's clues of the kinds that are looked up."""
    found: dict[Clue, list[str]] = {"content": [signatures.content], "bands": bands(signatures.slots)}
    if signatures.fingerprint and not signatures.weak:
        found["fingerprint"] = [signatures.fingerprint[:HASH]]
    if signatures.profile:
        found["profile"] = [signatures.profile[:HASH]]
    return found


def _earlier(
    one: Written, answer: Found, policy: Policy, known: dict[tuple[str, str, int], Packed | None]
) -> Duplicate | None:
    packed = unpack(one.record.packed)
    own = one.outcome.order or next((hit.order for hit in answer.hits if hit.id == one.id), 0)
    best: Duplicate | None = None
    for hit in answer.hits:
        other = _unpacked(hit, known) if hit.order < own else None
        evidence = decide(packed, other, policy) if packed and other else None
        if evidence is not None and (best is None or evidence.level == "identical"):
            best = Duplicate(one.id, hit.id, evidence.level)
        if best is not None and best.level == "identical":
            break
    return best


def _unpacked(hit: Hit, known: dict[tuple[str, str, int], Packed | None]) -> Packed | None:
    key = hit.index, hit.id, hit.order
    if key not in known:
        known[key] = unpack(hit.packed) if hit.packed is not None else None
    return known[key]


def by_level(found: Sequence[Duplicate]) -> Mapping[str, int]:
    """Count duplicates by level.

    >>> by_level([Duplicate("b", "a", "near")])
    {'identical': 0, 'near': 1}
    """
    return {level: sum(one.level == level for one in found) for level in ("identical", "near")}
