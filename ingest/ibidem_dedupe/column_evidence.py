"""Evidence of many pairs at once, with all figures, as `decision.decide` returns it for one pair.

A list of passages may hold hundreds of near copies, and to unpack each of them takes longer than to group all.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe import evidence
from ibidem_dedupe.column_rules import Pairs, Rows
from ibidem_dedupe.decision import decide
from ibidem_dedupe.pair_evidence import Evidence, Guards, minhash_evidence, same_content_evidence
from ibidem_dedupe.pair_rules import verify
from ibidem_dedupe.policy import Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import NO_DATE, TITLED
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.schema import SLOTS

Build = Callable[[int, Guards], Evidence]  # builds the evidence of a pair from its number of equal slots and its guards

# Kinds of evidence whose figures are at hand; the others need the packed values.
BUILD: dict[str, Build] = {
    "content": lambda _, guards: same_content_evidence(guards),
    "minhash": lambda equal, guards: minhash_evidence(equal, SLOTS, guards),
}


def evidence_of_pairs(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Iterator[Evidence | None]:
    """Yield the evidence of each pair; None if the two documents are not duplicates."""
    if loops.IN_USE is None:
        for row, other in zip(map(columns.unpack_row, a.tolist()), map(columns.unpack_row, b.tolist()), strict=True):
            yield decide(row, other, policy) if row and other else None
        return
    names = [evidence.TABLE.name(code) for code in verify(columns, a, b, policy).tolist()]
    equal_slots = (columns.slots[a] == columns.slots[b]).sum(axis=1).tolist()
    for row, other, name, equal, guards in zip(
        a.tolist(), b.tolist(), names, equal_slots, guards_of(Pairs(columns, a, b)), strict=True
    ):
        if name in BUILD:
            yield BUILD[name](equal, guards)
        else:
            values = columns.unpack_row(row), columns.unpack_row(other)
            yield decide(values[0], values[1], policy) if name and values[0] and values[1] else None


def guards_of(pairs: Pairs) -> Iterator[Guards]:
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


def differences(pairs: Pairs) -> NDArray[np.object_]:
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
