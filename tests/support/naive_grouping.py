"""The layer's results in the plainest way: loops over all pairs."""

from collections.abc import Sequence

from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import Packed
from support.windows import SampleWindow


def joins(values: Sequence[Packed | None], row: int, other: int, policy: Policy, constraints: PairConstraints) -> bool:
    pair = (min(row, other), max(row, other))
    if pair in constraints.different:
        return False
    a, b = values[row], values[other]
    return pair in constraints.same or (a is not None and b is not None and decide(a, b, policy) is not None)


def leaders(window: SampleWindow, policy: Policy, constraints: PairConstraints | None = None) -> list[int]:
    """Go down the ranking: a hit joins the first lead that it duplicates, or else becomes a lead."""
    values, leads, lead_of = window.packed, [], []
    for row in range(len(values)):
        lead = next((each for each in leads if joins(values, row, each, policy, constraints or PairConstraints())), row)
        leads += [row] if lead == row else []
        lead_of.append(lead)
    return lead_of
