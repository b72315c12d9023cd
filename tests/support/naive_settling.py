"""Stored groups in the plainest way: each document is compared with every lead before it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_workers.groups.settle import Row

# Gives the level at which two documents are duplicates; an empty string when they are not.
Judge = Callable[[Row, Row], str]


def judge(policy: Policy, overrides: Sequence[Override] = ()) -> Judge:
    """Decide on pairs: by manual decisions on texts that have not changed, else by signatures that an index finds."""
    indexed = replace(policy, indexed=True)

    def level(row: Row, lead: Row) -> str:
        a, b = unpack(row.value), unpack(lead.value)
        values = {row.name: a, lead.name: b}
        words = [one for one in overrides if {one.a, one.b} == set(values)]
        verdict = words[-1].verdict if words and follows(words[-1], values) else ""
        if verdict == "not":
            return ""
        evidence = decide(a, b, indexed) if a and b else None
        return evidence.level if evidence else policy.level if verdict == "same" else ""

    return level


def follows(word: Override, values: dict[tuple[str, str], Packed | None]) -> bool:
    """Whether the texts are those that the reader saw, as far as that can be known."""
    contents = {word.a: word.content_a, word.b: word.content_b}
    signed = ((packed, contents[name]) for name, packed in values.items() if packed)
    return all(not seen.startswith(f"ch{packed.scheme}:") or seen == content_key(packed) for packed, seen in signed)


def plain(rows: Sequence[Row], judged: Judge) -> dict[str, str]:
    """Take row after row; gives the lead of each by id."""
    return {name[1]: lead[1] for name, lead in leads(rows, judged).items()}


def leads(rows: Sequence[Row], judged: Judge) -> dict[DocumentRef, DocumentRef]:
    """Take row after row; gives the lead of each by index and id."""
    before: list[Row] = []
    groups: dict[DocumentRef, DocumentRef] = {}
    for row in rows:
        lead = next((lead for lead in before if judged(row, lead)), None)
        if lead is None:
            before.append(row)
        groups[row.name] = lead.name if lead else row.name
    return groups
