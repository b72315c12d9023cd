"""Count the documents of a batch that already had a duplicate in the index."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ibidem_engines.engine import Engine, Hit, Outcome, Record, SignatureLookup
from ibidem_ingest.pairs.decision import Policy, decide
from ibidem_ingest.signatures.lookup_keys import LookupField, bands
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_ingest.signatures.schema import Signatures
from ibidem_workers.results import Duplicate

MOST_HITS = 50
"""Of one field; a form that so many share needs no more of them to be known as one."""

HASH = len("fp1:") + 16
"""Characters of a fingerprint that are looked up."""


class Written(NamedTuple):
    """A record that was written, with what the engine said of it."""

    record: Record
    outcome: Outcome

    @property
    def id(self) -> str:
        """The document's id."""
        return self.record.document.id


Judge = Callable[[bytes, bytes], str]
"""Tells the level of two packed values, or an empty string."""


def duplicates(engine: Engine, written: Sequence[Written], policy: Policy, *, guarded: bool = False) -> list[Duplicate]:
    """Look up documents that were just written and name an earlier duplicate of each, the most alike level first.

    Of two duplicates that were written at the same time by two workers, each sees the other, and the one with the
    larger `order` counts. How many are near therefore depends on the order of writing: where one text is near to two
    that are not near to each other, both count when it came first, and it alone when it came last.

    A text that stands twice in the batch is looked up once, and one that is identical to another is looked up under its
    content alone: the look-ups are what this costs.

    Args:
        engine: Where they were written, refreshed.
        written: Records with words, and their outcomes.
        policy: What counts as a duplicate.
        guarded: Whether there are fields that must not differ; without any, equal content is identity.
    """
    judge = _Judge(policy)
    by_content = _Judge(policy.at("identical")) if guarded else _identical
    found, others = _within(written, by_content)
    for values, its_judge in ((same, by_content), (alike, judge)):
        answers = engine.find([_search(one, values(one.record.signatures)) for one in others])
        named = [_earlier(one, answer.hits, its_judge) for one, answer in zip(others, answers, strict=True)]
        found += [duplicate for duplicate in named if duplicate is not None]
        others = [one for one, duplicate in zip(others, named, strict=True) if duplicate is None]
    return found


class _Judge:
    """Decides under a policy on packed values, each of which is read once."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._read: dict[bytes, Packed | None] = {}

    def __call__(self, one: bytes, other: bytes) -> str:
        a, b = self._unpacked(one), self._unpacked(other)
        evidence = decide(a, b, self._policy) if a is not None and b is not None else None
        return evidence.level if evidence is not None else ""

    def _unpacked(self, value: bytes) -> Packed | None:
        if value not in self._read:
            self._read[value] = unpack(value)
        return self._read[value]


def _identical(_: bytes, __: bytes) -> str:
    """What `decide` says of two documents with words that were found by equal content."""
    return "identical"


def _within(written: Sequence[Written], judge: Judge) -> tuple[list[Duplicate], list[Written]]:
    """Part the documents that are identical to an earlier one of their own batch from the others."""
    first: dict[str, Written] = {}
    within, others = [], []
    for one in sorted(written, key=lambda one: one.outcome.order):
        other = first.setdefault(one.record.signatures.content, one)
        if other is not one and one.outcome.order and judge(one.record.packed, other.record.packed):
            within.append(Duplicate(one.id, other.id, "identical"))
        else:
            others.append(one)
    return within, others


def _search(one: Written, values: Mapping[LookupField, Sequence[str]]) -> SignatureLookup:
    # What an earlier try wrote has no order in this outcome: it is read from the document's own hit.
    return SignatureLookup(values, limit=MOST_HITS, own=one.id if one.outcome.order else "")


def same(signatures: Signatures) -> dict[LookupField, list[str]]:
    """Return the clue under which identical documents are found."""
    return {"content": [signatures.content]}


def alike(signatures: Signatures) -> dict[LookupField, list[str]]:
    """Return the clues under which near ones are found, but for rare terms, too dear for every document of a load."""
    found: dict[LookupField, list[str]] = {"bands": bands(signatures.slots)}
    if signatures.fingerprint and not signatures.weak:
        found["fingerprint"] = [signatures.fingerprint[:HASH]]
    return found


def _earlier(one: Written, hits: Sequence[Hit], judge: Judge) -> Duplicate | None:
    """Name the first of the hits that is an earlier duplicate."""
    own = one.outcome.order or next((hit.order for hit in hits if hit.id == one.id), 0)
    for hit in hits:
        if hit.packed is not None and hit.order < own and (level := judge(one.record.packed, hit.packed)):
            return Duplicate(one.id, hit.id, level)
    return None
