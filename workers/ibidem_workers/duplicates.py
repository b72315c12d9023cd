"""Which of the documents just written had a duplicate in the index already."""

from collections.abc import Mapping, Sequence

from ibidem_engines.engine import Clue, Engine, Found, Hit, Outcome, Search
from ibidem_ingest.decision import Policy, decide
from ibidem_ingest.signatures.clues import clues
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_workers.account import Duplicate

LOOKED_UP: tuple[Clue, ...] = ("content", "fingerprint", "profile", "bands")
"""Rare terms are left out: too dear for every document of a load."""

MOST_HITS = 50
"""Of one field; a form that so many share needs no more of them to be known as one."""


def duplicates(engine: Engine, written: Sequence[tuple[bytes, Outcome]], policy: Policy) -> list[Duplicate]:
    """Look up documents that were just written and name an earlier duplicate of each, the most alike level first.

    Of two duplicates that were written at the same time by two workers, each sees the other, and the one with the
    larger `order` counts. A text that stands twice in the batch is looked up once.

    Args:
        engine: Where they were written, refreshed.
        written: Their packed signatures and outcomes.
        policy: What counts as a duplicate.
    """
    signed = [(packed, outcome) for value, outcome in written if (packed := unpack(value)) is not None]
    within, others = _within(signed, policy)
    found = engine.find([_search(packed, outcome) for packed, outcome in others])
    known: dict[tuple[str, str, int], Packed | None] = {}
    earlier = (_earlier(*one, answer, policy, known) for one, answer in zip(others, found, strict=True))
    return within + [duplicate for duplicate in earlier if duplicate is not None]


def _within(
    signed: Sequence[tuple[Packed, Outcome]], policy: Policy
) -> tuple[list[Duplicate], list[tuple[Packed, Outcome]]]:
    """Part the documents that are identical to an earlier one of their own batch from the others."""
    first: dict[bytes, Packed] = {}
    within, others = [], []
    for packed, outcome in sorted(signed, key=lambda one: one[1].order):
        other = first.setdefault(packed.content, packed)
        if other is not packed and outcome.order and decide(packed, other, policy.at("identical")):
            within.append(Duplicate(packed.id, other.id, "identical"))
        else:
            others.append((packed, outcome))
    return within, others


def _search(packed: Packed, outcome: Outcome) -> Search:
    its_clues = clues(packed)
    values = {clue: its_clues[clue] for clue in LOOKED_UP if clue in its_clues}
    # What an earlier try wrote has no order in this outcome: it is read from the document's own hit.
    return Search(values, limit=MOST_HITS, own=packed.id if outcome.order else "")


def _earlier(
    packed: Packed,
    outcome: Outcome,
    answer: Found,
    policy: Policy,
    known: dict[tuple[str, str, int], Packed | None],
) -> Duplicate | None:
    own = outcome.order or next((hit.order for hit in answer.hits if hit.id == packed.id), 0)
    best: Duplicate | None = None
    for hit in answer.hits:
        if hit.id == packed.id or hit.order >= own:
            continue
        other = _unpacked(hit, known)
        evidence = decide(packed, other, policy) if other is not None else None
        if evidence is not None and (best is None or evidence.level == "identical"):
            best = Duplicate(packed.id, hit.id, evidence.level)
        if best is not None and best.level == "identical":
            break
    return best


def _unpacked(hit: Hit, known: dict[tuple[str, str, int], Packed | None]) -> Packed | None:
    key = hit.index, hit.id, hit.order
    if key not in known:
        known[key] = unpack(hit.packed) if hit.packed is not None else None
    return known[key]


Levels = Mapping[str, int]


def by_level(found: Sequence[Duplicate]) -> Levels:
    """Count duplicates by level.

    >>> by_level([Duplicate("b", "a", "near")])
    {'identical': 0, 'near': 1}
    """
    return {level: sum(one.level == level for one in found) for level in ("identical", "near")}
